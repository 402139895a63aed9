// Which sensors are evaluated, by the names of their elements: include/stiction/sensors.def.
#pragma once

#include <optional>
#include <string_view>

#include "stiction/types.h"

namespace stiction::model {

// Type of the element <name>; empty: not evaluated.
std::optional<SensorType> sensor_type(std::string_view name);

// Numbers of a reading; 0: the element's attributes say how many.
int sensor_dim(SensorType type);

}  // namespace stiction::model

// The sensors that are evaluated, by the names of their elements: include/stiction/sensors.def.
#pragma once

#include <optional>
#include <string_view>

#include "stiction/types.h"

namespace stiction::model {

// Returns the type of the element <name>; empty: not evaluated.
std::optional<SensorType> sensor_type(std::string_view name);

// Returns the numbers of a reading; 0: determined by the element's attributes.
int sensor_dim(SensorType type);

}  // namespace stiction::model

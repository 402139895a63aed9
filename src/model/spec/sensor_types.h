// Which sensors are evaluated, by the names of their elements.
#pragma once

#include <optional>
#include <string_view>

#include "stiction/types.h"

namespace stiction::model {

// Type of the element <name>; empty: not evaluated.
std::optional<SensorType> sensor_type(std::string_view name);

}  // namespace stiction::model

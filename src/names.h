// Suggestions for mistyped names.
#pragma once

#include <string>
#include <vector>

namespace stiction {

// Returns "; nearest: 'a', 'b', 'c'", at most three; "" if no name is given.
std::string nearest_names(const std::vector<std::string>& names, const std::string& wanted);

}  // namespace stiction

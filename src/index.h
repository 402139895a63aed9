// Index of a std::vector or std::span from the int of a model.
#pragma once

#include <cstddef>

namespace stiction {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace stiction

// Features that a build with STICTION_QUICK lacks.
#pragma once

#include <string>

#include "stiction/error.h"

namespace stiction {

[[noreturn]] inline void not_in_quick_build(const std::string& what) {
  throw ArgumentError(what +
                      ": this build has only what a first run needs; build the rest with "
                      "./dev setup, or CMake's STICTION_QUICK=OFF");
}

}  // namespace stiction

// In the place of jacobian.cpp where the stages are compiled in doubles alone (STICTION_QUICK).
#include "reference/step/jacobian.h"
#include "stiction/error.h"

namespace stiction::reference {

void differentiate(const Model&, const Options&, std::span<const double>, std::span<const double>,
                   const Inputs&, StepJacobian&) {
  throw ArgumentError(
      "step_jacobian: this build has only what a first run needs; build the rest with ./dev setup, "
      "or "
      "CMake's STICTION_QUICK=OFF");
}

}  // namespace stiction::reference

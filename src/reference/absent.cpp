// In the place of the rest where only what a first run needs is built (STICTION_QUICK).
#include "stiction/error.h"
#include "stiction/reference.h"

namespace stiction {
namespace {

[[noreturn]] void absent(const char* what) {
  throw ArgumentError(
      std::string("Reference.") + what +
      ": this build has only what a first run needs; build the rest with ./dev setup, or "
      "CMake's STICTION_QUICK=OFF");
}

}  // namespace

StepResult Reference::step(std::span<const double>, std::span<const double>, const Inputs&) const {
  absent("step");
}
StepJacobian Reference::step_jacobian(std::span<const double>, std::span<const double>,
                                      const Inputs&) const {
  absent("step_jacobian");
}
RayHits<double> Reference::raycast(std::span<const double>, std::span<const double>,
                                   std::span<const double>, const RayOptions&,
                                   const Inputs&) const {
  absent("raycast");
}
ForwardResult Reference::forward(std::span<const double>, std::span<const double>,
                                 const Inputs&) const {
  absent("forward");
}

}  // namespace stiction

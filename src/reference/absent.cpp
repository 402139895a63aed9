// Stubs of the reference engine in a build with only what a first run needs (STICTION_QUICK).
#include "quick.h"
#include "stiction/reference.h"

namespace stiction {

StepResult Reference::step(std::span<const double>, std::span<const double>, const Inputs&) const {
  not_in_quick_build("Reference.step");
}
StepJacobian Reference::step_jacobian(std::span<const double>, std::span<const double>,
                                      const Inputs&) const {
  not_in_quick_build("Reference.step_jacobian");
}
RayHits<double> Reference::raycast(std::span<const double>, std::span<const double>,
                                   std::span<const double>, const RayOptions&,
                                   const Inputs&) const {
  not_in_quick_build("Reference.raycast");
}
ForwardResult Reference::forward(std::span<const double>, std::span<const double>,
                                 const Inputs&) const {
  not_in_quick_build("Reference.forward");
}

}  // namespace stiction

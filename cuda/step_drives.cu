// With strings over sites and actuators that have a state.
#define STICTION_KERNEL step
#undef STICTION_ISA
#define STICTION_ISA sm_step
#include "cuda/step.cuh"

namespace stiction::cuda {

using physics::Colliders;
using physics::Drives;

TeamFunction step_of_states(bool boxes_at_most) {
  return boxes_at_most ? step_with<Colliders::boxes, Drives::states>()
                       : step_with<Colliders::hfields, Drives::states>();
}

}  // namespace stiction::cuda

// With spatial tendons and stateful actuators.
#include "cuda/step.cuh"

namespace stiction::cuda {

TeamFunction step_of_states(bool boxes_at_most) {
  return boxes_at_most ? step_with<Colliders::boxes, Drives::states>()
                       : step_with<Colliders::hfields, Drives::states>();
}

}  // namespace stiction::cuda

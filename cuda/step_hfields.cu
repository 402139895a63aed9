#include "cuda/step.cuh"

namespace stiction::cuda {

TeamFunction step_of_hfields() {
  return step_with<Colliders::hfields, Drives::plain>();
}

}  // namespace stiction::cuda

#define STICTION_KERNEL step
#undef STICTION_ISA
#define STICTION_ISA sm_step
#include "cuda/step.cuh"

namespace stiction::cuda {

using physics::Colliders;
using physics::Drives;

TeamFunction step_of_hfields() {
  return step_with<Colliders::hfields, Drives::plain>();
}

}  // namespace stiction::cuda

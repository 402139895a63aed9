#include "cuda/step.cuh"

namespace stiction::cuda {

TeamFunction step_of_round() {
  return step_with<Colliders::round, Drives::plain>();
}
TeamFunction step_of_boxes() {
  return step_with<Colliders::boxes, Drives::plain>();
}
TeamFunction step_of_meshes() {
  return step_with<Colliders::meshes, Drives::plain>();
}

}  // namespace stiction::cuda

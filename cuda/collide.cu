#define STICTION_KERNEL collide
#undef STICTION_ISA
#define STICTION_ISA sm_collide
#include "cuda/tiles.cuh"

namespace stiction::cuda {
namespace {

template <Colliders has>
TeamFunction with_blocks(int blocks) {
  using physics::tile_per_env;
  switch (blocks) {
    case 0: return with_view(tile_per_env<Kernel::collide, has>);
#ifdef STICTION_CUDA_VARIANTS
    case 3: return with_view(tile_per_env<Kernel::collide, has, 3>);
    case 4: return with_view(tile_per_env<Kernel::collide, has, 4>);
#endif
    default: return {};
  }
}

}  // namespace

TeamFunction collide_function(Colliders has, int blocks) {
  switch (has) {
    case Colliders::round: return with_blocks<Colliders::round>(blocks);
    case Colliders::box: return with_blocks<Colliders::box>(blocks);
    case Colliders::boxes: return with_blocks<Colliders::boxes>(blocks);
    case Colliders::convex: return with_blocks<Colliders::convex>(blocks);
    case Colliders::meshes: return with_blocks<Colliders::meshes>(blocks);
    case Colliders::hfields: return with_blocks<Colliders::hfields>(blocks);
  }
  return {};
}

}  // namespace stiction::cuda

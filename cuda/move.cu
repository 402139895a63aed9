#define STICTION_KERNEL move
#undef STICTION_ISA
#define STICTION_ISA sm_move
#include "cuda/tiles.cuh"

namespace stiction::cuda {

TeamFunction move_function(Drives can) {
  using physics::tile_per_env;
  if (can < Drives::states) return with_view(tile_per_env<Kernel::move>);
  return with_view(
      tile_per_env<Kernel::move, Colliders::boxes, physics::kBlocks<Kernel::move>, Drives::states>);
}

}  // namespace stiction::cuda

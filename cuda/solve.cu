// The solve by a block, and the solve in rounds.
#define STICTION_KERNEL solve
#undef STICTION_ISA
#define STICTION_ISA sm_solve
#include "cuda/one_lane.h"
#include "cuda/tiles.cuh"

namespace stiction::cuda {

TeamFunction solve_by_block() {
  return with_view(physics::block_per_env<Kernel::solve>);
}
TeamFunction solve_begin_function() {
  return with_view(physics::tile_per_env<Kernel::solve_begin>);
}
TeamFunction solve_next_function() {
  return with_view(physics::tile_per_env<Kernel::solve_next>);
}

}  // namespace stiction::cuda

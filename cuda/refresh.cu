#define STICTION_KERNEL refresh
#undef STICTION_ISA
#define STICTION_ISA sm_refresh
#include "cuda/tiles.cuh"

namespace stiction::cuda {

// With spatial tendons the kernel contains the tendon geometry, and needs many registers.
TeamFunction refresh_function(Drives can) {
  using physics::tile_per_env;
  switch (can) {
    case Drives::plain: return with_view(tile_per_env<Kernel::refresh>);
    case Drives::strings: return with_view(tile_per_env<Kernel::refresh, 2, Drives::strings>);
    case Drives::states: return with_view(tile_per_env<Kernel::refresh, 2, Drives::states>);
  }
  return {};
}

}  // namespace stiction::cuda

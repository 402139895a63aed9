// `solve` by tiles without the other kernels of `step`: what its text compiles to (check_kernels.py).
#define STICTION_KERNEL solve
#undef STICTION_ISA
#define STICTION_ISA sm_solve
#include "cuda/one_lane.h"
// its `judge` is to be found by what follows
#include "cuda/device_lanes.h"
#include "cuda/functions.h"
#include "cuda/kernel_view.h"
#include "cuda/kernels.h"
#include "cuda/solve_warp.cuh"

STICTION_PHYSICS_BEGIN

__global__ void __launch_bounds__(cuda::kStepWarps* kWarp, 1)
    solve_by_tiles(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                   const __grid_constant__ Arena arena, int lanes, int env, int slot) {
  extern __shared__ __align__(16) std::byte memory[];
  solve_in_warp<float>(m, l, arena, lanes, env, slot, memory, cuda::view_bytes(cuda::kView));
}

STICTION_PHYSICS_END

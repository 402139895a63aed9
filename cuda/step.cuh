// `step`: the kernels dynamics, collide, solve and move in sequence, for as many steps as a launch has, with one
// tile per environment. Blocks do not synchronize with each other, so an environment with many
// iterations delays only its own block, and a kernel finds data of the preceding one in the L1 cache.
// Within a block all warps execute the same kernel (`meet`): the instruction caches hold one at a time.
#pragma once

#define STICTION_KERNEL step
#undef STICTION_ISA
#define STICTION_ISA sm_step
#include "cuda/one_lane.h"
// its `judge` must be declared before the headers below
#include "cuda/device_lanes.h"
#include "cuda/functions.h"
#include "cuda/kernel_view.h"
#include "cuda/kernels.h"
#include "cuda/solve_warp.cuh"

STICTION_PHYSICS_BEGIN
namespace {

using cuda::Kernel;
using cuda::StepArenas;

constexpr int kViewBytes = cuda::view_bytes(cuda::kView);
static_assert(sizeof(EnvView<float>) == cuda::kView.count * sizeof(void*));
static_assert(cuda::has_arena_fields(Kernel::dynamics) && cuda::has_arena_fields(Kernel::collide) &&
              cuda::has_arena_fields(Kernel::solve) && cuda::has_arena_fields(Kernel::move));

// After a kernel the warps of a block synchronize, so that they execute the same code, unless the launch says
// otherwise; the lanes of a warp always synchronize.
__device__ __forceinline__ void meet(const Launch& l, Kernel behind) {
  if ((l.barriers >> static_cast<int>(behind) & 1) != 0)
    __syncthreads();
  else
    __syncwarp();
}

// Runs one of the kernels of a step, for the environment of this tile.
template <Kernel kernel, Colliders has, Drives can>
__device__ __forceinline__ void run_in_step(const ModelView& m, const Launch& l,
                                            const StepOfRun& step, const Arena& arena, int lanes,
                                            int env, std::byte* memory) {
  if ((l.kernels >> static_cast<int>(kernel) & 1) == 0) return;
  if (env >= 0) {
    const GroupTeam team(TileGroup(DeviceLanes(lanes)));
    auto& e = *reinterpret_cast<EnvView<float>*>(memory);
    run_bound<kernel, has, can>(team, m, l, step, env, arena, memory + kViewBytes, e);
    forget_arena(team, l, env, arena, e);
  }
  meet(l, kernel);
}

template <Colliders has, Drives can>
__global__ void __launch_bounds__(cuda::kStepWarps* kWarp, 1)
    step_by_tiles(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                  const __grid_constant__ StepArenas arenas, int lanes) {
  extern __shared__ __align__(16) std::byte memory[];
  const int stride = kViewBytes + arenas.of[0].bytes;
  const int envs = static_cast<int>(blockDim.x) / lanes;
  const int slot = static_cast<int>(threadIdx.x) / lanes;
  const int i = static_cast<int>(blockIdx.x) * envs + slot;
  const int env = i >= l.count ? -1 : l.envs != nullptr ? l.envs[i] : i;
  if (env >= 0)
    bind(GroupTeam(TileGroup(DeviceLanes(lanes))), m, l, env, arenas.of[0].view,
         *reinterpret_cast<EnvView<float>*>(memory + slot * stride));
  __syncthreads();
  STICTION_ROLLED
  for (int s = 0; s < l.steps; ++s) {
    const StepOfRun step = {l.first && s == 0, l.last && s == l.steps - 1, l.left - s};
    run_in_step<Kernel::dynamics, has, can>(m, l, step, arenas.of[0], lanes, env,
                                            memory + slot * stride);
    run_in_step<Kernel::collide, has, can>(m, l, step, arenas.of[1], lanes, env,
                                           memory + slot * stride);
    if ((l.kernels >> static_cast<int>(Kernel::solve) & 1) != 0) {
      solve_in_warp<float>(m, l, arenas.of[2], lanes, env, slot, memory, kViewBytes);
      meet(l, Kernel::solve);
    }
    run_in_step<Kernel::move, has, can>(m, l, step, arenas.of[3], lanes, env,
                                        memory + slot * stride);
  }
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

using physics::Colliders;
using physics::Drives;

template <Colliders has, Drives can>
TeamFunction step_with() {
  return {reinterpret_cast<const void*>(physics::step_by_tiles<has, can>), kView};
}

}  // namespace
}  // namespace stiction::cuda

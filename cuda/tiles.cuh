// A kernel by a tile or a block per environment. The file that includes this says which one it is by
// STICTION_KERNEL and STICTION_ISA: of each the view is another type, so that the functions on it are others, too.
#pragma once

#include "cuda/device_lanes.h"
#include "cuda/functions.h"
#include "cuda/kernel_view.h"
#include "cuda/kernels.h"
#include "cuda/solve_warp.cuh"

STICTION_PHYSICS_BEGIN
namespace {

using cuda::Kernel;

constexpr int kViewBytes = cuda::view_bytes(cuda::kView);
static_assert(sizeof(EnvView<float>) == cuda::kView.count * sizeof(void*));
constexpr int kWarps = cuda::kBlockThreads / kWarp;

// Blocks of kThreads that share the registers of an SM: the most without a spill worth mention, but of boxes
// against boxes.
template <Kernel kernel, Colliders has = Colliders::boxes>
constexpr int kBlocks = kernel != Kernel::collide ? 5
                        : has == Colliders::round ? 5
                        : has == Colliders::box   ? 4
                                                  : 3;

// Shared memory of an environment: its view, then its share of fast memory.
template <Kernel kernel, Colliders has = Colliders::boxes, Drives can = Drives::plain, class Team>
__device__ __forceinline__ void run_in(const Team& team, const ModelView& m, const Launch& l,
                                       const Arena& arena, int i, std::byte* memory) {
  if (i >= l.count) return;
  auto& view = *reinterpret_cast<EnvView<float>*>(memory);
  run_kernel<kernel, has, can>(team, m, l, l.envs != nullptr ? l.envs[i] : i, arena,
                               memory + kViewBytes, view);
}

// Lanes of an environment that has converged find work only once half of those of the warp are free (solve_warp.cuh),
// so environments that took as many iterations in their last step go side by side: the number of this tile's among each
// kWarp neighbours in that order. Changes no bit.
__device__ __forceinline__ int by_effort(const Launch& l, int tiles, int tile) {
  constexpr int kBits = 5;
  const int first = static_cast<int>(blockIdx.x) * tiles,
            lane = static_cast<int>(threadIdx.x) % kWarp;
  const int neighbours = first / kWarp * kWarp, i = neighbours + lane;
  constexpr int kMost = (1 << kBits) - 1;
  int effort = kMost;
  if (i < l.count) {
    const auto* row = row_of(l, static_cast<int>(Field::effort), l.envs != nullptr ? l.envs[i] : i);
    effort = max(0, min(*reinterpret_cast<const int*>(row), kMost - 1));
  }
  // those with less, and of the same those before it
  constexpr std::uint32_t kAll = 0xffffffffu;
  std::uint32_t same = kAll;
  int rank = 0;
  for (int bit = kBits - 1; bit >= 0; --bit) {
    const bool mine = (effort >> bit & 1) != 0;
    const std::uint32_t set = __ballot_sync(kAll, mine);
    if (mine) rank += __popc(same & ~set);
    same &= mine ? set : ~set;
  }
  rank += __popc(same & ((1u << lane) - 1u));
  int chosen = 0;
  for (int k = 0; k < tiles; ++k) {
    const std::uint32_t found = __ballot_sync(kAll, rank == first - neighbours + k);
    if (k == tile) chosen = __ffs(static_cast<int>(found)) - 1;
  }
  return neighbours + chosen;
}

template <Kernel kernel, Colliders has = Colliders::boxes, int blocks = kBlocks<kernel, has>,
          Drives can = Drives::plain>
__global__ void __launch_bounds__(kWarp, kWarps* blocks)
    tile_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                 const __grid_constant__ Arena arena, int lanes) {
  extern __shared__ __align__(16) std::byte memory[];
  const int tiles = kWarp / lanes, tile = static_cast<int>(threadIdx.x) / lanes;
  int i = static_cast<int>(blockIdx.x) * tiles + tile;
  if constexpr (kernel == Kernel::solve) {
    if (tiles > 1) i = by_effort(l, tiles, tile);
    solve_in_warp<float>(m, l, arena, lanes, i, memory, kViewBytes);
  } else {
    run_in<kernel, has, can>(GroupTeam(TileGroup(DeviceLanes(lanes))), m, l, arena, i,
                             memory + tile * (kViewBytes + arena.bytes));
  }
}

template <Kernel kernel>
__global__ void __launch_bounds__(cuda::kBlockThreads, kBlocks<kernel>)
    block_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                  const __grid_constant__ Arena arena, int) {
  extern __shared__ __align__(16) std::byte memory[];
  __shared__ std::uint32_t scratch[kScratchWords * cuda::kBlockThreads / kWarp];
  run_in<kernel>(GroupTeam(BlockGroup(DeviceLanes(scratch))), m, l, arena,
                 static_cast<int>(blockIdx.x), memory);
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

using physics::Colliders;
using physics::Drives;

// The function with the view that it has here.
template <class Function>
TeamFunction with_view(Function* function) {
  return {reinterpret_cast<const void*>(function), kView};
}

}  // namespace
}  // namespace stiction::cuda

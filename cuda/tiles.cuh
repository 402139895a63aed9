// A kernel with a tile or a block per environment, other than `step` for tiles (step.cuh). The including file selects
// the kernel with STICTION_KERNEL and STICTION_ISA: each kernel has another view type, so that its functions are
// distinct, too.
#pragma once

#include "cuda/device_lanes.h"
#include "cuda/functions.h"
#include "cuda/kernel_view.h"
#include "cuda/kernels.h"

STICTION_PHYSICS_BEGIN
namespace {

using cuda::Kernel;

constexpr int kViewBytes = cuda::view_bytes(cuda::kView);
static_assert(sizeof(EnvView<float>) == cuda::kView.count * sizeof(void*));
static_assert(cuda::has_arena_fields(Kernel::STICTION_KERNEL));
constexpr int kWarps = cuda::kBlockThreads / kWarp;

// Times four warps that share the registers of a multiprocessor: the most without significant spills.
constexpr int kBlocks = 5;
constexpr int kWideBlocks = 4;  // for a kernel with a block, whose group needs registers of its own

// Shared memory of an environment: its view, followed by its fast memory.
template <Kernel kernel, Drives can = Drives::plain, class Team>
__device__ __forceinline__ void run_in(const Team& team, const ModelView& m, const Launch& l,
                                       const Arena& arena, int i, std::byte* memory) {
  if (i >= l.count) return;
  auto& view = *reinterpret_cast<EnvView<float>*>(memory);
  run_kernel<kernel, Colliders::boxes, can>(team, m, l, l.envs != nullptr ? l.envs[i] : i, arena,
                                            memory + kViewBytes, view);
}

template <Kernel kernel, int blocks = kBlocks, Drives can = Drives::plain>
__global__ void __launch_bounds__(kWarp, kWarps* blocks)
    tile_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                 const __grid_constant__ Arena arena, int lanes) {
  extern __shared__ __align__(16) std::byte memory[];
  const int tiles = kWarp / lanes, tile = static_cast<int>(threadIdx.x) / lanes;
  const int i = static_cast<int>(blockIdx.x) * tiles + tile;
  run_in<kernel, can>(GroupTeam(TileGroup(DeviceLanes(lanes))), m, l, arena, i,
                      memory + tile * (kViewBytes + arena.bytes));
}

template <Kernel kernel>
__global__ void __launch_bounds__(cuda::kBlockThreads, kWideBlocks)
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

// Returns the function with the view of this translation unit.
template <class Function>
TeamFunction with_view(Function* function) {
  return {reinterpret_cast<const void*>(function), kView};
}

}  // namespace
}  // namespace stiction::cuda

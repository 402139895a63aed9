#include <algorithm>
#include <cstring>

#include "cuda/device_lanes.h"
#include "cuda/kernels.cuh"
#include "cuda/kernels.h"

STICTION_PHYSICS_BEGIN
namespace {

using cuda::Kernel;

constexpr int kViewBytes = (sizeof(EnvView<float>) + 15) / 16 * 16;
constexpr int kThreads = 128;  // of a block: four environments, or one

// Blocks that share the registers of an SM: the most without a spill, but of pairs with a box.
template <Kernel kernel>
constexpr int kBlocks = kernel == Kernel::collide ? cuda::kCollideBlocks : 5;

// Shared memory of an environment: its view, then its share of fast memory.
template <Kernel kernel, class Team>
__device__ __forceinline__ void run_in(const Team& team, const ModelView& m, const Launch& l,
                                       const Arena& arena, int i, std::byte* memory) {
  if (i >= l.count) return;
  auto& view = *reinterpret_cast<EnvView<float>*>(memory);
  run_kernel<kernel>(team, m, l, l.envs != nullptr ? l.envs[i] : i, arena, memory + kViewBytes,
                     view);
}

template <Kernel kernel, int blocks = kBlocks<kernel>>
__global__ void __launch_bounds__(kThreads, blocks)
    warp_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                 const __grid_constant__ Arena arena) {
  extern __shared__ __align__(16) std::byte memory[];
  const DeviceLanes lanes(nullptr);
  const int i = static_cast<int>(blockIdx.x) * lanes.warps() + lanes.warp();
  run_in<kernel>(LaneTeam(WarpGroup(lanes)), m, l, arena, i,
                 memory + lanes.warp() * (kViewBytes + arena.bytes));
}

template <Kernel kernel>
__global__ void __launch_bounds__(kThreads, kBlocks<kernel>)
    block_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                  const __grid_constant__ Arena arena) {
  extern __shared__ __align__(16) std::byte memory[];
  __shared__ std::uint32_t scratch[kScratchWords * kThreads / kWarp];
  run_in<kernel>(LaneTeam(BlockGroup(DeviceLanes(scratch))), m, l, arena,
                 static_cast<int>(blockIdx.x), memory);
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

using physics::ModelView;
using KernelFunction = void (*)(Launch, ModelView, Arena);

// Beyond this order the factor is worth a block; the other stages have a warp.
constexpr int kWarpOrder = 64;

// Null: not in this build.
KernelFunction collide_of(int blocks) {
  switch (blocks) {
    case kCollideBlocks: return physics::warp_per_env<Kernel::collide>;
#ifdef STICTION_CUDA_VARIANTS
    case 2: return physics::warp_per_env<Kernel::collide, 2>;
    case 4: return physics::warp_per_env<Kernel::collide, 4>;
#endif
    default: return nullptr;
  }
}

KernelFunction function_of(Kernel k, bool block, int bound) {
  switch (k) {
    case Kernel::dynamics: return physics::warp_per_env<Kernel::dynamics>;
    case Kernel::collide: return collide_of(bound);
    case Kernel::solve:
      return block ? physics::block_per_env<Kernel::solve> : physics::warp_per_env<Kernel::solve>;
    case Kernel::move: return physics::warp_per_env<Kernel::move>;
    case Kernel::refresh: return physics::warp_per_env<Kernel::refresh>;
  }
  return nullptr;
}

// All entries with every slot active.
int most_bytes(const Arena& a, const ModelView& m) {
  return physics::arena_begin(a, a.count, m.nslot);
}

#define STICTION_TRY(call) \
  if (const cudaError_t error = (call); error != cudaSuccess) return error

// The arena gets three quarters of the shared memory that the registers leave to each environment;
// the rest serves as L1 cache for the model and the rows.
cudaError_t plan_kernel(Kernel kernel, const ModelView& m, const Switches& s, KernelPlan& p) {
  int device = 0;
  cudaDeviceProp card;
  STICTION_TRY(cudaGetDevice(&device));
  STICTION_TRY(cudaGetDeviceProperties(&card, device));
  const bool block = kernel == Kernel::solve && m.nv > kWarpOrder;
  p.bound = kernel == Kernel::collide ? s.collide_blocks : 0;
  const auto function = function_of(kernel, block, p.bound);
  cudaFuncAttributes attributes;
  STICTION_TRY(cudaFuncGetAttributes(&attributes, function));
  p.lanes = block ? physics::kThreads : physics::kWarp;
  p.threads_per_block = physics::kThreads;
  p.static_bytes = static_cast<int>(attributes.sharedSizeBytes);
  p.registers = attributes.numRegs;
  p.local_bytes = static_cast<int>(attributes.localSizeBytes);

  const int envs = p.threads_per_block / p.lanes;
  int blocks = 0;
  STICTION_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, p.threads_per_block,
                                                             envs * physics::kViewBytes));
  if (blocks < 1) return cudaErrorLaunchOutOfResources;
  const auto fixed = card.reservedSharedMemPerBlock + attributes.sharedSizeBytes;
  const auto of_block =
      std::min(card.sharedMemPerMultiprocessor * static_cast<std::size_t>(s.arena_percent) / 100 /
                   static_cast<std::size_t>(blocks),
               card.sharedMemPerBlockOptin);
  const int room =
      (static_cast<int>(of_block) - static_cast<int>(fixed)) / envs - physics::kViewBytes;
  const Arena all = make_arena(kernel, m, 0);
  const int share = std::clamp(room, 0, most_bytes(all, m)) / kArenaAlignment * kArenaAlignment;
  p.arena = make_arena(kernel, m, share);
  p.shared_bytes = envs * (physics::kViewBytes + share);
  // never less than another batch asked for
  STICTION_TRY(
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           std::max(attributes.maxDynamicSharedSizeBytes, p.shared_bytes)));
  STICTION_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, p.threads_per_block, static_cast<std::size_t>(p.shared_bytes)));
  p.envs_per_sm = envs * blocks;
  p.occupancy = static_cast<double>(blocks * p.threads_per_block) /
                static_cast<double>(card.maxThreadsPerMultiProcessor);
  return cudaSuccess;
}

cudaError_t launch(Kernel kernel, const Launch& l, const ModelView& m, const Plan& plan,
                   cudaStream_t stream) {
  if (l.count == 0) return cudaSuccess;
  const KernelPlan& p = plan[kernel];
  const int envs = p.threads_per_block / p.lanes;
  const KernelFunction function = function_of(kernel, p.lanes != physics::kWarp, p.bound);
  if (plan.clock != nullptr) plan.clock->before(kernel, stream);
  function<<<(l.count + envs - 1) / envs, p.threads_per_block,
             static_cast<std::size_t>(p.shared_bytes), stream>>>(l, m, p.arena);
  if (plan.clock != nullptr) plan.clock->after(stream);
  return cudaGetLastError();
}

}  // namespace

const char* kernel_name(Kernel k) {
  constexpr const char* kNames[] = {"dynamics", "collide", "solve", "move", "refresh"};
  return kNames[static_cast<int>(k)];
}

bool has_collide_blocks(int blocks) {
  return collide_of(blocks) != nullptr;
}

cudaError_t make_plan(const ModelView& m, const Switches& switches, Plan& plan) {
  for (int k = 0; k < kKernels; ++k)
    STICTION_TRY(plan_kernel(static_cast<Kernel>(k), m, switches, plan.kernel[k]));
  return cudaSuccess;
}

cudaError_t launch_refresh(const Launch& l, const ModelView& m, const Plan& plan,
                           cudaStream_t stream) {
  return launch(Kernel::refresh, l, m, plan, stream);
}

cudaError_t launch_step(const Launch& l, const ModelView& m, const Plan& plan,
                        cudaStream_t stream) {
  for (const Kernel k : {Kernel::dynamics, Kernel::collide, Kernel::solve, Kernel::move})
    STICTION_TRY(launch(k, l, m, plan, stream));
  return cudaSuccess;
}

}  // namespace stiction::cuda

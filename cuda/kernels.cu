#include <algorithm>
#include <cstring>

#include "cuda/device_lanes.h"
#include "cuda/kernels.cuh"
#include "cuda/kernels.h"
#include "cuda/thread.h"

STICTION_PHYSICS_BEGIN
namespace {

using cuda::Kernel;

constexpr int kViewBytes = (sizeof(EnvView<float>) + 15) / 16 * 16;
constexpr int kThreads = 128;  // of a block that has one environment
constexpr int kWarps = kThreads / kWarp;

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

// Tiles of a warp wait for the one that needs most iterations, so environments that took as many in
// their last step go side by side: the number of this tile's among each kWarp neighbours in that order.
// Changes no bit.
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
  if constexpr (kernel == Kernel::solve)
    if (tiles > 1) i = by_effort(l, tiles, tile);
  run_in<kernel, has, can>(GroupTeam(TileGroup(DeviceLanes(lanes))), m, l, arena, i,
                           memory + tile * (kViewBytes + arena.bytes));
}

template <Kernel kernel>
__global__ void __launch_bounds__(kThreads, kBlocks<kernel>)
    block_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                  const __grid_constant__ Arena arena, int) {
  extern __shared__ __align__(16) std::byte memory[];
  __shared__ std::uint32_t scratch[kScratchWords * kThreads / kWarp];
  run_in<kernel>(GroupTeam(BlockGroup(DeviceLanes(scratch))), m, l, arena,
                 static_cast<int>(blockIdx.x), memory);
}

// Warps of a multiprocessor without a spill. Each is a block, so that few environments, too, are on all
// of the multiprocessors.
template <Kernel kernel>
constexpr int kThreadWarps = kernel == Kernel::dynamics || kernel == Kernel::solve ? 16 : 8;

template <Kernel kernel>
__global__ void __launch_bounds__(kWarp, kThreadWarps<kernel>)
    thread_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                   const __grid_constant__ RowTable table) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < l.count) run_by_thread<kernel>(m, l, table, l.envs != nullptr ? l.envs[i] : i);
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

using physics::Colliders;
using physics::Drives;
using physics::ModelView;
using KernelFunction = void (*)(Launch, ModelView, Arena, int);

int threads_of(Kernel kernel, Group wanted) {
  if (kernel == Kernel::solve_begin || kernel == Kernel::solve_next) return physics::kWarp;
  if (wanted != Group::block) return lanes_of(wanted);
  return kernel == Kernel::solve ? physics::kThreads : physics::kWarp;
}

using ThreadFunction = void (*)(Launch, ModelView, RowTable);

ThreadFunction thread_function(Kernel k) {
  switch (k) {
    case Kernel::dynamics: return physics::thread_per_env<Kernel::dynamics>;
    case Kernel::collide:      // fits_thread: no pairs
    case Kernel::solve_begin:  // a library's rounds are a warp's
    case Kernel::solve_next: return nullptr;
    case Kernel::solve: return physics::thread_per_env<Kernel::solve>;
    case Kernel::move: return physics::thread_per_env<Kernel::move>;
    case Kernel::refresh: return physics::thread_per_env<Kernel::refresh>;
  }
  return nullptr;
}

// `blocks` per multiprocessor, 0: as many as it is tuned for. Null: not in this build.
KernelFunction solve_function(int blocks) {
  switch (blocks) {
    case 0: return physics::tile_per_env<Kernel::solve>;
#ifdef STICTION_CUDA_VARIANTS
    case 6: return physics::tile_per_env<Kernel::solve, Colliders::boxes, 6>;
    case 8: return physics::tile_per_env<Kernel::solve, Colliders::boxes, 8>;
#endif
    default: return nullptr;
  }
}
template <Colliders has>
KernelFunction collide_of(int blocks) {
  switch (blocks) {
    case 0: return physics::tile_per_env<Kernel::collide, has>;
#ifdef STICTION_CUDA_VARIANTS
    case 3: return physics::tile_per_env<Kernel::collide, has, 3>;
    case 4: return physics::tile_per_env<Kernel::collide, has, 4>;
#endif
    default: return nullptr;
  }
}
KernelFunction collide_function(Colliders has, int blocks) {
  switch (has) {
    case Colliders::round: return collide_of<Colliders::round>(blocks);
    case Colliders::box: return collide_of<Colliders::box>(blocks);
    case Colliders::boxes: return collide_of<Colliders::boxes>(blocks);
    case Colliders::convex: return collide_of<Colliders::convex>(blocks);
    case Colliders::meshes: return collide_of<Colliders::meshes>(blocks);
    case Colliders::hfields: return collide_of<Colliders::hfields>(blocks);
  }
  return nullptr;
}

// With strings over sites the string's geometry is in the kernel, and many registers.
template <Kernel kernel>
KernelFunction drives_function(const ModelView& m) {
  switch (physics::drives_of(m)) {
    case Drives::plain: return physics::tile_per_env<kernel>;
    case Drives::strings:
      return physics::tile_per_env<kernel, Colliders::boxes, 2, Drives::strings>;
    case Drives::states: return physics::tile_per_env<kernel, Colliders::boxes, 2, Drives::states>;
  }
  return nullptr;
}
KernelFunction move_function(const ModelView& m) {
  if (physics::drives_of(m) < Drives::states) return physics::tile_per_env<Kernel::move>;
  return physics::tile_per_env<Kernel::move, Colliders::boxes, physics::kBlocks<Kernel::move>,
                               Drives::states>;
}

KernelFunction team_function(Kernel k, const ModelView& m, bool block, const Switches& s) {
  switch (k) {
    case Kernel::dynamics: return drives_function<Kernel::dynamics>(m);
    case Kernel::collide: return collide_function(m.colliders, s.collide_blocks);
    case Kernel::solve:
      return block ? physics::block_per_env<Kernel::solve> : solve_function(s.solve_blocks);
    case Kernel::move: return move_function(m);
    case Kernel::refresh: return drives_function<Kernel::refresh>(m);
    case Kernel::solve_begin: return physics::tile_per_env<Kernel::solve_begin>;
    case Kernel::solve_next: return physics::tile_per_env<Kernel::solve_next>;
  }
  return nullptr;
}

const void* function_of(Kernel k, const ModelView& m, int threads, const Switches& s) {
  if (threads == 1) return reinterpret_cast<const void*>(thread_function(k));
  return reinterpret_cast<const void*>(team_function(k, m, threads > physics::kWarp, s));
}

// All entries with every slot active.
int most_bytes(const Arena& a, const ModelView& m) {
  return physics::arena_bytes(a.end, m.nslot) + kArenaAlignment - 1;
}

#define STICTION_TRY(call) \
  if (const cudaError_t error = (call); error != cudaSuccess) return error

// All of the shared memory serves as L1 cache: the threads' own memory lies there, and the rows.
cudaError_t plan_thread(const cudaDeviceProp& card, KernelPlan& p) {
  STICTION_TRY(cudaFuncSetAttribute(p.function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxL1));
  int blocks = 0;
  STICTION_TRY(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, p.function, p.threads_per_block, 0));
  p.shared_bytes = 0;
  p.envs_per_sm = p.threads_per_block * blocks;
  p.occupancy = static_cast<double>(blocks * p.threads_per_block) /
                static_cast<double>(card.maxThreadsPerMultiProcessor);
  return cudaSuccess;
}

// The most of `bytes` with which the threads of several tiles, side by side in their own arrays, are in
// banks of their own.
int spread(int lanes, int bytes) {
  constexpr int kBanks = 128;  // bytes
  bytes = bytes / kArenaAlignment * kArenaAlignment;
  if (lanes >= physics::kWarp || bytes < kBanks) return bytes;
  return bytes - (physics::kViewBytes + bytes - 4 * lanes + kBanks) % kBanks;
}

// The arena gets its percentage of the shared memory that the registers leave to each environment;
// the rest serves as L1 cache for the model and the rows.
cudaError_t plan_kernel(Kernel kernel, const ModelView& m, const Switches& s,
                        const cudaDeviceProp& card, KernelPlan& p) {
  p.threads_per_env = threads_of(kernel, s.group);
  const void* const function = p.function = function_of(kernel, m, p.threads_per_env, s);
  cudaFuncAttributes attributes;
  STICTION_TRY(cudaFuncGetAttributes(&attributes, function));
  p.threads_per_block = p.threads_per_env <= physics::kWarp ? physics::kWarp : physics::kThreads;
  p.static_bytes = static_cast<int>(attributes.sharedSizeBytes);
  p.registers = attributes.numRegs;
  p.local_bytes = static_cast<int>(attributes.localSizeBytes);
  if (p.threads_per_env == 1) return plan_thread(card, p);

  const int envs = p.threads_per_block / p.threads_per_env;
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
  const int share = spread(p.threads_per_env, std::clamp(room, 0, most_bytes(all, m)));
  p.arena = make_arena(kernel, m, share);
  p.shared_bytes = envs * (physics::kViewBytes + share);
  // here and below never less than another batch asked for
  STICTION_TRY(
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           std::max(attributes.maxDynamicSharedSizeBytes, p.shared_bytes)));
  STICTION_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, p.threads_per_block, static_cast<std::size_t>(p.shared_bytes)));
  p.envs_per_sm = envs * blocks;
  p.occupancy = static_cast<double>(blocks * p.threads_per_block) /
                static_cast<double>(card.maxThreadsPerMultiProcessor);
  const auto used =
      static_cast<std::size_t>(blocks) * (static_cast<std::size_t>(p.shared_bytes) + fixed);
  const int percent = static_cast<int>(100 * used / card.sharedMemPerMultiprocessor) + 1;
  STICTION_TRY(
      cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                           std::max(attributes.preferredShmemCarveout, std::min(percent, 100))));
  return cudaSuccess;
}

}  // namespace

cudaError_t launch(Kernel kernel, const Launch& l, const RowTable& rows, const ModelView& m,
                   const Plan& plan, cudaStream_t stream) {
  if (l.count == 0) return cudaSuccess;
  const KernelPlan& p = plan[kernel];
  const int envs = p.threads_per_block / p.threads_per_env, blocks = (l.count + envs - 1) / envs;
  if (plan.clock != nullptr) plan.clock->before(kernel, stream);
  const auto grid = static_cast<unsigned>(blocks),
             block = static_cast<unsigned>(p.threads_per_block);
  const auto shared = static_cast<std::size_t>(p.shared_bytes);
  if (p.threads_per_env == 1)
    reinterpret_cast<ThreadFunction>(p.function)<<<grid, block, shared, stream>>>(l, m, rows);
  else
    reinterpret_cast<KernelFunction>(p.function)<<<grid, block, shared, stream>>>(
        l, m, p.arena, p.threads_per_env);
  if (plan.clock != nullptr) plan.clock->after(stream);
  return cudaGetLastError();
}

const char* kernel_name(Kernel k) {
  constexpr const char* kNames[] = {"dynamics", "collide",     "solve",     "move",
                                    "refresh",  "solve_begin", "solve_next"};
  return kNames[static_cast<int>(k)];
}

bool has_blocks(const ModelView& m, const Switches& s) {
  return collide_function(m.colliders, s.collide_blocks) != nullptr &&
         solve_function(s.solve_blocks) != nullptr;
}

cudaError_t make_plan(const ModelView& m, const Switches& switches, Plan& plan) {
  int device = 0;
  cudaDeviceProp card;
  STICTION_TRY(cudaGetDevice(&device));
  STICTION_TRY(cudaGetDeviceProperties(&card, device));
  for (int k = 0; k < kKernels; ++k) {
    plan.kernel[k] = {};
    if (!has_kernel(m, static_cast<Kernel>(k))) continue;
    STICTION_TRY(plan_kernel(static_cast<Kernel>(k), m, switches, card, plan.kernel[k]));
  }
  return cudaSuccess;
}

}  // namespace stiction::cuda

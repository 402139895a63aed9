#include <algorithm>

#include "cuda/functions.h"
#include "cuda/group_team.h"
#include "cuda/kernels.cuh"

namespace stiction::cuda {
namespace {

using physics::ModelView;
using KernelFunction = void (*)(Launch, ModelView, Arena, int);

TeamFunction team_function(Kernel k, const ModelView& m, bool block, const Switches& s) {
  switch (k) {
    case Kernel::dynamics: return dynamics_function(drives_of(m));
    case Kernel::collide: return collide_function(m.colliders, s.collide_blocks);
    case Kernel::solve: return block ? solve_by_block() : solve_function(s.solve_blocks);
    case Kernel::move: return move_function(drives_of(m));
    case Kernel::refresh: return refresh_function(drives_of(m));
    case Kernel::solve_begin: return solve_begin_function();
    case Kernel::solve_next: return solve_next_function();
  }
  return {};
}

TeamFunction function_of(Kernel k, const ModelView& m, int threads, const Switches& s) {
  if (threads == 1) return {reinterpret_cast<const void*>(thread_function(k)), {}};
  return team_function(k, m, threads > physics::kWarp, s);
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
int spread(int lanes, int view, int bytes) {
  constexpr int kBanks = 128;  // bytes
  bytes = bytes / kArenaAlignment * kArenaAlignment;
  if (lanes >= physics::kWarp || bytes < kBanks) return bytes;
  return bytes - (view + bytes - 4 * lanes + kBanks) % kBanks;
}

// The arena gets its percentage of the shared memory that the registers leave to each environment;
// the rest serves as L1 cache for the model and the rows.
cudaError_t plan_kernel(Kernel kernel, const ModelView& m, const Switches& s,
                        const cudaDeviceProp& card, KernelPlan& p) {
  p.threads_per_env = lanes_of(s.groups[kernel]);
  const TeamFunction made = function_of(kernel, m, p.threads_per_env, s);
  const void* const function = p.function = made.function;
  cudaFuncAttributes attributes;
  STICTION_TRY(cudaFuncGetAttributes(&attributes, function));
  p.threads_per_block = p.threads_per_env <= physics::kWarp ? physics::kWarp : kBlockThreads;
  p.static_bytes = static_cast<int>(attributes.sharedSizeBytes);
  p.registers = attributes.numRegs;
  p.local_bytes = static_cast<int>(attributes.localSizeBytes);
  if (p.threads_per_env == 1) return plan_thread(card, p);

  const int envs = p.threads_per_block / p.threads_per_env, view = view_bytes(made.view);
  int blocks = 0;
  STICTION_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, p.threads_per_block, static_cast<std::size_t>(envs * view)));
  if (blocks < 1) return cudaErrorLaunchOutOfResources;
  const auto fixed = card.reservedSharedMemPerBlock + attributes.sharedSizeBytes;
  const auto of_block =
      std::min(card.sharedMemPerMultiprocessor * static_cast<std::size_t>(s.arena_percent) / 100 /
                   static_cast<std::size_t>(blocks),
               card.sharedMemPerBlockOptin);
  const int room = (static_cast<int>(of_block) - static_cast<int>(fixed)) / envs - view;
  const Arena all = make_arena(kernel, m, 0);
  const int share = spread(p.threads_per_env, view, std::clamp(room, 0, most_bytes(all, m)));
  p.arena = make_arena(kernel, m, share, made.view);
  p.shared_bytes = envs * (view + share);
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
  return collide_function(m.colliders, s.collide_blocks).function != nullptr &&
         solve_function(s.solve_blocks).function != nullptr;
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

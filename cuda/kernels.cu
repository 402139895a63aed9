#include <algorithm>

#include "cuda/functions.h"
#include "cuda/group_team.h"
#include "cuda/kernels.cuh"

namespace stiction::cuda {
namespace {

using physics::ModelView;
using KernelFunction = void (*)(Launch, ModelView, Arena, int);
using StepFunction = void (*)(Launch, ModelView, StepArenas, int);

TeamFunction step_function(const ModelView& m) {
  using physics::Colliders;
  if (drives_of(m) > physics::Drives::plain) return step_of_states(m.colliders <= Colliders::boxes);
  switch (m.colliders) {
    case Colliders::round: return step_of_round();
    case Colliders::box:
    case Colliders::boxes: return step_of_boxes();
    case Colliders::convex:
    case Colliders::meshes: return step_of_meshes();
    case Colliders::hfields: return step_of_hfields();
  }
  return {};
}

TeamFunction team_function(Kernel k, const ModelView& m) {
  switch (k) {
    case Kernel::solve: return solve_by_block();
    case Kernel::refresh: return refresh_function(drives_of(m));
    case Kernel::solve_begin: return solve_begin_function();
    case Kernel::solve_next: return solve_next_function();
    default: return {};
  }
}

TeamFunction function_of(Kernel k, const ModelView& m, int threads) {
  if (threads == 1) return {reinterpret_cast<const void*>(thread_function(k)), {}};
  return is_of_step(k, threads) ? step_function(m) : team_function(k, m);
}

// Returns the bytes of all entries with every slot active.
int most_bytes(const Arena& a, const ModelView& m) {
  return physics::arena_bytes(a.end, m.nslot) + kArenaAlignment - 1;
}

#define STICTION_TRY(call) \
  if (const cudaError_t error = (call); error != cudaSuccess) return error

// All shared memory serves as L1 cache: it holds the threads' local memory and the rows.
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

// Returns the largest size up to `bytes` for which threads of different tiles, side by side in their arrays, access
// different banks.
int spread(int lanes, int view, int bytes) {
  constexpr int kBanks = 128;  // bytes
  bytes = bytes / kArenaAlignment * kArenaAlignment;
  if (lanes >= physics::kWarp || bytes < kBanks) return bytes;
  return bytes - (view + bytes - 4 * lanes + kBanks) % kBanks;
}

// Returns the largest arena of the kernels that share a function.
int arena_room(Kernel kernel, const ModelView& m, bool step) {
  int most = 0;
  for (int k = 0; k < kKernels; ++k)
    if (step ? k < kStepKernels : k == static_cast<int>(kernel))
      most = std::max(most, most_bytes(make_arena(static_cast<Kernel>(k), m, 0), m));
  return most;
}

// Finds how many blocks are resident on a multiprocessor if shared memory holds only their environments' views. If that
// memory is small, a block of `step` is halved until one fits.
cudaError_t find_block(int view, bool step, KernelPlan& p, int& blocks) {
  for (;;) {
    const int bytes = p.threads_per_block / p.threads_per_env * view;
    STICTION_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, p.function, p.threads_per_block, static_cast<std::size_t>(bytes)));
    if (blocks > 0 || !step || p.threads_per_block % (2 * physics::kWarp) != 0) return cudaSuccess;
    p.threads_per_block /= 2;
  }
}

// The arena gets its percentage of the shared memory available to each environment at the occupancy that
// registers allow; the rest serves as L1 cache for the model and the rows.
cudaError_t plan_kernel(Kernel kernel, const ModelView& m, const Switches& s, int num_envs,
                        const cudaDeviceProp& card, KernelPlan& p) {
  p.threads_per_env = lanes_of(s.groups[kernel]);
  const bool step = is_of_step(kernel, p.threads_per_env);
  const TeamFunction made = function_of(kernel, m, p.threads_per_env);
  const void* const function = p.function = made.function;
  cudaFuncAttributes attributes;
  STICTION_TRY(cudaFuncGetAttributes(&attributes, function));
  p.threads_per_block = p.threads_per_env <= physics::kWarp ? physics::kWarp : kBlockThreads;
  if (step)
    p.threads_per_block *=
        s.step_warps > 0 ? s.step_warps
                         : step_warps_of(p.threads_per_env, num_envs, card.multiProcessorCount);
  p.static_bytes = static_cast<int>(attributes.sharedSizeBytes);
  p.registers = attributes.numRegs;
  p.local_bytes = static_cast<int>(attributes.localSizeBytes);
  if (p.threads_per_env == 1) return plan_thread(card, p);

  // more than 48 KiB must be enabled for a function
  STICTION_TRY(cudaFuncSetAttribute(
      function, cudaFuncAttributeMaxDynamicSharedMemorySize,
      static_cast<int>(card.sharedMemPerBlockOptin - attributes.sharedSizeBytes)));
  const int view = view_bytes(made.view);
  int blocks = 0;
  STICTION_TRY(find_block(view, step, p, blocks));
  if (blocks < 1) return cudaErrorLaunchOutOfResources;
  const int envs = p.threads_per_block / p.threads_per_env;
  const auto fixed = card.reservedSharedMemPerBlock + attributes.sharedSizeBytes;
  const auto of_block =
      std::min(card.sharedMemPerMultiprocessor * static_cast<std::size_t>(s.arena_percent) / 100 /
                   static_cast<std::size_t>(blocks),
               card.sharedMemPerBlockOptin);
  const int room = (static_cast<int>(of_block) - static_cast<int>(fixed)) / envs - view;
  const int share =
      spread(p.threads_per_env, view, std::clamp(room, 0, arena_room(kernel, m, step)));
  p.arena = make_arena(kernel, m, share, made.view);
  p.shared_bytes = envs * (view + share);
  STICTION_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, p.threads_per_block, static_cast<std::size_t>(p.shared_bytes)));
  p.envs_per_sm = envs * blocks;
  p.occupancy = static_cast<double>(blocks * p.threads_per_block) /
                static_cast<double>(card.maxThreadsPerMultiProcessor);
  const auto used =
      static_cast<std::size_t>(blocks) * (static_cast<std::size_t>(p.shared_bytes) + fixed);
  const int percent = static_cast<int>(100 * used / card.sharedMemPerMultiprocessor) + 1;
  // never less than another batch has requested
  STICTION_TRY(
      cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                           std::max(attributes.preferredShmemCarveout, std::min(percent, 100))));
  return cudaSuccess;
}

}  // namespace

cudaError_t launch(Kernel kernel, const Launch& l, const RowTable& rows, const ModelView& m,
                   const Plan& plan, cudaStream_t stream) {
  if (plan.by_tiles(kernel)) return launch(set_of({kernel}), l, m, plan, stream);
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

cudaError_t launch(KernelSet kernels, const Launch& of, const ModelView& m, const Plan& plan,
                   cudaStream_t stream) {
  if (of.count == 0) return cudaSuccess;
  Launch l = of;
  l.kernels = kernels;
  StepArenas arenas;
  const KernelPlan* planned = nullptr;
  Kernel first{};
  for (int k = kStepKernels - 1; k >= 0; --k) {
    arenas.of[k] = plan.kernel[k].arena;
    if ((kernels >> k & 1) != 0) first = static_cast<Kernel>(k), planned = &plan.kernel[k];
  }
  const KernelPlan& p = *planned;
  const int envs = p.threads_per_block / p.threads_per_env, blocks = (l.count + envs - 1) / envs;
  if (plan.clock != nullptr) plan.clock->before(first, stream);
  reinterpret_cast<StepFunction>(
      p.function)<<<static_cast<unsigned>(blocks), static_cast<unsigned>(p.threads_per_block),
                    static_cast<std::size_t>(p.shared_bytes), stream>>>(l, m, arenas,
                                                                        p.threads_per_env);
  if (plan.clock != nullptr) plan.clock->after(stream);
  return cudaGetLastError();
}

const char* kernel_name(Kernel k) {
  constexpr const char* kNames[] = {"dynamics", "collide",     "solve",     "move",
                                    "refresh",  "solve_begin", "solve_next"};
  return kNames[static_cast<int>(k)];
}

cudaError_t make_plan(const ModelView& m, const Switches& switches, int num_envs, Plan& plan) {
  int device = 0;
  cudaDeviceProp card;
  STICTION_TRY(cudaGetDevice(&device));
  STICTION_TRY(cudaGetDeviceProperties(&card, device));
  for (int k = 0; k < kKernels; ++k) {
    plan.kernel[k] = {};
    if (!has_kernel(m, static_cast<Kernel>(k))) continue;
    STICTION_TRY(plan_kernel(static_cast<Kernel>(k), m, switches, num_envs, card, plan.kernel[k]));
  }
  return cudaSuccess;
}

}  // namespace stiction::cuda

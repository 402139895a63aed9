#include "cuda/device_lanes.h"
#include "cuda/episodes.cuh"

STICTION_PHYSICS_BEGIN
namespace {

constexpr int kThreads = 128;  // per block: four environments

template <class Task>
__global__ void __launch_bounds__(kThreads)
    task_by_warp(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                 const __grid_constant__ EpisodeLaunch episodes,
                 const __grid_constant__ Task task) {
  const DeviceLanes lanes(kWarp);
  const int env = static_cast<int>(blockIdx.x) * lanes.warps() + lanes.warp();
  if (env < l.count) run_task(GroupTeam(TileGroup(lanes)), m, l, episodes, task, env);
}

template <class Task>
__global__ void __launch_bounds__(kWarp)
    task_by_thread(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                   const __grid_constant__ EpisodeLaunch episodes,
                   const __grid_constant__ Task task) {
  const int env = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (env < l.count) run_task(GroupTeam(ThreadGroup()), m, l, episodes, task, env);
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

using physics::kThreads;
using physics::kWarp;

template <class Task>
cudaError_t launch_kernel(const TaskKernel& k, const void* task, const Launch& l,
                          const physics::ModelView& m, const EpisodeLaunch& episodes,
                          cudaStream_t stream) {
  using Function = void (*)(Launch, physics::ModelView, EpisodeLaunch, Task);
  const int threads = k.threads_per_env == 1 ? kWarp : kThreads, envs = threads / k.threads_per_env;
  reinterpret_cast<Function>(k.function)<<<(l.count + envs - 1) / envs, threads, 0, stream>>>(
      l, m, episodes, *static_cast<const Task*>(task));
  return cudaGetLastError();
}

template <class Task>
TaskKernel kernel_of(bool by_thread) {
  static_assert(sizeof(Task) <= kMostTaskBytes);
  TaskKernel k{launch_kernel<Task>, reinterpret_cast<const void*>(&physics::task_by_warp<Task>),
               physics::kWarp, sizeof(Task)};
  if constexpr (kTaskByThread<Task>)
    if (by_thread)
      k.function = reinterpret_cast<const void*>(&physics::task_by_thread<Task>),
      k.threads_per_env = 1;
  return k;
}

template <class... Tasks>
TaskKernel kernel_of(envs::TaskList<Tasks...>, int kind, bool by_thread) {
  static constexpr TaskKernel (*kKernels[])(bool) = {kernel_of<Tasks>...};
  return kKernels[kind](by_thread);
}

}  // namespace

TaskKernel task_kernel(int kind, bool by_thread) {
  return kernel_of(envs::AllTasks(), kind, by_thread);
}
cudaError_t load(TaskKernel& kernel) {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel.function);
  if (error == cudaSuccess) kernel.local_bytes = static_cast<int>(attributes.localSizeBytes);
  return error;
}

}  // namespace stiction::cuda

#include "cuda/device_lanes.h"
#include "cuda/episodes.cuh"
#include "envs/all.h"

STICTION_PHYSICS_BEGIN
namespace {

constexpr int kThreads = 128;  // of a block: four environments

template <class Task>
__global__ void __launch_bounds__(kThreads)
    task_kernel(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                const __grid_constant__ EpisodeLaunch episodes, const __grid_constant__ Task task) {
  const DeviceLanes lanes(nullptr);
  const int env = static_cast<int>(blockIdx.x) * lanes.warps() + lanes.warp();
  if (env < l.count) run_task(LaneTeam(WarpGroup(lanes)), m, l, episodes, task, env);
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

struct TaskKernel {
  cudaError_t (*launch)(const void* task, const Launch& l, const physics::ModelView& m,
                        const EpisodeLaunch& episodes, cudaStream_t stream);
  const void* function;
  int bytes;
};

template <class Task>
cudaError_t launch_kernel(const void* task, const Launch& l, const physics::ModelView& m,
                          const EpisodeLaunch& episodes, cudaStream_t stream) {
  constexpr int kEnvs = physics::kThreads / physics::kWarp;
  physics::task_kernel<Task><<<(l.count + kEnvs - 1) / kEnvs, physics::kThreads, 0, stream>>>(
      l, m, episodes, *static_cast<const Task*>(task));
  return cudaGetLastError();
}

template <class Task>
const void* function_of() {
  return reinterpret_cast<const void*>(&physics::task_kernel<Task>);
}

template <class... Tasks>
const TaskKernel& kernel_of(envs::TaskList<Tasks...>, int kind) {
  static_assert(((sizeof(Tasks) <= kMostTaskBytes) && ...));
  static const TaskKernel kKernels[] = {
      {launch_kernel<Tasks>, function_of<Tasks>(), sizeof(Tasks)}...};
  return kKernels[kind];
}

}  // namespace

cudaError_t launch_task(int kind, const void* task, const Launch& l, const physics::ModelView& m,
                        const EpisodeLaunch& episodes, cudaStream_t stream) {
  return kernel_of(envs::AllTasks(), kind).launch(task, l, m, episodes, stream);
}
cudaError_t load_task(int kind) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel_of(envs::AllTasks(), kind).function);
}
int task_bytes(int kind) {
  return kernel_of(envs::AllTasks(), kind).bytes;
}

}  // namespace stiction::cuda

// How the kernels of tasks are launched: by a warp per environment, or by a thread.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/episodes.h"

namespace stiction::cuda {

// Upper bound on the struct of a task of any kind.
inline constexpr int kMostTaskBytes = 2048;

struct TaskKernel {
  cudaError_t (*launch)(const TaskKernel& kernel, const void* task, const Launch& l,
                        const physics::ModelView& m, const EpisodeLaunch& episodes,
                        cudaStream_t stream);
  const void* function;
  int threads_per_env;  // one or a warp
  int task_bytes;       // its struct, which lies on the host
  int local_bytes = 0;  // per thread: stack and spills; of a kernel that was loaded
};

// `kind` is the task's place in envs::AllTasks; `by_thread` is how the physics runs.
TaskKernel task_kernel(int kind, bool by_thread);
// Loads the kernel onto the device, which must be done before a graph that has it is captured.
cudaError_t load(TaskKernel& kernel);

}  // namespace stiction::cuda

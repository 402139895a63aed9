// Launches of the kernels of tasks: with a warp or a single thread per environment.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/episodes.h"

namespace stiction::cuda {

// Upper bound on the size of the struct of any task.
inline constexpr int kMostTaskBytes = 2048;

struct TaskKernel {
  cudaError_t (*launch)(const TaskKernel& kernel, const void* task, const Launch& l,
                        const physics::ModelView& m, const EpisodeLaunch& episodes,
                        cudaStream_t stream);
  const void* function;
  int threads_per_env;  // one or a warp
  int task_bytes;       // size of its struct, which lies on the host
  int local_bytes = 0;  // per thread: stack and spills; set when the kernel is loaded
};

// `kind`: index of the task in envs::AllTasks; `by_thread`: whether single threads run the physics.
TaskKernel task_kernel(int kind, bool by_thread);
// Loads the kernel onto the device, which must be done before a graph with it is captured.
cudaError_t load(TaskKernel& kernel);

}  // namespace stiction::cuda

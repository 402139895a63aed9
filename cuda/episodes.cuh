// How the kernels of tasks are launched: a warp per environment.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/episodes.h"

namespace stiction::cuda {

// Room for what a task of any kind is.
inline constexpr int kMostTaskBytes = 2048;

// `kind` is the task's place in envs::AllTasks; its struct lies on the host.
cudaError_t launch_task(int kind, const void* task, const Launch& l, const physics::ModelView& m,
                        const EpisodeLaunch& episodes, cudaStream_t stream);
int task_bytes(int kind);
// Loads it: a capture can't.
cudaError_t load_task(int kind);

}  // namespace stiction::cuda

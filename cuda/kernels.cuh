// How the kernels are launched. A plan is made once for a model and a device; a launch only
// enqueues, so that it can be captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/arena.h"
#include "cuda/launch.h"

namespace stiction::cuda {

const char* kernel_name(Kernel k);

struct KernelPlan {
  int lanes;  // of an environment: a warp, or the whole block
  int threads_per_block;
  int shared_bytes;  // dynamic, per block
  int static_bytes;  // static shared memory, per block
  int registers;     // per thread
  int local_bytes;   // per thread: stack and spills
  int envs_per_sm;   // resident
  Arena arena;
};
struct Plan {
  KernelPlan kernel[kKernels];
  const KernelPlan& operator[](Kernel k) const { return kernel[static_cast<int>(k)]; }
};

// For the current device. Pointers of the model are not read, only its sizes.
cudaError_t make_plan(const physics::ModelView& model, Plan& plan);

// The model's pointers and those of the launch are to device memory; launch.fields has rows for all
// fields but those of unused_on_device (arena.h).
cudaError_t launch(Kernel kernel, const Launch& l, const physics::ModelView& m, const Plan& plan,
                   cudaStream_t stream);

}  // namespace stiction::cuda

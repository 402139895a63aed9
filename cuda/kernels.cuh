// How the kernels are launched. A plan is made once for a model and a device; a launch only
// enqueues, so that it can be captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/arena.h"
#include "cuda/kernel_clock.h"
#include "cuda/launch.h"
#include "cuda/switches.h"

namespace stiction::cuda {

const char* kernel_name(Kernel k);

struct KernelPlan {
  const void* function;
  int threads_per_env;  // one, those of a tile, or the whole block; 0: the model has no such kernel
  int threads_per_block;
  int shared_bytes;  // dynamic, per block
  int static_bytes;  // static shared memory, per block
  int registers;     // per thread
  int local_bytes;   // per thread: stack and spills
  int envs_per_sm;   // resident
  double occupancy;  // share of a multiprocessor's threads that are resident
  Arena arena;
};
struct Plan {
  KernelPlan kernel[kKernels];
  KernelClock* clock = nullptr;  // null: kernels are not timed
  const KernelPlan& operator[](Kernel k) const { return kernel[static_cast<int>(k)]; }
  int most_local_bytes() const {
    int most = 0;
    for (const KernelPlan& p : kernel) most = p.local_bytes > most ? p.local_bytes : most;
    return most;
  }
};

// Whether this build has kernels for the model with so many blocks per multiprocessor; 0: it has.
bool has_blocks(const physics::ModelView& model, const Switches& switches);

// For the current device, with the groups that `switches` says, none of which is `chosen`. Pointers of the model
// are not read, only its sizes. A thread only where fits_thread (launch.h); a block serves `solve` alone.
cudaError_t make_plan(const physics::ModelView& model, const Switches& switches, Plan& plan);

// The model's pointers and those of the launch are to device memory; launch.fields has rows for all
// fields but those of unused_on_device (arena.h), and `rows` is a copy of it on the host.
cudaError_t launch(Kernel kernel, const Launch& l, const RowTable& rows,
                   const physics::ModelView& m, const Plan& plan, cudaStream_t stream);

}  // namespace stiction::cuda

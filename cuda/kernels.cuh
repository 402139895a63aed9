// Launches of the kernels. A plan is made once for a model and a device; a launch only
// enqueues, so that it can be captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>

#include "cuda/arena.h"
#include "cuda/group_team.h"
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
  double occupancy;  // resident fraction of the threads of a multiprocessor
  Arena arena;
};
// Returns whether `step` includes the kernel: if tiles execute it.
constexpr bool is_of_step(Kernel k, int threads_per_env) {
  return static_cast<int>(k) < kStepKernels && threads_per_env > 1 &&
         threads_per_env <= physics::kWarp;
}
// A set of these kernels, as in Launch::kernels: bit k is kernel k.
enum KernelSet : std::uint32_t {};
constexpr KernelSet set_of(std::initializer_list<Kernel> kernels) {
  std::uint32_t bits = 0;
  for (const Kernel k : kernels) bits |= 1u << static_cast<int>(k);
  return KernelSet{bits};
}

struct Plan {
  KernelPlan kernel[kKernels];
  KernelClock* clock = nullptr;  // null: kernels are not timed
  const KernelPlan& operator[](Kernel k) const { return kernel[static_cast<int>(k)]; }
  bool by_tiles(Kernel k) const { return is_of_step(k, (*this)[k].threads_per_env); }
  int most_local_bytes() const {
    int most = 0;
    for (const KernelPlan& p : kernel) most = p.local_bytes > most ? p.local_bytes : most;
    return most;
  }
};

// Plans for the current device and this many environments, with the groups in `switches`, none of which is `chosen`.
// Reads sizes of the model, not its pointers. A single thread only if fits_thread (launch.h); a block only for
// `solve`.
cudaError_t make_plan(const physics::ModelView& model, const Switches& switches, int num_envs,
                      Plan& plan);

// The pointers of the model and of the launch are device pointers; launch.fields has rows for all
// fields except those of unused_on_device (arena.h), and `rows` is a copy of it on the host.
cudaError_t launch(Kernel kernel, const Launch& l, const RowTable& rows,
                   const physics::ModelView& m, const Plan& plan, cudaStream_t stream);
// Launches some of the kernels that tiles execute, for launch.steps steps. Timed as the first of them.
cudaError_t launch(KernelSet kernels, const Launch& l, const physics::ModelView& m,
                   const Plan& plan, cudaStream_t stream);

}  // namespace stiction::cuda

// The kernels with one thread per environment.
#include "cuda/functions.h"
#include "cuda/thread.h"

STICTION_PHYSICS_BEGIN
namespace {

using cuda::Kernel;

// Warps resident on a multiprocessor without spills. Each is a block, so that even few environments are spread
// over all multiprocessors.
template <Kernel kernel>
constexpr int kThreadWarps = kernel == Kernel::dynamics || kernel == Kernel::solve ? 16 : 8;

template <Kernel kernel>
__global__ void __launch_bounds__(kWarp, kThreadWarps<kernel>)
    thread_per_env(const __grid_constant__ Launch l, const __grid_constant__ ModelView m,
                   const __grid_constant__ RowTable table) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < l.count) run_by_thread<kernel>(m, l, table, l.envs != nullptr ? l.envs[i] : i);
}

}  // namespace
STICTION_PHYSICS_END

namespace stiction::cuda {

ThreadFunction thread_function(Kernel k) {
  switch (k) {
    case Kernel::dynamics: return physics::thread_per_env<Kernel::dynamics>;
    case Kernel::collide:      // fits_thread: no pairs
    case Kernel::solve_begin:  // rounds with a library use warps
    case Kernel::solve_next: return nullptr;
    case Kernel::solve: return physics::thread_per_env<Kernel::solve>;
    case Kernel::move: return physics::thread_per_env<Kernel::move>;
    case Kernel::refresh: return physics::thread_per_env<Kernel::refresh>;
  }
  return nullptr;
}

}  // namespace stiction::cuda

// The kernels' functions on the device, each in a file of its own: dynamics.cu, collide.cu and so on.
#pragma once

#include "cuda/arena.h"

namespace stiction::cuda {

inline constexpr int kBlockThreads = 128;  // of a block that has one environment

// A kernel by a tile or a block, and the fields of its view; null: not in this build.
struct TeamFunction {
  const void* function;
  ViewFields view;
};
constexpr int view_bytes(const ViewFields& view) {
  return (view.count * static_cast<int>(sizeof(void*)) + kArenaAlignment - 1) & -kArenaAlignment;
}
// `blocks` per multiprocessor, 0: as many as it is tuned for.
TeamFunction dynamics_function(physics::Drives can);
TeamFunction collide_function(physics::Colliders has, int blocks);
TeamFunction solve_function(int blocks);
TeamFunction solve_by_block();
TeamFunction solve_begin_function();
TeamFunction solve_next_function();
TeamFunction move_function(physics::Drives can);
TeamFunction refresh_function(physics::Drives can);
// Null: no thread has this kernel.
using ThreadFunction = void (*)(Launch, physics::ModelView, RowTable);
ThreadFunction thread_function(Kernel k);

}  // namespace stiction::cuda

// The kernels' functions on the device: step*.cu, solve.cu, refresh.cu and threads.cu have them.
#pragma once

#include "cuda/arena.h"

namespace stiction::cuda {

inline constexpr int kBlockThreads = 128;  // of a block that has one environment

// A kernel by a tile or a block, and the fields of its view; null: no tile or block has it.
struct TeamFunction {
  const void* function;
  ViewFields view;
};
constexpr int view_bytes(const ViewFields& view) {
  return (view.count * static_cast<int>(sizeof(void*)) + kArenaAlignment - 1) & -kArenaAlignment;
}
// `step` by tiles (step.cuh), by the colliders that it has, and with strings and states. Compiling one takes half a minute.
TeamFunction step_of_round();
TeamFunction step_of_boxes();
TeamFunction step_of_meshes();
TeamFunction step_of_hfields();
TeamFunction step_of_states(bool boxes_at_most);
TeamFunction solve_by_block();
TeamFunction solve_begin_function();
TeamFunction solve_next_function();
TeamFunction refresh_function(physics::Drives can);
// Null: no thread has this kernel.
using ThreadFunction = void (*)(Launch, physics::ModelView, RowTable);
ThreadFunction thread_function(Kernel k);

}  // namespace stiction::cuda

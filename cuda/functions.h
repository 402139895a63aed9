// The device functions of the kernels, defined in step*.cu, solve.cu, refresh.cu and threads.cu.
#pragma once

#include "cuda/arena.h"

namespace stiction::cuda {

inline constexpr int kBlockThreads = 128;  // threads of a block that works on one environment

// A kernel for a tile or a block, and the fields of its view; null: not available for tiles or blocks.
struct TeamFunction {
  const void* function;
  ViewFields view;
};
constexpr int view_bytes(const ViewFields& view) {
  return (view.count * static_cast<int>(sizeof(void*)) + kArenaAlignment - 1) & -kArenaAlignment;
}
// `step` for tiles (step.cuh), by colliders, and with spatial tendons and activations. Each compiles for half a minute.
TeamFunction step_of_round();
TeamFunction step_of_boxes();
TeamFunction step_of_meshes();
TeamFunction step_of_hfields();
TeamFunction step_of_states(bool boxes_at_most);
TeamFunction solve_by_block();
TeamFunction solve_begin_function();
TeamFunction solve_next_function();
TeamFunction refresh_function(physics::Drives can);
// Null: the kernel is not available for single threads.
using ThreadFunction = void (*)(Launch, physics::ModelView, RowTable);
ThreadFunction thread_function(Kernel k);

}  // namespace stiction::cuda

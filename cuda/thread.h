// One thread per environment, for models too small to keep the threads of a warp busy: 32
// environments share each instruction. Fields that only one kernel uses lie in the thread's
// local memory, where the hardware interleaves the words of 32 threads; the others are rows
// in global memory.
#pragma once

#include <cstring>

#include "cuda/kernels.h"
#include "cuda/one_lane.h"

namespace stiction::cuda {

// Returns whether a field is scratch of this kernel alone: `own` in its arena lists.
constexpr bool is_own(Kernel kernel, physics::Field field) {
  bool found = false;
  const auto take = [&](physics::Field f, bool per_point, bool loaded, bool stored) {
    found = found || (f == field && !per_point && !loaded && !stored);
  };
  ArenaLists(kernel, {}, take);
  return found;
}

}  // namespace stiction::cuda

STICTION_PHYSICS_BEGIN

// ---- without pairs there are no contact points

template <class S>
STICTION_FN void live_points(const GroupTeam<ThreadGroup>&, const ModelView&, EnvView<S>& e, bool,
                             LivePoints) {
  e.nlive[0] = e.nlivecross[0] = 0;
}
template <class S>
STICTION_FN void point_velocities(const GroupTeam<ThreadGroup>&, const ModelView&, EnvView<S>&,
                                  const S*, S*, S*) {}
template <class S>
STICTION_FN void contact_impulses(const GroupTeam<ThreadGroup>&, const ModelView& m, EnvView<S>&,
                                  S* out) {
  for (int i = 0; i < m.nv; ++i) out[i] = S(0.0);
}
template <class S>
STICTION_FN void composite_curvature(const GroupTeam<ThreadGroup>&, const ModelView&, EnvView<S>&) {
}
template <class S>
STICTION_FN void advance_rebounds(const GroupTeam<ThreadGroup>&, const ModelView&, EnvView<S>&,
                                  const Mask<S>&) {}

// ---- and no medium

template <class S>
STICTION_FN void fluid(const GroupTeam<ThreadGroup>&, const ModelView&, EnvView<S>&) {}

// ---- the thread's local memory

using cuda::RowTable;
STICTION_FN std::byte* row_in(const RowTable& table, Field field, int env) {
  const cuda::FieldRows& r = table.of[static_cast<int>(field)];
  return r.first + r.stride * static_cast<std::size_t>(env);
}

// Storage of a field, if it is the thread's own.
template <class T, int n, bool own>
struct ThreadField {
#ifndef __CUDACC__
  ThreadField() {
    std::memset(numbers, 0xff, sizeof numbers);
  }  // NaN: unwritten
#endif
  STICTION_FN T* place(std::byte*) {
    return numbers;
  }
  T numbers[n];
};
template <class T, int n>
struct ThreadField<T, n, false> {
  STICTION_FN T* place(std::byte* row) { return reinterpret_cast<T*>(row); }
};

// Runs a kernel for one environment. Each pointer is a named variable and the rows are kernel arguments, so
// that pointers are neither stored in memory nor kept long in registers.
template <cuda::Kernel kernel>
STICTION_FN void run_by_thread(const ModelView& m, const Launch& l, const RowTable& table,
                               int env) {
  const GroupTeam<ThreadGroup> team{ThreadGroup()};
  if (kernel != cuda::Kernel::dynamics && l.records.store[env] == 0) return;
  using wide = double;
  using real = float;
  using index = int;
  using Most = cuda::ThreadSizes;
  EnvView<float> e;
// names of types and members can't stand in parentheses
#define X(kind, type, name, rows, columns, producer, meaning)                            \
  /* NOLINTNEXTLINE(bugprone-macro-parentheses) */                                       \
  ThreadField<type, Most::rows * Most::columns, cuda::is_own(kernel, Field::name)> name; \
  /* NOLINTNEXTLINE(bugprone-macro-parentheses) */                                       \
  e.name = name.place(row_in(table, Field::name, env));
#include "physics/base/fields.def"
#undef X
  int none = 0;
  e.ncand = e.npoint = &none;
  bind_structure(team, m, e);
  kernel_body<kernel>(team, m, l, StepOfRun{l.first, l.last, l.left}, env, e);
}

STICTION_PHYSICS_END

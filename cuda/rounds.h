// The solve in rounds, for a library that factors the matrices of all environments at once: the parts
// of physics/solver/solve.h before and after a linear system, and the state of an environment between them.
//
//   solve_begin | while any environment waits for a solution: the library, solve_next
#pragma once

#include <type_traits>

#include "cuda/launch.h"
#include "physics/solver/solve.h"

STICTION_PHYSICS_BEGIN

struct RoundState {
  SolveState<float> solve;
  bool waiting;  // for the solution of a linear system
};
static_assert(std::is_trivially_copyable_v<RoundState>);

STICTION_FN RoundState& round_state(const Launch& l, int env) {
  return reinterpret_cast<RoundState*>(l.rounds.states)[env];
}
STICTION_FN float* round_vector(const ModelView& m, const Launch& l, int env) {
  return l.rounds.vectors + static_cast<std::size_t>(env) * static_cast<std::size_t>(m.nv);
}

// Writes H x = r for the library; 1 x = 0 if the environment does not wait for a solution.
template <class Team, class S>
STICTION_FN void write_system(const Team& team, const ModelView& m, const Launch& l, int env,
                              const EnvView<S>& e, bool waiting) {
  const auto n = static_cast<std::size_t>(m.nv);
  float* const H = l.rounds.matrices + static_cast<std::size_t>(env) * n * n;
  float* const x = round_vector(m, l, env);
  team.for_each(m.nv * m.nv, [&](int k) {
    const int i = k % m.nv, j = k / m.nv;
    if (j > i) return;
    H[k] = waiting ? e.H[place(e, i, j)] : (i == j ? 1.0f : 0.0f);
  });
  team.for_each(m.nv, [&](int i) { x[i] = waiting ? e.gradient[i] : 0.0f; });
}

// The loop of `iterate`, from the end of an iteration up to the next linear system or to the end.
template <class Team, class S>
STICTION_FN void next_system(const Team& team, const ModelView& m, const Launch& l, int env,
                             EnvView<S>& e, RoundState& r) {
  judge(team, m, e, r.solve, 0);
  r.waiting = r.solve.active;
  if (r.waiting) assemble(team, m, e, r.solve);
  write_system(team, m, l, env, e, r.waiting);
  if (!r.waiting) end_solve(team, m, e, r.solve);
  team.once([&] {
    round_state(l, env) = r;
    if (r.waiting) *l.rounds.waiting = 1;
  });
}

template <class Team, class S>
STICTION_FN void solve_begin_body(const Team& team, const ModelView& m, const Launch& l, int env,
                                  EnvView<S>& e) {
  no_rows(team, m, e);
  RoundState r{};
  start_solve(team, m, e, r.solve);
  next_system(team, m, l, env, e, r);
}

template <class Team, class S>
STICTION_FN void solve_next_body(const Team& team, const ModelView& m, const Launch& l, int env,
                                 EnvView<S>& e) {
  RoundState r = round_state(l, env);
  if (!r.waiting) return;
  // if the library could not factor the matrix there is no direction
  const bool factored = l.rounds.info[env] == 0;
  const float* const x = round_vector(m, l, env);
  team.for_each(m.nv, [&](int i) { e.dv[i] = factored ? x[i] : 0.0f; });
  r.solve.failed = r.solve.failed || (r.solve.active && !factored);
  r.solve.active = r.solve.active && factored;
  move_iterate(team, m, e, r.solve);
  next_system(team, m, l, env, e, r);
}

STICTION_PHYSICS_END

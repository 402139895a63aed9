// The bodies of the kernels: the work of a team on one environment. A step is
//
//   dynamics | collide | solve | move      and after the last one   refresh
//
// or, with factorization by a library, solve_begin and solve_next instead of solve (rounds.h);
// the stages are in the order of physics/step.h. Scratch of a kernel that no other kernel reads may be
// placed in the arena (arena.h); everything else is in the environment's own rows. Only `solve` has no
// wide numbers.
#pragma once

#include "cuda/anchor_lists.h"
#include "cuda/arena.h"
#include "cuda/jacobian.h"
#include "cuda/linear_algebra.h"
#include "cuda/lists.h"
#include "cuda/rounds.h"
#include "cuda/step_status.h"
#include "physics/step.h"

STICTION_PHYSICS_BEGIN

// Sets the results of collide for a model without pairs: no points.
template <class Team, class S>
STICTION_FN void no_points(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nbody + 1, [&](int b) { e.body_pointadr[b] = 0; });
  team.once([&] {
    e.ncand[0] = e.npoint[0] = 0;
    e.ncon[0] = 0.0f;
  });
}

template <Drives can, class Team, class S>
STICTION_FN void dynamics_body(const Team& team, const ModelView& m, const Launch& l,
                               const StepOfRun& step, int env, EnvView<S>& e) {
  if (!begin_step<can>(team, m, l, step, env, e)) return;
  clear_flags(team, m, e);
  mocap(team, m, e, step.left);
  kinematics(team, m, e);
  tendons_up_to<can>(team, m, e);
  inertia(team, m, e);
  bias(team, m, e);
  fluid(team, m, e);
  if constexpr (can == Drives::states) activation_dynamics(team, m, e);
  actuation_up_to<can>(team, m, e);
  gyroscopic_start(team, m, e);
  rows_up_to<can>(team, m, e);
  if (!cuda::has_kernel(m, cuda::Kernel::collide)) no_points(team, m, e);
}

template <Colliders has, class Team, class S>
STICTION_FN void collide_body(const Team& team, const ModelView& m, const Launch& l, int env,
                              EnvView<S>& e) {
  if (l.records.store[env] != 0) collide_with<has>(team, m, e);
}

template <class Team, class S>
STICTION_FN void solve_body(const Team& team, const ModelView& m, const Launch& l, int env,
                            EnvView<S>& e) {
  if (l.records.store[env] == 0) return;
  no_rows(team, m, e);
  solve(team, m, e);
}

// Sensors of the interval, the new state, its status and counters.
template <Drives can, class Team, class S>
STICTION_FN void move_body(const Team& team, const ModelView& m, const Launch& l,
                           const StepOfRun& step, int env, EnvView<S>& e) {
  if (l.records.store[env] == 0) return;
  gyroscopic_end(team, m, e);
  if (step.last) interval_sensors(team, m, e);
  if (!l.moves) return;
  integrate_up_to<can>(team, m, e);
  replace_bad_mocap(team, m, l, e);
  move_mocap(team, m, e, step.left);
  count_step(team, m, l, env, e);
}

template <Drives can, class Team, class S>
STICTION_FN void refresh_body(const Team& team, const ModelView& m, const Launch& l, int env,
                              EnvView<S>& e) {
  if (l.records.store[env] == 0) return;
  replace_bad_mocap(team, m, l, e);
  refresh<can>(team, m, e);
  clean_outputs(team, m, l, env, e);
}

template <cuda::Kernel kernel, Colliders has = Colliders::boxes, Drives can = Drives::plain,
          class Team, class S>
STICTION_FN void kernel_body(const Team& team, const ModelView& m, const Launch& l,
                             const StepOfRun& step, int env, EnvView<S>& e) {
  using cuda::Kernel;
  if constexpr (kernel == Kernel::dynamics) dynamics_body<can>(team, m, l, step, env, e);
  if constexpr (kernel == Kernel::collide) collide_body<has>(team, m, l, env, e);
  if constexpr (kernel == Kernel::solve) solve_body(team, m, l, env, e);
  if constexpr (kernel == Kernel::move) move_body<can>(team, m, l, step, env, e);
  if constexpr (kernel == Kernel::refresh) refresh_body<can>(team, m, l, env, e);
  if constexpr (kernel == Kernel::solve_begin) solve_begin_body(team, m, l, env, e);
  if constexpr (kernel == Kernel::solve_next) solve_next_body(team, m, l, env, e);
}

// The structure of a dense factor is that of the model.
template <SerialTeam Team, class S>
STICTION_FN void bind_structure(const Team&, const ModelView&, EnvView<S>&) {}
template <class Group, class S>
STICTION_FN void bind_structure(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  if constexpr (requires { e.row_num; })
    team.once([&] { e.row_num = const_cast<int*>(m.row_num); });
}

// The first kernel decides whether the environment is computed; the others follow.
template <cuda::Kernel kernel, class Team>
STICTION_FN bool takes_part(const Team& team, const Launch& l, const StepOfRun& step, int env) {
  if constexpr (kernel == cuda::Kernel::dynamics) return is_chosen(team, l, step, env);
  return l.records.store[env] != 0;
}

// Binds a view to the rows of an environment.
template <class Team, class S>
STICTION_FN void bind(const Team& team, const ModelView& m, const Launch& l, int env,
                      const ViewFields& view, EnvView<S>& e) {
  bind_rows(team, l, env, view, e);
  bind_structure(team, m, e);
}

// Runs a kernel for one environment whose rows are bound to `e`; `share`: fast memory of the group.
template <cuda::Kernel kernel, Colliders has = Colliders::boxes, Drives can = Drives::plain,
          class Team, class S>
STICTION_FN void run_bound(const Team& team, const ModelView& m, const Launch& l,
                           const StepOfRun& step, int env, const Arena& arena, std::byte* share,
                           EnvView<S>& e) {
  if (!takes_part<kernel>(team, l, step, env)) return;
  int npoint = 0;
  if constexpr (kernel == cuda::Kernel::solve) npoint = e.npoint[0];
  enter_arena(team, l, env, arena, share, npoint, e);
  kernel_body<kernel, has, can>(team, m, l, step, env, e);
  leave_arena(team, l, env, arena, npoint, e);
}

// Runs a kernel that is a separate launch, or that a team runs alone: first binds the view, which lies in memory shared
// by all threads of the team.
template <cuda::Kernel kernel, Colliders has = Colliders::boxes, Drives can = Drives::plain,
          class Team, class S>
STICTION_FN void run_kernel(const Team& team, const ModelView& m, const Launch& l, int env,
                            const Arena& arena, std::byte* share, EnvView<S>& e) {
  const StepOfRun step = {l.first, l.last, l.left};
  if (!takes_part<kernel>(team, l, step, env)) return;
  bind(team, m, l, env, arena.view, e);
  run_bound<kernel, has, can>(team, m, l, step, env, arena, share, e);
}

STICTION_PHYSICS_END

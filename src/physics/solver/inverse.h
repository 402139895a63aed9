// Inverse dynamics of a step: the generalized force with which it ends with a given acceleration.
//
// inverse  in   qacc: the acceleration; all that solve reads but its start
//          out  gradient r, solver_residual of it; v, v_free, qacc_warmstart, rows_act are lost
//
// The problem of a step has its minimum v where A (v − v*) = Jᵀγ(v) + rows(v). Here v is given, so the
// impulses are known, and
//
//   r = A (v − v*) − Jᵀγ(v) − rows(v),  v = v0 + δt qacc
//
// is the generalized impulse that is missing: with r/δt in qfrc_applied v* moves by A⁻¹ r and v is the
// minimum, as far as constraints do not know of applied forces. Which points are in the problem, and how
// stiff a limit is, follows from the motion without them: whoever adds r/δt asks again until r is 0. Where the
// bounds of friction follow the normal impulses they are n(v_n) of this v: the fixed point, without an iteration.
// With a number of friction_iterations they are those of the first solve.
#pragma once

#include "physics/solver/friction_follow.h"
#include "physics/tree/gyroscopic.h"

STICTION_PHYSICS_BEGIN

// Contracts by δt |Ω|/2 in each.
inline constexpr int kMiddleIterations = 40;

// e.v, at first the velocity at the end of the step, becomes that of the solve: gyroscopic_end the other
// way round, by v ← v + (end − end(v)).
template <class Team, class S>
STICTION_FN void before_second_half(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S dt = S(m.opt.timestep);
  team.for_each(m.nturn, [&](int n) {
    for (int k = 0; k < kMiddleIterations; ++k) {
      turn_after(m, e, n);
      for_turning_dofs(m, e, n, [&](int i, const S& end) {
        e.v[i] = e.v[i] + (e.qvel[i] + dt * e.qacc[i] - end);
      });
    }
  });
}

template <class Team, class S>
STICTION_FN void inverse(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S dt = S(m.opt.timestep), rate = S(m.opt.step_rate);
  team.for_each(m.nv, [&](int i) { e.v[i] = e.qvel[i] + dt * e.qacc[i]; });
  before_second_half(team, m, e);
  // either start of the solve is this v, and no lane takes v_free for the solution
  team.for_each(m.nv, [&](int i) {
    e.v_free[i] = e.v[i];
    e.qacc_warmstart[i] = rate * (e.v[i] - e.qvel[i]);
  });
  team.once([&] { e.rows_act[0] = S(1.0); });
  SolveState<S> s;
  start(team, m, e, s);
  if (m.opt.friction_follows) {
    set_bounds(team, m, e, all_lanes<S>());
    begin_again(team, m, e, s, all_lanes<S>());
  }
  residual(team, m, e, s);
  team.once([&] { e.solver_residual[0] = s.residual; });
}

STICTION_PHYSICS_END

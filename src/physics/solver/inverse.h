// Inverse dynamics of a step: the generalized force with which the step ends with a given acceleration.
//
// inverse  in   qacc: the acceleration; all that solve reads except its warm start
//          out  gradient r, solver_residual; overwrites v, v_free, qacc_warmstart, rows_act
//
// The problem of a step has its minimum v where A (v − v*) = Jᵀγ(v) + rows(v). Here v is given, hence the
// impulses are known, and
//
//   r = A (v − v*) − Jᵀγ(v) − rows(v),  v = v0 + δt qacc
//
// is the missing generalized impulse: with r/δt in qfrc_applied v* moves by A⁻¹ r and v is the minimum, provided
// that constraints do not depend on applied forces. Which points are in the problem, and how stiff a limit is,
// follows from the motion without constraints: a caller that adds r/δt asks again until r is 0. Where the friction
// bounds follow the normal impulses they are n(v_n) of this v: the fixed point, without an iteration.
// With a fixed number of friction_iterations they are those of the first solve.
#pragma once

#include "physics/solver/friction_follow.h"
#include "physics/tree/gyroscopic.h"

STICTION_PHYSICS_BEGIN

// Each iteration contracts the error by δt |Ω|/2.
inline constexpr int kMiddleIterations = 40;

// Turns e.v, the velocity at the end of the step, into the velocity of the solve: inverts gyroscopic_end by the
// fixed-point iteration v ← v + (end − end(v)).
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
  // both candidate starts of the solve are this v, and no lane takes v_free for the solution
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

// The convex problem of a step: min over v of ½ (v − v*)ᵀ A (v − v*) + Σ ℓ(J v), by Newton's method
// from the first iterate of solve_start.h. The momentum p = A (v − v*) moves with the iterate, so that
// v* is never formed. With `friction_iterations` the problem is solved again from there with the new
// bounds of friction.
//
// solve    in   A, qfrc_smooth, qacc_warmstart, row_law, points, cand_active, v_free, rows_act
//          out  v, qacc, qfrc_constraint, qfrc_actuator (adds servos), xfrc_contact, point_vel,
//               point_impulse, point_couple, point_n0, point_eps, solver_niter, solver_nls, solver_residual, flags
#pragma once

#include "physics/friction_bounds.h"
#include "physics/solve_start.h"
#include "physics/status.h"

STICTION_PHYSICS_BEGIN

// Lanes that are done leave: converged, not finite, or only round-off is left.
template <class S>
STICTION_FN void leave(const ModelView& m, SolveState<S>& s, int k) {
  // bounding curvatures end wherever the tolerance begins, and the next steps would start with that error:
  // an exact iteration has the last word
  const S tolerance = S(m.opt.solver_tolerance);
  const S enough = select(s.bounded, tolerance * tolerance, tolerance);
  s.active = s.active && !(s.residual <= enough);
  s.bad = s.bad || (s.active && !is_finite(s.residual));
  s.active = s.active && is_finite(s.residual);
  if (k == 0) return;

  // flat: a full step promised less than the round-off of the cost, and the residual did not halve;
  // with bounding curvatures it need not
  const Mask<S> flat = s.full_step && !s.bounded &&
                       s.decrease <= S(epsilon<S>()) * (s.scale * s.scale) &&
                       s.residual > S(0.5) * s.last_residual;
  s.flat_steps = select(flat, s.flat_steps + S(1.0), S(0.0));
  const Mask<S> stall = s.active && (s.flat_steps > S(1.5) || s.small_steps > S(1.5));
  s.stalled = s.stalled || stall;
  s.active = s.active && !stall;
}

// From H⁻¹ r to Δv = −H⁻¹ r, 0 in finished lanes; returns r·Δv
template <class Team, class S>
STICTION_FN S direction(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  const S slope = -team.template sum<S>(m.nv, [&](int i) { return e.gradient[i] * e.dv[i]; });

  // a descent direction unless only round-off is left
  s.failed = s.failed || (s.active && !is_finite(slope));
  s.stalled = s.stalled || (s.active && slope >= S(0.0));
  s.active = s.active && slope < S(0.0) && is_finite(slope);
  team.for_each(m.nv, [&](int i) { e.dv[i] = select(s.active, -e.dv[i], S(0.0)); });
  return slope;
}

// v ← v + α Δv and all that is linear in v; finished lanes stay.
template <class Team, class S>
STICTION_FN void advance(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                         S slope, S alpha) {
  const Mask<S> active = s.active;
  const auto move = [&](int n, S* x, const S* dx) {
    team.for_each(n, [&](int i) { x[i] = select(active, x[i] + alpha * dx[i], x[i]); });
  };
  const S zero = S(0.0), one = S(1.0);
  const S step2 =
      team.template sum<S>(m.nv, [&](int i) { return e.dv[i] * e.dv[i] * e.A[tri(i, i)]; });
  const S size2 =
      team.template sum<S>(m.nv, [&](int i) { return e.v[i] * e.v[i] * e.A[tri(i, i)]; });
  const S small = S(4 * epsilon<S>());
  s.small_steps = select(alpha * alpha * step2 < small * small * size2, s.small_steps + one, zero);
  s.decrease = S(-0.5) * slope;
  s.full_step = alpha > S(0.5);
  s.last_residual = s.residual;
  s.iterations = s.iterations + select(active, one, zero);
  move(m.nv, e.v, e.dv);
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k];
    e.v[c] = select(active, e.v[c] + alpha * e.dv[c], e.v[c]);
  });
  move(m.nv, e.momentum, e.Adv);
  move(m.nv, e.Av, e.Adv);
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const Vec3<S> old = load3(e.point_vel, p);
    store3(e.point_vel, p, select<S>(active, old + alpha * load3(e.point_dvel, p), old));
    if (m.ncouple == 0) return;
    const Vec3<S> omega = load3(e.point_omega, p);
    store3(e.point_omega, p, select<S>(active, omega + alpha * load3(e.point_domega, p), omega));
  });
}

// Iteration k up to its linear system H x = r; false: no lane needs it.
template <class Team, class S>
STICTION_FN bool assemble(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                          int k) {
  residual(team, m, e, s);
  leave(m, s, k);
  if (k == m.opt.max_iterations) {
    s.not_converged = s.not_converged || s.active;
    return false;
  }
  if (!any_lane(s.active)) return false;
  live_points(team, m, e, s.active, false);
  bound_curvatures(team, m, e, s, k);
  hessian(team, m, e, true);
  return true;
}

// The rest of the iteration, from x in e.dv; false: no lane is left.
template <class Team, class S>
STICTION_FN bool move_iterate(const Team& team, const ModelView& m, EnvView<S>& e,
                              SolveState<S>& s) {
  const S slope = direction(team, m, e, s);
  if (!any_lane(s.active)) return false;
  multiply_A(team, m, e, e.dv, e.Adv);
  point_velocities(team, m, e, e.dv, e.point_dvel, e.point_domega);
  length_velocities(team, m, e, e.dv);
  const S alpha = line_search(team, m, e, slope, s.active, s.evaluations);
  advance(team, m, e, s, slope, alpha);
  gradient(team, m, e, s.active);
  return true;
}

template <class Team, class S>
STICTION_FN void iterate(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  for (int k = 0; assemble(team, m, e, s, k); ++k) {
    factor_and_solve(team, m, e, e.gradient, e.dv);
    if (!move_iterate(team, m, e, s)) return;
  }
}

// n0 = n(v_n) at the iterate: the next solve bounds friction by the normal impulse of this one.
template <class Team, class S>
STICTION_COLD void renew_bounds(const Team& team, const ModelView& m, EnvView<S>& e,
                                const Mask<S>& lanes) {
  live_points(team, m, e, all_lanes<S>(), true);
  set_bounds(team, m, e, lanes);
  laws_at(team, m, e, S(0.0));
  gradient(team, m, e, lanes);
}

// After solve k of the step, of those that friction_iterations allows; false: it was the last one.
// `touching`: lanes with points.
template <class Team, class S>
STICTION_FN bool solve_again(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                             const Mask<S>& touching, int k) {
  if (k == m.opt.friction_iterations) return false;
  s.active = touching && !s.bad && !s.failed;
  if (m.opt.friction_auto && any_lane(s.active)) s.active = s.active && bounds_moved(team, m, e);
  if (!any_lane(s.active)) return false;
  s.small_steps = s.flat_steps = S(0.0);
  s.solves = s.solves + select(s.active, S(1.0), S(0.0));
  s.first_solve = false;
  s.bounded = no_lanes<S>();
  renew_bounds(team, m, e, s.active);
  return true;
}

template <class Team, class S>
STICTION_FN void iterate_friction(const Team& team, const ModelView& m, EnvView<S>& e,
                                  SolveState<S>& s) {
  const Mask<S> touching = s.active && e.ncon[0] > S(0.0);
  for (int k = 1;; ++k) {
    iterate(team, m, e, s);
    if (!solve_again(team, m, e, s, touching, k)) return;
  }
}

// Force on each body and torque about its centre of mass; forces on the joints, accelerations.
template <class Team, class S>
STICTION_FN void solve_outputs(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S rate = S(m.opt.step_rate);
  shift_velocities(team, e, 1);
  team.for_each(m.nv, [&](int i) {
    e.qacc[i] = rate * (e.v[i] - e.qvel[i]);
    const LengthImpulses<S> lengths = length_impulses_on(m, e, i);
    e.qfrc_constraint[i] = rate * (e.contact_impulse[i] + coordinate_law(m, e, i, e.v[i]).impulse);
    if (m.nrowlength > m.nrowservo)
      e.qfrc_constraint[i] = e.qfrc_constraint[i] + rate * lengths.constraints;
    e.qfrc_actuator[i] = e.qfrc_actuator[i] + rate * lengths.actuators;
  });
  equality_outputs(team, m, e);
  team.for_each(m.nbody, [&](int b) {
    Vec3<S> force = zero3<S>(), torque = zero3<S>();
    const Vec3<S> centre = load3(e.xioff, b);
    STICTION_ROLLED
    for (int n = e.body_pointadr[b]; n < e.body_pointadr[b + 1]; ++n) {
      const PointForce<S> f = point_force(m, e, n);
      force = force + f.impulse;
      torque = torque + cross(f.r - centre, f.impulse);
      if (m.ncouple > 0) torque = torque + f.couple;
    }
    store6(e.xfrc_contact, b, {rate * force, rate * torque});
  });
}

template <class Team, class S>
STICTION_FN void solver_report(const Team& team, EnvView<S>& e, const SolveState<S>& s) {
  team.once([&] {
    e.solver_niter[0] = s.iterations;
    e.solver_nls[0] = s.evaluations;
    e.solver_residual[0] = s.residual;
    e.solver_nsolve[0] = s.solves;
    raise_flag(e, Status::bad_state, s.bad);
    raise_flag(e, Status::cholesky_failed, s.failed);
    raise_flag(e, Status::stalled, s.stalled);
    raise_flag(e, Status::inaccurate, s.stalled && !(s.residual <= S(kStalledResidual)));
    raise_flag(e, Status::not_converged, s.not_converged);
  });
}

template <class Team, class S>
STICTION_FN void solve(const Team& team, const ModelView& m, EnvView<S>& e) {
  couple_points(team, m, e);
  SolveState<S> s;
  start(team, m, e, s);
  iterate_friction(team, m, e, s);
  solve_outputs(team, m, e);
  solver_report(team, e, s);
}

STICTION_PHYSICS_END

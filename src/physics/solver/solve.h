// The convex problem of a step: min over v of ½ (v − v*)ᵀ A (v − v*) + Σ ℓ(J v), by Newton's method
// from the first iterate of solve_start.h. The momentum p = A (v − v*) moves with the iterate, so that
// v* is never formed. With `friction_iterations` the problem is solved again from there with the new
// bounds of friction.
//
// solve    in   A, qfrc_smooth, qacc_warmstart, row_law, points, cand_active, v_free, rows_act
//          out  v, qacc, qfrc_constraint, qfrc_actuator (adds servos), xfrc_contact, point_vel,
//               point_impulse, point_couple, point_n0, point_eps, solver_niter, solver_nls, solver_residual, flags
#pragma once

#include "physics/base/status.h"
#include "physics/solver/friction_bounds.h"
#include "physics/solver/solve_start.h"

STICTION_PHYSICS_BEGIN

// Lanes that are done leave: converged, not finite, only round-off is left, or they may not iterate on.
template <class S>
STICTION_FN void leave(const ModelView& m, SolveState<S>& s) {
  // bounding curvatures end wherever the tolerance begins, and the next steps would start with that error:
  // an exact iteration has the last word
  const S tolerance = S(m.opt.solver_tolerance);
  const S enough = select(s.bounded, tolerance * tolerance, tolerance);
  s.active = s.active && !(s.residual <= enough);
  s.bad = s.bad || (s.active && !is_finite(s.residual));
  s.active = s.active && is_finite(s.residual);

  // flat: a full step promised less than the round-off of the cost, and the residual did not halve;
  // with bounding curvatures it need not
  const Mask<S> flat = s.full_step && !s.bounded &&
                       s.decrease <= S(epsilon<S>()) * (s.scale * s.scale) &&
                       s.residual > S(0.5) * s.last_residual;
  s.flat_steps = select(s.moved, select(flat, s.flat_steps + S(1.0), S(0.0)), s.flat_steps);
  s.moved = no_lanes<S>();
  const Mask<S> stall = s.active && (s.flat_steps > S(1.5) || s.small_steps > S(1.5));
  s.stalled = s.stalled || stall;
  s.active = s.active && !stall;

  const Mask<S> last = s.round >= S(m.opt.max_iterations);
  s.not_converged = s.not_converged || (s.active && last);
  s.active = s.active && !last;
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
  const auto moved = [&](S x, S dx) { return select(active, x + alpha * dx, x); };
  const S zero = S(0.0), one = S(1.0);
  const auto norms2 = team.template sum<Sums<S, 2>>(m.nv, [&](int i) {
    const S dv = e.dv[i], v = e.v[i], diagonal = e.A[tri(i, i)];
    return Sums<S, 2>(dv * dv * diagonal, v * v * diagonal);
  });
  const S step2 = norms2.of[0], size2 = norms2.of[1];
  const S small = S(4 * epsilon<S>());
  const S small_steps =
      select(alpha * alpha * step2 < small * small * size2, s.small_steps + one, zero);
  s.small_steps = select(active, small_steps, s.small_steps);
  s.decrease = select(active, S(-0.5) * slope, s.decrease);
  s.full_step = select(active, alpha > S(0.5), s.full_step);
  s.last_residual = select(active, s.residual, s.last_residual);
  s.moved = active;
  s.iterations = s.iterations + select(active, one, zero);
  s.round = s.round + select(active, one, zero);
  team.for_each(m.nv, [&](int i) {
    const S Adv = e.Adv[i];
    e.v[i] = moved(e.v[i], e.dv[i]);
    e.momentum[i] = moved(e.momentum[i], Adv), e.Av[i] = moved(e.Av[i], Adv);
  });
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k];
    e.v[c] = moved(e.v[c], e.dv[c]);
  });
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const Vec3<S> old = load3(e.point_vel, p);
    store3(e.point_vel, p, select<S>(active, old + alpha * load3(e.point_dvel, p), old));
    if (m.ncouple == 0) return;
    const Vec3<S> omega = load3(e.point_omega, p);
    store3(e.point_omega, p, select<S>(active, omega + alpha * load3(e.point_domega, p), omega));
  });
}

// An iteration up to its linear system H x = r.
template <class Team, class S>
STICTION_FN void assemble(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  live_points(team, m, e, s.active, LivePoints::of_fewer_lanes);
  bound_curvatures(team, m, e, s);
  hessian(team, m, e, true);
}

// The rest of the iteration, from x in e.dv.
template <class Team, class S>
STICTION_FN void move_iterate(const Team& team, const ModelView& m, EnvView<S>& e,
                              SolveState<S>& s) {
  const S slope = direction(team, m, e, s);
  if (!any_lane(s.active)) return;
  multiply_A(team, m, e, e.dv, e.Adv);
  point_velocities(team, m, e, e.dv, e.point_dvel, e.point_domega);
  length_velocities(team, m, e, e.dv);
  const S alpha = line_search(team, m, e, slope, s.active, s.evaluations);
  advance(team, m, e, s, slope, alpha);
  gradient(team, m, e, s.active);
}

// The laws and the gradient at the iterate of these lanes; the laws of others that iterate come out as they are.
template <class Team, class S>
STICTION_COLD void begin_again(const Team& team, const ModelView& m, EnvView<S>& e,
                               const SolveState<S>& s, const Mask<S>& lanes) {
  live_points(team, m, e, s.active, LivePoints::of_lanes);
  laws_at(team, m, e, S(0.0));
  gradient(team, m, e, lanes);
}

// Lanes whose solve has ended begin another one, if friction_iterations asks for it: n0 = n(v_n), so that friction is
// bounded by the normal impulse of this one. false: none does.
template <class Team, class S>
STICTION_FN bool solve_again(const Team& team, const ModelView& m, EnvView<S>& e,
                             SolveState<S>& s) {
  const S zero = S(0.0);
  const Mask<S> ended = s.open && !s.active;
  s.open = s.active;
  Mask<S> again =
      ended && !s.bad && !s.failed && e.ncon[0] > zero && s.solves < S(m.opt.friction_iterations);
  if (m.opt.friction_auto && any_lane(again)) again = again && bounds_moved(team, m, e);
  if (!any_lane(again)) return false;
  s.full_step = s.full_step && !again;
  s.small_steps = select(again, zero, s.small_steps);
  s.flat_steps = select(again, zero, s.flat_steps);
  s.last_residual = select(again, zero, s.last_residual);
  s.round = select(again, zero, s.round);
  s.solves = s.solves + select(again, S(1.0), zero);
  s.bounded = s.bounded && !again;
  s.open = s.open || again;
  set_bounds(team, m, e, again);
  s.active = s.active || again;
  s.moved = again;
  begin_again(team, m, e, s, again);
  return true;
}

// Lanes that are done leave. Once that is half of them, or all but `rest`, they may begin their next solves. A lane's
// numbers don't depend on when that is: it waits at its solution.
template <class Team, class S>
STICTION_FN void judge(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                       int rest) {
  for (bool again = true; again;) {
    residual(team, m, e, s);
    leave(m, s);
    const int count = count_lanes(s.active);
    if (2 * count > s.lanes && count > rest) return;
    again = solve_again(team, m, e, s);
    s.lanes = count_lanes(s.active);
  }
}

// Iterates until `rest` lanes are left, or fewer.
template <class Team, class S>
STICTION_SINGLE void iterate(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                             int rest) {
  for (;;) {
    judge(team, m, e, s, rest);
    if (count_lanes(s.active) <= rest) return;
    assemble(team, m, e, s);
    factor_and_solve(team, m, e, e.gradient, e.dv);
    move_iterate(team, m, e, s);
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
STICTION_SINGLE void start_solve(const Team& team, const ModelView& m, EnvView<S>& e,
                                 SolveState<S>& s) {
  couple_points(team, m, e);
  start(team, m, e, s);
}

template <class Team, class S>
STICTION_SINGLE void end_solve(const Team& team, const ModelView& m, EnvView<S>& e,
                               const SolveState<S>& s) {
  solve_outputs(team, m, e);
  solver_report(team, e, s);
}

template <class Team, class S>
STICTION_FN void solve(const Team& team, const ModelView& m, EnvView<S>& e) {
  SolveState<S> s;
  start_solve(team, m, e, s);
  iterate(team, m, e, s, 0);
  end_solve(team, m, e, s);
}

STICTION_PHYSICS_END

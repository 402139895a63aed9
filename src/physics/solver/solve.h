// The convex problem of a step: min over v of ½ (v − v*)ᵀ A (v − v*) + Σ ℓ(J v), by Newton's method
// from the first iterate of solve_start.h. The momentum p = A (v − v*) moves with the iterate, so that
// v* is never formed. With `friction_iterations` the bounds of friction follow in the iteration
// (friction_follow.h), or the problem is solved again from there with the new ones.
//
// solve    in   A, qfrc_smooth, qacc_warmstart, row_law, points, cand_active, v_free, rows_act
//          out  v, qacc, qfrc_constraint, qfrc_actuator (adds servos), xfrc_contact, point_vel,
//               point_impulse, point_couple, point_n0, point_eps, solver_niter, solver_nls, solver_residual, flags
#pragma once

#include "physics/solver/friction_follow.h"
#include "physics/solver/solve_outputs.h"
#include "physics/solver/solve_start.h"

STICTION_PHYSICS_BEGIN

// Flat steps in a row before a lane stalls: a step whose duals are far from t need not halve the residual.
inline constexpr int kFlatSteps = 4;

// Lanes that are done leave: converged, not finite, only round-off is left, or they may not iterate on.
template <class S>
STICTION_FN void leave(const ModelView& m, SolveState<S>& s) {
  // bounding curvatures end wherever the tolerance begins, and the next steps would start with that error:
  // an exact iteration has the last word
  const S tolerance = S(m.opt.solver_tolerance);
  const S enough = select(s.bounded, tolerance * tolerance, tolerance);
  Mask<S> done = s.residual <= enough;
  if (m.opt.friction_exact) done = done && !s.follows;
  s.active = s.active && !done;
  s.bad = s.bad || (s.active && !is_finite(s.residual));
  s.active = s.active && is_finite(s.residual);

  // flat: a full step promised less than the round-off of the cost, and the residual did not halve;
  // with bounding curvatures it need not
  const Mask<S> flat = s.full_step && !s.bounded &&
                       s.decrease <= S(epsilon<S>()) * (s.scale * s.scale) &&
                       s.residual > S(0.5) * s.last_residual;
  s.flat_steps = select(s.moved, select(flat, s.flat_steps + S(1.0), S(0.0)), s.flat_steps);
  s.moved = no_lanes<S>();
  const Mask<S> stall = s.active && (s.flat_steps > S(kFlatSteps - 0.5) || s.small_steps > S(1.5));
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
  s.stalled = s.stalled || (s.active && slope >= S(0.0) && s.residual > S(m.opt.solver_tolerance));
  s.active = s.active && slope < S(0.0) && is_finite(slope);
  team.for_each(m.nv, [&](int i) { e.dv[i] = select(s.active, -e.dv[i], S(0.0)); });
  return slope;
}

// ‖α Δv‖ < 4 ε ‖v‖ in the norm of diag(A), of every group of trees.
template <class Team, class S>
STICTION_FN Mask<S> is_small_step(const Team& team, const ModelView& m, const EnvView<S>& e,
                                  S alpha) {
  const S small = S(4 * epsilon<S>());
  const auto summands = [&](int i) {
    const S dv = e.dv[i], v = e.v[i], diagonal = e.A[tri(i, i)];
    return Sums<S, 2>(dv * dv * diagonal, v * v * diagonal);
  };
  if (m.ngroup > 1)
    return most_of_groups<Team, S>(team, m, [&](int group) {
             const S dv2 = sum_of_group<S>(m, group, [&](int i) { return summands(i).of[0]; });
             const S v2 = group_scale2<S>(
                 m, group, [&](int i) { return Sums<S, 2>(summands(i).of[1], S(0.0)); });
             return select(alpha * alpha * dv2 <= small * small * v2, S(0.0), S(1.0));
           }) < S(0.5);
  const auto norms2 = team.template sum<Sums<S, 2>>(m.nv, summands);
  return alpha * alpha * norms2.of[0] < small * small * norms2.of[1];
}

// v ← v + α Δv and all that is linear in v; finished lanes stay.
template <class Team, class S>
STICTION_FN void advance(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                         S slope, S alpha) {
  const Mask<S> active = s.active;
  const auto moved = [&](S x, S dx) { return select(active, x + alpha * dx, x); };
  const S zero = S(0.0), one = S(1.0);
  const Mask<S> small = is_small_step(team, m, e, alpha);
  s.small_steps = select(active, select(small, s.small_steps + one, zero), s.small_steps);
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
}

// An iteration up to its linear system H x = r.
template <class Team, class S>
STICTION_FN void assemble(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  live_points(team, m, e, s.active, LivePoints::of_fewer_lanes);
  first_curvatures(team, m, e, s);
  dry_curvatures(team, m, e, s);
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
  move_dry_duals(team, m, e, s);
  advance(team, m, e, s, slope, alpha);
  move_points(team, m, e, s, alpha);
  if (m.opt.friction_follows) follow_bounds(team, m, e, s);
  iterate_laws(team, m, e);
  gradient(team, m, e, s.active);
}

// Lanes whose solve has ended begin another one, if friction_iterations asks for it: n0 = n(v_n), so that friction is
// bounded by the normal impulse of this one. false: none does.
template <class Team, class S>
STICTION_FN bool solve_again(const Team& team, const ModelView& m, EnvView<S>& e,
                             SolveState<S>& s) {
  const S zero = S(0.0);
  const Mask<S> ended = s.open && !s.active;
  s.open = s.active;
  const Mask<S> again =
      ended && !s.bad && !s.failed && e.ncon[0] > zero && s.solves < S(m.opt.friction_iterations);
  if (!any_lane(again)) return false;
  begin_round(s, again);
  s.solves = s.solves + select(again, S(1.0), zero);
  s.bounded = s.bounded && !again;
  s.open = s.open || again;
  set_bounds(team, m, e, again);
  s.active = s.active || again;
  s.moved = again;
  begin_again(team, m, e, s, again);
  return true;
}

// Lanes that have points, and whose bounds of friction nobody has looked at yet.
template <class S>
STICTION_FN Mask<S> is_first_look(const ModelView& m, const EnvView<S>& e, const SolveState<S>& s) {
  if (!m.opt.friction_follows) return no_lanes<S>();
  return s.iterations < S(0.5) && s.renewals < S(0.5) && e.ncon[0] > S(0.0);
}

// Lanes that are done leave. Once that is half of them, or all but `rest`, they may begin their next solves. A lane's
// numbers don't depend on when that is: it waits at its solution.
template <class Team, class S>
STICTION_FN void judge(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s,
                       int rest) {
  for (bool again = true; again;) {
    residual(team, m, e, s);
    const Mask<S> first = s.active && is_first_look(m, e, s);
    leave(m, s);
    const Mask<S> at_once = first && !s.active && !s.bad && !s.not_converged;
    if (any_lane(at_once)) {
      follow_at_once(team, m, e, s, at_once);
      leave(m, s);  // here, as wherever they would be judged next
    }
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

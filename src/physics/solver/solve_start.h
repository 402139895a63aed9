// Where Newton's method begins, and what it asks of an iterate: gradient and residual.
//
// start    in   A, qfrc_smooth, qvel, qacc_warmstart, v_free, rows_act, row_law, points
//          out  v, momentum, Av, and the laws at v
#pragma once

#include "physics/solver/line_search.h"

STICTION_PHYSICS_BEGIN

// Masks of lanes and counters during the iteration; the same bits in all threads of a team.
template <class S>
struct SolveState {
  Mask<S> active;
  Mask<S> bad, failed, stalled, not_converged;
  S residual, scale;          // ‖D r‖/scale, scale = max(‖D A v‖, ‖D Jᵀγ‖)
  S last_residual, decrease;  // of the step before; ½ |r·Δv| of it
  Mask<S> full_step;          // α > ½ in it
  S small_steps, flat_steps;  // in a row
  S iterations, evaluations;
  S solves;
  S round;          // iterations of this solve
  Mask<S> moved;    // the iterate, since judge()
  Mask<S> open;     // the end of the solve has not been looked at
  Mask<S> bounded;  // the last iteration had bounding curvatures
  int lanes;        // that iterated when ends of solves were last looked at
};

// The first iterations of a step may be far from the kinks of friction, where ∂²ℓ/∂v_c² says nothing
// of the other side: an exact step would slip through zero again and again. Bounding curvatures bring
// the points that will stick to rest together. Near the solution the exact ones are better.
inline constexpr int kBoundedIterations = 2;
inline constexpr double kFarResidual = 0.01;
template <class Team, class S>
STICTION_FN void bound_curvatures(const Team& team, const ModelView& m, EnvView<S>& e,
                                  SolveState<S>& s) {
  s.bounded = s.active && s.solves < S(1.5) && s.round < S(kBoundedIterations) &&
              s.residual > S(kFarResidual);
  if (!any_lane(s.bounded)) return;
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const ContactValue<S> c = evaluate(m.opt.contact_model, load_law(m, e, p),
                                       load3(e.point_vel, p), Curvature::bounding);
    store_sym3(e.point_hess, p, select_sym3(s.bounded, c.hess, load_sym3(e.point_hess, p)));
    if (m.ncouple == 0) return;
    const ContactValue<S> turning =
        evaluate(load_couple(m, e, p), load3(e.point_omega, p), Curvature::bounding);
    store_sym3(e.point_couple_hess, p,
               select_sym3(s.bounded, turning.hess, load_sym3(e.point_couple_hess, p)));
  });
}

// Gradient r = p − Jᵀγ − rows at the iterate, from the laws there; Jᵀγ of other lanes stays.
template <class Team, class S>
STICTION_FN void gradient(const Team& team, const ModelView& m, EnvView<S>& e,
                          const Mask<S>& lanes) {
  contact_impulses(team, m, e, e.gradient);
  team.for_each(m.nv, [&](int i) {
    e.contact_impulse[i] = select(lanes, e.gradient[i], e.contact_impulse[i]);
    e.gradient[i] = e.momentum[i] - (e.contact_impulse[i] + e.row_impulse[i]);
  });
}

// Round-off of r in units of ε times the impulses that it is the sum of.
inline constexpr double kRoundOff = 8;

// ‖γ‖², each impulse by itself: Σ w |γ_c|² of the contacts with their Delassus scales, of couples with
// w_ω, and the rows by D.
template <class Team, class S>
STICTION_FN S loads(const Team& team, const ModelView& m, const EnvView<S>& e) {
  const S points = team.template sum<S>(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const S load = e.point_w[p] * norm2(load3(e.point_impulse, p));
    if (m.ncouple == 0) return load;
    return load + e.point_couple_law[5 * p + 4] * norm2(load3(e.point_couple, p));
  });
  const S rows = team.template sum<S>(m.nv, [&](int i) {
    const S load = rows_load(m, e, i, e.v);
    return load * load * e.inv_A[i];
  });
  return points + rows;
}

// ‖D r‖ / max(‖D A v‖, ‖D Jᵀγ‖, ρ ‖γ‖), D = diag(A)^-1/2; 0/0 = 0. Where impulses cancel, as those of a
// servo that presses a joint at rest against its limit, the first two are round-off of ‖γ‖; with
// ρ ε_r = 8 ε a residual of that size is within the tolerance. ‖γ‖ is asked for only where the residual
// is above the tolerance and does not fall.
template <class Team, class S>
STICTION_FN void residual(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  const S zero = S(0.0), one = S(1.0);
  const auto norms2 = team.template sum<Sums<S, 3>>(m.nv, [&](int i) {
    const S of_r = e.gradient[i], of_v = e.Av[i], inv_A = e.inv_A[i];
    const S impulses = e.contact_impulse[i] + e.row_impulse[i];
    return Sums<S, 3>(of_r * of_r * inv_A, of_v * of_v * inv_A, impulses * impulses * inv_A);
  });
  const S r2 = norms2.of[0], r = vsqrt(r2), momentum = norms2.of[1], impulse = norms2.of[2];
  const auto relative = [&] {
    const Mask<S> scaled = s.scale > zero;
    const S ratio = select(scaled, r / select(scaled, s.scale, one), one);
    return select(r2 == zero, zero, ratio);
  };
  s.scale = select(s.active, vsqrt(vmax(momentum, impulse)), s.scale);
  s.residual = select(s.active, relative(), s.residual);
  const Mask<S> flat =
      s.active && s.residual > S(m.opt.solver_tolerance) && s.residual > S(0.5) * s.last_residual;
  if (!any_lane(flat)) return;
  const S round_off = S(kRoundOff * epsilon<S>());
  const S rho = round_off / vmax(S(m.opt.solver_tolerance), round_off);
  s.scale = select(flat, vmax(s.scale, rho * vsqrt(loads(team, m, e))), s.scale);
  s.residual = select(flat, relative(), s.residual);
}

// Δv of the first iterate from v0. Where a point carries already (n0 > 0) the last step's acceleration
// goes on, elsewhere v_free is close. But a limit is a kink too stiff to find at a distance: where it
// would act at one of the two and not at the other, its dof goes with v_free, which feels the limits.
template <class Team, class S>
STICTION_FN void first_step(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S dt = S(m.opt.timestep);
  const S carried = team.template max<S>(e.npoint[0], [&](int p) { return e.point_n0[p]; });
  const Mask<S> goes_on = carried > S(0.0);
  team.for_each(m.nv, [&](int i) {
    const S last = dt * e.qacc_warmstart[i], free = e.v_free[i] - e.qvel[i];
    Mask<S> use_last = goes_on;
    if (m.coord_limited[i] != 0)
      use_last = use_last &&
                 limits_at(m, e, i, e.qvel[i] + last).hess == limits_at(m, e, i, e.v_free[i]).hess;
    e.dv[i] = select(use_last, last, free);
  });
}

// point_vel from its law's root: J v − v̂ n, and back. The tangential part is taken apart first, lest it
// get the round-off of the normal part.
template <class Team, class S>
STICTION_FN void shift_velocities(const Team& team, EnvView<S>& e, double sign) {
  team.for_each(e.npoint[0], [&](int p) {
    const Vec3<S> n = load3(e.point_normal, p), v = load3(e.point_vel, p);
    const S v_n = dot(n, v);
    store3(e.point_vel, p, tangential(n, v_n, v) + (v_n + S(sign) * e.point_law[4 * p]) * n);
  });
}

// Lanes without points where no row acts at v0, so that v_free is v*, nor at v_free: it is the solution.
template <class Team, class S>
STICTION_FN Mask<S> moves_freely(const Team& team, const ModelView& m, EnvView<S>& e) {
  const Mask<S> free = e.ncon[0] == S(0.0) && e.rows_act[0] == S(0.0);
  if (!any_lane(free)) return free;
  team.for_each(m.nv, [&](int i) { e.v[i] = e.v_free[i]; });
  length_velocities(team, m, e, e.v);
  row_values(team, m, e, [&](int c) { return e.v[c]; });
  return free && rows_act(team, m, e) == S(0.0);
}

// The first iterate; v_free where it is the solution, and frozen lanes keep v0.
template <class Team, class S>
STICTION_FN void start(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  const S zero = S(0.0), dt = S(m.opt.timestep);
  const Mask<S> all = all_lanes<S>(), none = no_lanes<S>();
  const Mask<S> steps = e.active[0] > S(0.5);
  const Mask<S> free = steps && moves_freely(team, m, e);
  const Mask<S> iterates = steps && !free;
  s = {iterates, none, none, none, none,   zero, zero,     zero,     zero, none,
       zero,     zero, zero, zero, S(1.0), zero, iterates, iterates, none, kLanes<S>};
  first_step(team, m, e);
  team.for_each(m.nv, [&](int i) {
    e.inv_A[i] = S(1.0) / e.A[tri(i, i)];
    e.dv[i] = select(s.active, e.dv[i], zero);
    e.v[i] = select(free, e.v_free[i], e.qvel[i] + e.dv[i]);
  });
  multiply_A(team, m, e, e.dv, e.Adv, e.v, e.Av);
  team.for_each(
      m.nv, [&](int i) { e.momentum[i] = select(free, zero, e.Adv[i] - dt * e.qfrc_smooth[i]); });
  live_points(team, m, e, all, LivePoints::all);
  point_velocities(team, m, e, e.v, e.point_vel, e.point_omega);
  shift_velocities(team, e, -1);
  length_velocities(team, m, e, e.v);
  team.for_each(3 * e.npoint[0], [&](int i) { e.point_dvel[i] = zero; });
  if (m.ncouple > 0) team.for_each(3 * e.npoint[0], [&](int i) { e.point_domega[i] = zero; });
  team.for_each(m.ncoord, [&](int c) { e.dv[c] = zero; });
  laws_at(team, m, e, zero);
  gradient(team, m, e, all);
}

STICTION_PHYSICS_END

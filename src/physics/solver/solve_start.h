// Where Newton's method begins, and what it asks of an iterate: gradient and residual.
//
// start    in   A, qfrc_smooth, qvel, qacc_warmstart, v_free, rows_act, row_law, points
//          out  v, momentum, Av, and the laws at v
#pragma once

#include "physics/solver/dry_friction.h"
#include "physics/solver/group_scales.h"
#include "physics/solver/point_iterate.h"

STICTION_PHYSICS_BEGIN

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
template <class S>
STICTION_FN S point_load2(const ModelView& m, const EnvView<S>& e, int p) {
  const S load = e.point_w[p] * norm2(load3(e.point_impulse, p));
  if (m.ncouple == 0) return load;
  return load + e.point_couple_law[5 * p + 4] * norm2(load3(e.point_couple, p));
}
template <class S>
STICTION_FN S row_load2(const ModelView& m, const EnvView<S>& e, int i) {
  const S load = rows_load(m, e, i, e.v);
  return load * load * e.inv_A[i];
}
template <class Team, class S>
STICTION_FN S loads(const Team& team, const ModelView& m, const EnvView<S>& e) {
  const S points =
      team.template sum<S>(e.nlive[0], [&](int k) { return point_load2(m, e, e.live_point[k]); });
  return points + team.template sum<S>(m.nv, [&](int i) { return row_load2(m, e, i); });
}

// ‖D r‖²; ‖D A v‖² and ‖D Jᵀγ‖²: what dof i adds.
template <class S>
STICTION_FN S gradient_summand(const EnvView<S>& e, int i) {
  return e.gradient[i] * e.gradient[i] * e.inv_A[i];
}
template <class S>
STICTION_FN Sums<S, 2> scale_summands(const EnvView<S>& e, int i) {
  const S of_v = e.Av[i], inv_A = e.inv_A[i];
  const S impulses = e.contact_impulse[i] + e.row_impulse[i];
  return Sums<S, 2>(of_v * of_v * inv_A, impulses * impulses * inv_A);
}
template <class S>
STICTION_FN Sums<S, 3> residual_summands(const EnvView<S>& e, int i) {
  const Sums<S, 2> scale = scale_summands(e, i);
  return Sums<S, 3>(gradient_summand(e, i), scale.of[0], scale.of[1]);
}
template <class S>
STICTION_FN S ratio_of(S r, S scale) {
  const S zero = S(0.0), one = S(1.0);
  const Mask<S> scaled = scale > zero;
  const S ratio = select(scaled, r / select(scaled, scale, one), one);
  return select(r == zero, zero, ratio);
}

// The largest residual of a group of trees, where there are several; loads_too: with ρ ‖γ‖ of its own.
template <class Team, class S>
STICTION_FN S group_residual(const Team& team, const ModelView& m, EnvView<S>& e, S rho2,
                             bool loads_too) {
  return most_of_groups<Team, S>(team, m, [&](int group) {
    const S r2 = sum_of_group<S>(m, group, [&](int i) { return gradient_summand(e, i); });
    S scale2 = group_scale2<S>(m, group, [&](int i) { return scale_summands(e, i); });
    if (loads_too) {
      const S points = sum_on_group(m, e, group, [&](int, int p) { return point_load2(m, e, p); });
      const S rows = sum_of_group<S>(m, group, [&](int i) { return row_load2(m, e, i); });
      scale2 = vmax(scale2, rho2 * (points + rows));
    }
    return ratio_of(vsqrt(r2), vsqrt(scale2));
  });
}

// ‖D r‖ / max(‖D A v‖, ‖D Jᵀγ‖, ρ ‖γ‖), D = diag(A)^-1/2; 0/0 = 0; the largest of any group of trees. Where
// impulses cancel, as those of a servo that presses a joint at rest against its limit, the first two are
// round-off of ‖γ‖; with ρ ε_r = 8 ε a residual of that size is within the tolerance. ‖γ‖ is asked for only
// where the residual is above the tolerance and does not fall. `scale` is that of the whole environment.
template <class Team, class S>
STICTION_FN void residual(const Team& team, const ModelView& m, EnvView<S>& e, SolveState<S>& s) {
  const S zero = S(0.0);
  const auto norms2 =
      team.template sum<Sums<S, 3>>(m.nv, [&](int i) { return residual_summands(e, i); });
  const S r = vsqrt(norms2.of[0]);
  // the most of any group does not see what is not finite
  const bool groups = m.ngroup > 1;
  const auto of_groups = [&](S rho2, bool loads_too) {
    return select(is_finite(r), group_residual(team, m, e, rho2, loads_too), r);
  };
  s.scale = select(s.active, vsqrt(vmax(norms2.of[1], norms2.of[2])), s.scale);
  const S first = groups ? of_groups(zero, false) : ratio_of(r, s.scale);
  s.residual = select(s.active, first, s.residual);
  const Mask<S> flat =
      s.active && s.residual > S(m.opt.solver_tolerance) && s.residual > S(0.5) * s.last_residual;
  if (!any_lane(flat)) return;
  const S round_off = S(kRoundOff * epsilon<S>());
  const S rho = round_off / vmax(S(m.opt.solver_tolerance), round_off);
  s.scale = select(flat, vmax(s.scale, rho * vsqrt(loads(team, m, e))), s.scale);
  const S second = groups ? of_groups(rho * rho, true) : ratio_of(r, s.scale);
  s.residual = select(flat, second, s.residual);
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
  const Mask<S> all = all_lanes<S>();
  const Mask<S> steps = e.active[0] > S(0.5);
  const Mask<S> free = steps && moves_freely(team, m, e);
  const Mask<S> iterates = steps && !free;
  s = {};
  s.active = s.moved = s.open = iterates;
  s.solves = s.relaxation = S(1.0);
  s.lanes = kLanes<S>;
  first_step(team, m, e);
  team.for_each(m.nv, [&](int i) {
    e.inv_A[i] = S(1.0) / e.A[tri(i, i)];
    e.dv[i] = select(s.active, e.dv[i], zero);
    e.v[i] = select(free, e.v_free[i], e.qvel[i] + e.dv[i]);
  });
  first_dry_duals(team, m, e);
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
  forget_points(team, e);
  laws_at(team, m, e, zero);
  gradient(team, m, e, all);
}

STICTION_PHYSICS_END

// Bounds of friction that follow within one Newton loop (friction_iterations = "auto", "fixed_point"). After a step
// each point has λ, the normal impulse of the step's linear model (point_iterate.h). Where bounds of λ would change
// friction by more than a share of the step's impulse in any group of trees,
//
//   Σ w Δγ² > share² max(‖D p‖², ‖D δt k‖²),   D = diag(A)^-1/2
//
// p = A (v − v*) the impulse of all constraints, δt k that of all other forces, both the same for an observer who
// moves along, they become n0 ← (n0 + θ (λ − n0))₊. Friction that presses its own point down or up makes n0 ← λ swing
// or creep by a ratio q; with m = λ − n0 and ⟨a, b⟩ = Σ w μ² a b over the points
//
//   θ ← −θ ⟨m_last, m − m_last⟩/‖m − m_last‖²   (Irons and Tuck), 1 the first time
//
// is 1/(1 − q) of one point. After a number of renewals the bounds stay, and what is left is convex.
//
// reads   point_push (λ), point_vel, point_omega, momentum, qfrc_smooth, inv_A
// writes  point_n0, point_eps, point_couple_law, point_miss, point_line
#pragma once

#include "physics/solver/friction_bounds.h"
#include "physics/solver/group_scales.h"
#include "physics/solver/solve_start.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kLeastRelaxation = 0.3, kMostRelaxation = 1.5;

// Σ w Δγ² with bounds λ; ⟨m_last, m − m_last⟩ and ‖m − m_last‖².
template <class Team, class S>
STICTION_FN Sums<S, 3> friction_misses(const Team& team, const ModelView& m, EnvView<S>& e,
                                       const SolveState<S>& s) {
  const Mask<S> known = s.renewals > S(0.5);
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const ContactLaw<S> law = load_law(m, e, p);
    const Vec3<S> v = load3(e.point_vel, p);
    const S n = e.point_push[p], miss = n - law.slip.n0;
    const S last = select(known, e.point_miss[p], S(0.0)), change = miss - last;
    const S weight = e.point_w[p] * (law.slip.mu * law.slip.mu);
    S* const summands = e.point_line + 5 * k;
    summands[0] = friction_change2(m, e, p, norm2(slip(law, dot(law.normal, v), v)), n);
    summands[1] = weight * last * change, summands[2] = weight * change * change;
  });
  return team.template sum<Sums<S, 3>>(e.nlive[0], [&](int k) {
    const S* const summands = e.point_line + 5 * k;
    return Sums<S, 3>(summands[0], summands[1], summands[2]);
  });
}

// ‖D p‖² and ‖D δt k‖²: what dof i adds.
template <class S>
STICTION_FN Sums<S, 2> impulse_summands(const ModelView& m, const EnvView<S>& e, int i) {
  const S constraints = e.momentum[i], others = S(m.opt.timestep) * e.qfrc_smooth[i];
  return Sums<S, 2>(constraints * constraints * e.inv_A[i], others * others * e.inv_A[i]);
}

// Whether Σ w Δγ², the sum of change2(k, p) over the live points, is more than friction may be wrong by, in any
// group of trees; `whole`: the sum over all of them.
template <class Team, class S, class F>
STICTION_FN Mask<S> bounds_moved(const Team& team, const ModelView& m, const EnvView<S>& e, S whole,
                                 const F& change2) {
  const S share = S(m.opt.friction_share), share2 = share * share;
  if (m.ngroup > 1) {
    const S moved = most_of_groups<Team, S>(team, m, [&](int group) {
      const S scale2 = group_scale2<S>(m, group, [&](int i) { return impulse_summands(m, e, i); });
      const S of_group = sum_on_group(m, e, group, change2);
      return select(of_group > share2 * scale2, S(1.0), S(0.0));
    });
    return moved > S(0.5);
  }
  const auto norms2 =
      team.template sum<Sums<S, 2>>(m.nv, [&](int i) { return impulse_summands(m, e, i); });
  return whole > share2 * vmax(norms2.of[0], norms2.of[1]);
}

// The laws and the gradient at the iterate of these lanes; the laws of others that iterate come out as they are.
template <class Team, class S>
STICTION_COLD void begin_again(const Team& team, const ModelView& m, EnvView<S>& e,
                               const SolveState<S>& s, const Mask<S>& lanes) {
  live_points(team, m, e, s.active, LivePoints::of_lanes);
  laws_again(team, m, e, lanes);
  gradient(team, m, e, lanes);
}

// A solve with new bounds begins where the last one is, with no residual to compare with.
inline constexpr double kNoResidual = 1e30;
template <class S>
STICTION_FN void begin_round(SolveState<S>& s, const Mask<S>& lanes) {
  const S zero = S(0.0);
  s.full_step = s.full_step && !lanes;
  s.small_steps = select(lanes, zero, s.small_steps);
  s.flat_steps = select(lanes, zero, s.flat_steps);
  s.last_residual = select(lanes, S(kNoResidual), s.last_residual);
  s.round = select(lanes, zero, s.round);
}

// After a step, before the laws are taken at the iterate.
template <class Team, class S>
STICTION_FN void follow_bounds(const Team& team, const ModelView& m, EnvView<S>& e,
                               SolveState<S>& s) {
  const S zero = S(0.0), one = S(1.0);
  const Sums<S, 3> sums = friction_misses(team, m, e, s);
  const Mask<S> moved =
      s.active && e.ncon[0] > zero &&
      bounds_moved(team, m, e, sums.of[0], [&](int k, int) { return e.point_line[5 * k]; });
  const Mask<S> again = moved && s.renewals < S(m.opt.friction_renewals);
  s.follows = again;
  if (!any_lane(again)) return;
  const Mask<S> known = s.renewals > S(0.5) && sums.of[2] > zero;
  const S theta = -(s.relaxation * sums.of[1]) / select(known, sums.of[2], one);
  const S bounded = clamp(theta, S(kLeastRelaxation), S(kMostRelaxation));
  s.relaxation = select(again, select(known, bounded, one), s.relaxation);
  s.renewals = s.renewals + select(again, one, zero);
  begin_round(s, again);
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const S n0 = e.point_n0[p], miss = e.point_push[p] - n0;
    const S n = select(again, vmax(n0 + s.relaxation * miss, zero), n0);
    e.point_miss[p] = select(again, miss, e.point_miss[p]);
    e.point_n0[p] = n;
    e.point_eps[p] = select(again, slip_scale(m, e.point_w[p], e.point_mu[p], n), e.point_eps[p]);
    if (m.ncouple > 0) set_turning_scales(m, e, p, n, again);
  });
}

// Lanes whose first iterate is the solution: their bounds follow n(v_n) once, and they iterate on where that changes
// friction.
template <class Team, class S>
STICTION_COLD void follow_at_once(const Team& team, const ModelView& m, EnvView<S>& e,
                                  SolveState<S>& s, const Mask<S>& lanes) {
  live_points(team, m, e, all_lanes<S>(), LivePoints::all);
  const auto change2 = [&](int, int p) {
    const ContactLaw<S> law = load_law(m, e, p);
    const Vec3<S> v = load3(e.point_vel, p);
    const S v_n = dot(law.normal, v);
    return friction_change2(m, e, p, norm2(slip(law, v_n, v)),
                            hunt_crossley(law.slip, v_n).impulse);
  };
  const S whole =
      team.template sum<S>(e.nlive[0], [&](int k) { return change2(k, e.live_point[k]); });
  const Mask<S> again = lanes && bounds_moved(team, m, e, whole, change2);
  if (!any_lane(again)) return;
  team.for_each(e.npoint[0], [&](int p) {
    const SlipLaw<S> law = load_slip_law(m, e, p);
    const S v_n = dot(load3(e.point_normal, p), load3(e.point_vel, p));
    const S miss = hunt_crossley(law, v_n).impulse - law.n0;
    e.point_miss[p] = select(again, miss, e.point_miss[p]);
  });
  set_bounds(team, m, e, again);
  s.renewals = select(again, S(1.0), s.renewals);
  s.active = s.active || again;
  s.moved = s.moved || again;
  begin_again(team, m, e, s, again);
  residual(team, m, e, s);
}

STICTION_PHYSICS_END

// Line search on the slope alone: ℓ'(α) of the convex cost along v + α Δv. Differences of costs
// would drown in round-off long before the slope does.
#pragma once

#include "physics/rows.h"

STICTION_PHYSICS_BEGIN

template <class S>
struct LineValue {
  S slope, curvature;
};
// The quadratic part: ℓ' = Δvᵀp + α ΔvᵀAΔv.
template <class S>
struct Line {
  S dv_p, dv_A_dv;
};

template <class S>
STICTION_FN void store_line(S* line, int i, const LineValue<S>& value) {
  line[2 * i] = value.slope, line[2 * i + 1] = value.curvature;
}

// Laws of the live points and of the rows at v + α Δv.
template <class Team, class S>
STICTION_FN void laws_at(const Team& team, const ModelView& m, EnvView<S>& e, S alpha) {
  team.for_each(e.npoint[0], [&](int p) {
    if (e.point_live[p] == 0) return;
    const Vec3<S> v = load3(e.point_vel, p) + alpha * load3(e.point_dvel, p);
    const ContactValue<S> c = evaluate(m, e, p, v);
    store3(e.point_impulse, p, c.impulse);
    store_sym3(e.point_hess, p, c.hess);
  });
  row_values(
      team, m, e, [&](int i) { return e.v[i] + alpha * e.dv[i]; },
      [&](int a) { return e.servo_vel[a] + alpha * e.servo_dvel[a]; });
}

// ℓ'(1), with the laws there.
template <class Team, class S>
STICTION_FN S slope_at_one(const Team& team, const ModelView& m, EnvView<S>& e,
                           const Line<S>& line) {
  const S points = team.template sum<S>(e.npoint[0], [&](int p) {
    if (e.point_live[p] == 0) return S(0.0);
    return dot(load3(e.point_dvel, p), load3(e.point_impulse, p));
  });
  const S rows = has_rows(m)
                     ? team.template sum<S>(m.nv, [&](int i) { return e.dv[i] * e.row_impulse[i]; })
                     : S(0.0);
  return line.dv_p + line.dv_A_dv - points - rows;
}

// ℓ'(α) = Δvᵀp + α ΔvᵀAΔv − Σ Δv_cᵀγ, ℓ''(α) = ΔvᵀAΔv + Σ Δv_cᵀ G Δv_c over points and rows, in
// the lanes `open`
template <class Team, class S>
STICTION_FN LineValue<S> line_at(const Team& team, const ModelView& m, EnvView<S>& e,
                                 const Line<S>& line, const Mask<S>& open, S alpha) {
  const int npoint = e.npoint[0];
  const bool dofs = m.any_limit || m.any_frictionloss;
  team.for_each(npoint, [&](int p) {
    store_line<S>(e.point_line, p, {S(0.0), S(0.0)});
    if (!any_lane(open && e.cand_active[e.point_slot[p]] > S(0.5))) return;
    const Vec3<S> dv = load3(e.point_dvel, p);
    const ContactValue<S> c = evaluate(m, e, p, load3(e.point_vel, p) + alpha * dv);
    store_line<S>(e.point_line, p, {dot(dv, c.impulse), dot(dv, c.hess * dv)});
  });
  if (dofs)
    team.for_each(m.nv, [&](int i) {
      const RowValue<S> r = dof_rows(m, e, i, e.v[i] + alpha * e.dv[i]);
      store_line<S>(e.dof_line, i, {e.dv[i] * r.impulse, e.dv[i] * (r.hess * e.dv[i])});
    });
  if (m.any_servo)
    team.for_each(m.nu, [&](int a) {
      const S dv = e.servo_dvel[a];
      const RowValue<S> r = servo_row(m, e, a, e.servo_vel[a] + alpha * dv);
      store_line<S>(e.servo_line, a, {dv * r.impulse, dv * (r.hess * dv)});
    });

  LineValue<S> value = {line.dv_p + alpha * line.dv_A_dv, line.dv_A_dv};
  const auto add = [&](int n, const S* part) {
    value.slope = value.slope - team.template sum<S>(n, [&](int i) { return part[2 * i]; });
    value.curvature =
        value.curvature + team.template sum<S>(n, [&](int i) { return part[2 * i + 1]; });
  };
  add(npoint, e.point_line);
  if (dofs) add(m.nv, e.dof_line);
  if (m.any_servo) add(m.nu, e.servo_line);
  return value;
}

inline constexpr double kLineTolerance = 0.05;  // of ℓ' relative to ℓ'(0)
inline constexpr int kLineEvaluations = 12;     // beyond α = 1

// α in (0, 1] with ℓ'(α) ≈ 0, or 1 where the cost still falls there. α = 1 is tried first; then
// Newton's method from the secant, with bisection where it leaves the bracket or is slow. `slope0`
// is ℓ'(0) < 0; lanes outside `active` get 1. Adds the evaluations beyond α = 1 to `evaluations`.
// Leaves the laws at v + α Δv.
template <class Team, class S>
STICTION_FN S line_search(const Team& team, const ModelView& m, EnvView<S>& e, S slope0,
                          const Mask<S>& active, S& evaluations) {
  const Line<S> line = {team.template sum<S>(m.nv, [&](int i) { return e.dv[i] * e.momentum[i]; }),
                        team.template sum<S>(m.nv, [&](int i) { return e.dv[i] * e.Adv[i]; })};
  const S bound = S(kLineTolerance) * vabs(slope0), half = S(0.5), zero = S(0.0);
  laws_at(team, m, e, S(1.0));
  const S full = slope_at_one(team, m, e, line);
  Mask<S> open = active && full > bound;
  if (!any_lane(open)) return S(1.0);

  S lower = zero, upper = S(1.0), alpha = S(1.0);
  S x = slope0 / (slope0 - full), step = S(1.0), last_step = S(1.0);
  for (int k = 0; k < kLineEvaluations && any_lane(open); ++k) {
    const LineValue<S> at = line_at(team, m, e, line, open, x);
    evaluations = evaluations + select(open, S(1.0), zero);
    alpha = select(open, x, alpha);
    open = open && !(vabs(at.slope) <= bound);

    // keep the root inside the bracket
    upper = select(at.slope > zero, x, upper);
    lower = select(at.slope > zero, lower, x);
    const S newton = -at.slope / at.curvature, target = x + newton;
    const Mask<S> bisect =
        !(target > lower && target < upper) || S(2.0) * vabs(newton) > vabs(last_step);
    last_step = step;
    step = select(bisect, half * (upper - lower), newton);
    x = select(bisect, lower + step, target);
  }
  // out of evaluations: the end of the bracket where the cost is certainly lower than at 0
  alpha = select(open && lower > zero, lower, alpha);
  laws_at(team, m, e, alpha);
  return alpha;
}

STICTION_PHYSICS_END

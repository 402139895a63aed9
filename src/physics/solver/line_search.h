// Line search by the slope alone: ℓ'(α) of the convex cost along v + α Δv. Differences of costs
// are lost in round-off long before the slope is.
#pragma once

#include "physics/solver/rows.h"

STICTION_PHYSICS_BEGIN

// The quadratic part of the cost: ℓ' = Δvᵀp + α ΔvᵀAΔv.
template <class S>
struct Line {
  S dv_p, dv_A_dv;
};

// Evaluates torsional and rolling friction of the n points of a list at v + α Δv.
template <class Team, class S>
STICTION_FN void couple_laws(const Team& team, const ModelView& m, EnvView<S>& e, int n,
                             const int* list, S alpha) {
  if (m.ncouple == 0) return;
  team.for_each(n, [&](int k) {
    const int p = list[k];
    const Vec3<S> omega = load3(e.point_omega, p) + alpha * load3(e.point_domega, p);
    const ContactValue<S> c = evaluate(load_couple(m, e, p), omega);
    store3(e.point_couple, p, c.impulse);
    store_sym3(e.point_couple_hess, p, c.hess);
  });
}

// Evaluates the contact laws of the n points of a list at v + α Δv.
template <class Team, class S>
STICTION_FN void point_laws(const Team& team, const ModelView& m, EnvView<S>& e, int n,
                            const int* list, S alpha) {
  const int model = m.opt.contact_model;
  team.for_each(n, [&](int k) {
    const int p = list[k];
    const Vec3<S> v = load3(e.point_vel, p) + alpha * load3(e.point_dvel, p);
    const ContactValue<S> c = evaluate(model, load_law(m, e, p), v);
    store3(e.point_impulse, p, c.impulse);
    store_sym3(e.point_hess, p, c.hess);
  });
  couple_laws(team, m, e, n, list, alpha);
}

// Evaluates the laws of the rows at v + α Δv.
template <class Team, class S>
STICTION_FN void row_laws(const Team& team, const ModelView& m, EnvView<S>& e, S alpha) {
  row_values(team, m, e, [&](int c) { return e.v[c] + alpha * e.dv[c]; });
}

// Evaluates the laws of the live points and of the rows at v + α Δv.
template <class Team, class S>
STICTION_FN void laws_at(const Team& team, const ModelView& m, EnvView<S>& e, S alpha) {
  point_laws(team, m, e, e.nlive[0], e.live_point, alpha);
  row_laws(team, m, e, alpha);
}

// Returns ℓ'(1); evaluates the laws of the rows there.
template <class Team, class S>
STICTION_FN S slope_at_one(const Team& team, const ModelView& m, EnvView<S>& e,
                           const Line<S>& line) {
  const S points = team.template sum<S>(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const Vec3<S> d = load3(e.point_dvel, p);
    const S power =
        dot(d, impulse_at(m.opt.contact_model, load_law(m, e, p), load3(e.point_vel, p) + d));
    if (m.ncouple == 0) return power;
    const Vec3<S> turn = load3(e.point_domega, p);
    return power +
           dot(turn, evaluate(load_couple(m, e, p), load3(e.point_omega, p) + turn).impulse);
  });
  // over all dofs, as line_at over all coordinates
  const S rows = team.template sum<S>(m.nv, [&](int i) { return e.dv[i] * e.row_impulse[i]; });
  return line.dv_p + line.dv_A_dv - points - rows;
}

template <class S>
STICTION_FN PointLine<S> load_line(const S* lines, int k) {
  const S* const l = lines + 5 * k;
  return {l[0], l[1], l[2], l[3], l[4]};
}
template <class S>
STICTION_FN void store_line(S* lines, int k, const PointLine<S>& l) {
  S* const out = lines + 5 * k;
  out[0] = l.v_n, out[1] = l.d_n, out[2] = l.y, out[3] = l.s, out[4] = l.rest2;
}

// Lists the points that are active in the lanes `open` in line_point, with their point_line; returns their number.
template <class Team, class S>
STICTION_FN int open_points(const Team& team, const ModelView& m, EnvView<S>& e,
                            const Mask<S>& open) {
  const int n = team.compact(e.nlive[0], e.line_point, [&](int k) {
    return any_lane(open && e.cand_active[e.point_slot[e.live_point[k]]] > S(0.5));
  });
  team.for_each(n, [&](int k) {
    const int p = e.live_point[e.line_point[k]];
    const PointLine<S> l =
        point_line(load_law(m, e, p), load3(e.point_vel, p), load3(e.point_dvel, p));
    e.line_point[k] = p;
    store_line(e.point_line, k, l);
    if (m.ncouple > 0)
      store_line(
          e.point_couple_line, k,
          couple_line(load_couple(m, e, p), load3(e.point_omega, p), load3(e.point_domega, p)));
  });
  return n;
}

// Returns ℓ'(α) = Δvᵀp + α ΔvᵀAΔv − Σ Δv_cᵀγ, ℓ''(α) = ΔvᵀAΔv + Σ Δv_cᵀ G Δv_c, over n open points and rows.
template <class Team, class S>
STICTION_FN LineValue<S> line_at(const Team& team, const ModelView& m, EnvView<S>& e,
                                 const Line<S>& line, int n, S alpha) {
  const int model = m.opt.contact_model;
  LineValue<S> value = {line.dv_p + alpha * line.dv_A_dv, line.dv_A_dv};
  value = value + team.template sum<LineValue<S>>(n, [&](int k) {
    const int p = e.line_point[k];
    const LineValue<S> slides =
        evaluate_line(model, load_slip_law(m, e, p), load_line(e.point_line, k), alpha);
    if (m.ncouple == 0) return slides;
    return slides + evaluate_line(load_torsion(e, p), load_rolling(e, p),
                                  load_line(e.point_couple_line, k), alpha);
  });
  // over all coordinates up to the last one with rows: the order of the sum must not depend on which have any
  return value + team.template sum<LineValue<S>>(m.row_coord_end, [&](int c) -> LineValue<S> {
    const S dv = e.dv[c];
    const RowValue<S> row = coordinate_law(m, e, c, e.v[c] + alpha * dv);
    return {-(dv * row.impulse), dv * (row.hess * dv)};
  });
}

inline constexpr double kLineTolerance = 0.1;  // relative to ℓ'(0)
inline constexpr int kLineEvaluations = 12;    // beyond α = 1
// At a double root, such as that of Hunt–Crossley's u², Newton's step covers only half of the distance.
inline constexpr double kFarthest = 2;

// Returns α in (0, kFarthest] with ℓ'(α) ≈ 0, or kFarthest if the cost still decreases there. α = 1 is tried
// first; then Newton's method from the secant, with bisection where it leaves the bracket or is
// slow. `slope0` is ℓ'(0) < 0; lanes outside `active` get 1. Adds the evaluations beyond α = 1 to
// `evaluations`. Leaves the laws of the rows at v + α Δv.
template <class Team, class S>
STICTION_FN S line_search(const Team& team, const ModelView& m, EnvView<S>& e, S slope0,
                          const Mask<S>& active, S& evaluations) {
  const auto products = team.template sum<Sums<S, 2>>(m.nv, [&](int i) {
    const S dv = e.dv[i];
    return Sums<S, 2>(dv * e.momentum[i], dv * e.Adv[i]);
  });
  const Line<S> line = {products.of[0], products.of[1]};
  const S bound = S(kLineTolerance) * vabs(slope0), half = S(0.5), zero = S(0.0), one = S(1.0);
  row_laws(team, m, e, one);
  const S full = slope_at_one(team, m, e, line);
  Mask<S> open = active && vabs(full) > bound;
  if (!any_lane(open)) return one;

  const int n = open_points(team, m, e, open);
  const Mask<S> farther = full < zero;
  S lower = select(farther, one, zero), upper = select(farther, S(kFarthest), one), alpha = one;
  // the root of the secant through both slopes
  S x = vmin(slope0 / vmin(slope0 - full, S(1 / kFarthest) * slope0), upper);
  S step = one, last_step = one;
  for (int k = 0; k < kLineEvaluations && any_lane(open); ++k) {
    const LineValue<S> at = line_at(team, m, e, line, n, x);
    evaluations = evaluations + select(open, one, zero);
    alpha = select(open, x, alpha);
    open = open && !(vabs(at.slope) <= bound);

    // keep the root inside the bracket
    upper = select(at.slope > zero, x, upper);
    lower = select(at.slope > zero, lower, x);
    open = open && lower < upper;
    const S newton = -at.slope / at.curvature, target = x + newton;
    const Mask<S> bisect =
        !(target > lower && target < upper) || S(2.0) * vabs(newton) > vabs(last_step);
    last_step = step;
    step = select(bisect, half * (upper - lower), newton);
    x = select(bisect, lower + step, target);
  }
  // out of evaluations: the end of the bracket at which the cost is certainly lower than at 0
  alpha = select(open && lower > zero, lower, alpha);
  row_laws(team, m, e, alpha);
  return alpha;
}

STICTION_PHYSICS_END

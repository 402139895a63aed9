// The convex laws of rows, functions of the velocity v of their coordinate: γ = −ℓ'(v), hess = ℓ''(v), impulses over
// one step. Formulas: docs/method.md, "rows".
//
//   bounded   drives v to v̂ with the compliance R, by an impulse within bounds:
//                 γ = clamp((v̂ − v)/R, γ_l, γ_u),   ℓ'' = 1/R strictly between them
//   limits    both limits of a coordinate push back, to v̂_l from below and to −v̂_u from above:
//                 γ = ((v̂_l − v)/R)₊ − ((v̂_u + v)/R)₊
//
//   row_law        v̂       1/R      γ_l        γ_u
//   dry friction   −z/τ    1/(σ w)  −δt f      δt f       z: anchored, else 0
//   servo          f_0/κ   δt κ     δt f_min   δt f_max
//   limits         v̂_l     1/R      v̂_u        -
//   none           0       0        0          0             in lanes without the row
//
// v is measured from the root v̂ of a law, so that a stiff law takes no difference of large numbers.
#pragma once

#include "physics/law/contact_law.h"
#include "physics/law/friction.h"

STICTION_PHYSICS_BEGIN

// β²/4π² of every row: β = 0.1. R of a limit and of the stiffest servo is this number times w.
inline constexpr double kRowNearRigid = 0.01 / (4 * 9.8696044010893586);

template <class S>
struct BoundedLaw {
  S v_hat, inv_R, lower, upper;
};
template <class S>
STICTION_FN RowValue<S> row_law(const BoundedLaw<S>& c, S v) {
  const S y = c.inv_R * (c.v_hat - v);
  return {clamp(y, c.lower, c.upper), select(y > c.lower && y < c.upper, c.inv_R, S(0.0))};
}

template <class S>
struct LimitLaw {
  S lower, inv_R, upper;  // v̂_l, 1/R, v̂_u
};
template <class S>
STICTION_FN RowValue<S> row_law(const LimitLaw<S>& c, S v) {
  const S zero = S(0.0), below = c.inv_R * (c.lower - v), above = c.inv_R * (c.upper + v);
  return {vmax(below, zero) - vmax(above, zero),
          select(below > zero, c.inv_R, zero) + select(above > zero, c.inv_R, zero)};
}
// Returns |γ_l| + |γ_u|.
template <class S>
STICTION_FN S row_load(const LimitLaw<S>& c, S v) {
  return c.inv_R * (vmax(c.lower - v, S(0.0)) + vmax(c.upper + v, S(0.0)));
}

// Returns the dry friction `loss` of a coordinate with Delassus scale w; none if w = 0, when nothing moves. Anchored,
// the displacement z since the last slip shifts the velocity by z/τ, so that a load is held at v = 0.
template <class S>
STICTION_FN BoundedLaw<S> friction_law(const ModelView& m, const EnvView<S>& e, int k, S loss,
                                       S w) {
  const S bound = S(m.opt.timestep) * loss, R = regularization<S>(m) * w;
  const Mask<S> acts = loss != S(0.0) && w > S(0.0);
  const S shift =
      m.opt.anchored ? S(-1 / (kAnchorTime * m.opt.timestep)) * e.friction_anchor[k] : S(0.0);
  return {shift, select(acts, S(1.0) / select(acts, R, S(1.0)), S(0.0)), -bound, bound};
}

// z ← z + δt v, limited to τ R δt f, at which the whole friction is used; 0 without friction.
template <class S>
STICTION_FN S advance_friction(const ModelView& m, const BoundedLaw<S>& law, S z, S v) {
  const double dt = m.opt.timestep;
  const Mask<S> acts = law.inv_R > S(0.0);
  const S reach = S(kAnchorTime * dt) * law.upper / select(acts, law.inv_R, S(1.0));
  return select(acts, clamp(z + S(dt) * v, -reach, reach), S(0.0));
}

template <class S>
STICTION_FN BoundedLaw<S> load_bounded(const EnvView<S>& e, int row) {
  const Four<S> c = load4_aligned(e.row_law, row);
  return {c.x, c.y, c.z, c.w};
}
template <class S>
STICTION_FN LimitLaw<S> load_limits(const EnvView<S>& e, int row) {
  const Four<S> c = load4_aligned(e.row_law, row);
  return {c.x, c.y, c.z};
}
template <class S>
STICTION_FN void store_row(EnvView<S>& e, int row, const BoundedLaw<S>& law) {
  S* const c = e.row_law + 4 * row;
  c[0] = law.v_hat, c[1] = law.inv_R, c[2] = law.lower, c[3] = law.upper;
}
template <class S>
STICTION_FN void store_row(EnvView<S>& e, int row, const LimitLaw<S>& law) {
  S* const c = e.row_law + 4 * row;
  c[0] = law.lower, c[1] = law.inv_R, c[2] = law.upper;
}

STICTION_PHYSICS_END

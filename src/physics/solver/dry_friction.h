// Dry friction of dofs in Newton's method, with a dual variable as for contacts, in one dimension. With x = v − v̂
// and ε = R δt f the impulse of the row is f·x/max(|x|, ε). It reverses as soon as x changes sign, which
// ∂²ℓ/∂v² = 0 beyond ε does not predict.
//
//   t = x/max(|x|, ε),  z in [−1, 1]:   ℓ'' = 1/R inside,  (δt f/|x|)(1 − z t) beyond
//   z ← clamp(t + Δx/max(|x|, ε) (1 − z t beyond, 1 inside), −1, 1)
//
// reads   row_law, v, dv, qvel
// writes  row_dual; adds to row_hess
#pragma once

#include "physics/solver/line_search.h"
#include "physics/solver/solve_state.h"

STICTION_PHYSICS_BEGIN

template <class S>
struct DryFriction {
  S bound, x, den;
  Mask<S> slides;  // |x| > ε
};
template <class S>
STICTION_FN DryFriction<S> dry_friction(const ModelView& m, const EnvView<S>& e, int i, S v) {
  const BoundedLaw<S> law = load_bounded(e, m.coord_rowadr[i] + m.coord_limited[i]);
  const S one = S(1.0), x = v - law.v_hat;
  const Mask<S> acts = law.inv_R > S(0.0) && law.upper > S(0.0);
  const S eps = select(acts, law.upper / select(acts, law.inv_R, one), one);
  return {law.upper, x, vmax(vabs(x), eps), acts && vabs(x) > eps};
}

// Sets the first duals, those of v0.
template <class Team, class S>
STICTION_FN void first_dry_duals(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    if (m.dof_rubs[i] == 0) return;
    const DryFriction<S> at = dry_friction(m, e, i, e.qvel[i]);
    e.row_dual[i] = at.x / at.den;
  });
}

// Adds the curvature of the duals to row_hess. At a first iterate near the solution the duals are set to those of
// the iterate, so that the curvature is exact.
inline constexpr double kFarRows = 0.001;
template <class Team, class S>
STICTION_FN void dry_curvatures(const Team& team, const ModelView& m, EnvView<S>& e,
                                const SolveState<S>& s) {
  const Mask<S> near = s.active && s.iterations < S(0.5) && s.residual <= S(kFarRows);
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    if (m.dof_rubs[i] == 0) return;
    const DryFriction<S> at = dry_friction(m, e, i, e.v[i]);
    const S t = at.x / at.den, z = select(near, t, e.row_dual[i]);
    e.row_dual[i] = z;
    const S hess = at.bound / at.den * (S(1.0) - z * t);
    e.row_hess[i] = e.row_hess[i] + select(at.slides && s.active, hess, S(0.0));
  });
}

// Updates the duals by the full step Δv, whatever α; called before v moves.
template <class Team, class S>
STICTION_FN void move_dry_duals(const Team& team, const ModelView& m, EnvView<S>& e,
                                const SolveState<S>& s) {
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    if (m.dof_rubs[i] == 0) return;
    const DryFriction<S> at = dry_friction(m, e, i, e.v[i]);
    const S t = at.x / at.den, z = e.row_dual[i], one = S(1.0);
    const S next = t + e.dv[i] / at.den * select(at.slides, one - z * t, one);
    e.row_dual[i] = select(s.active, clamp(next, -one, one), z);
  });
}

STICTION_PHYSICS_END

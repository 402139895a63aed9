// Convex laws of rows with one constraint velocity: joint limits, servos, dry friction.
// γ = −ℓ', hess = ℓ''; impulses over one step. Formulas: docs/method.md, "rows".
#pragma once

#include "physics/contact_law.h"

STICTION_PHYSICS_BEGIN

// β²/4π² of every row that is not a contact: β = 0.1. R of a limit and of the stiffest servo is that
// times w.
inline constexpr double kRowNearRigid = 0.01 / (4 * 9.8696044010893586);

// Both limits of a joint: γ = ((v̂_l − v)/R)₊ − ((v̂_u + v)/R)₊, inv = 1/R
template <class S>
STICTION_FN RowValue<S> limit_law(S inv, S lower, S upper, S v) {
  const S zero = S(0.0);
  const S below = inv * (lower - v), above = inv * (upper + v);
  return {vmax(below, zero) - vmax(above, zero),
          select(below > zero, inv, zero) + select(above > zero, inv, zero)};
}

// |γ_l| + |γ_u| of both limits
template <class S>
STICTION_FN S limit_load(S inv, S lower, S upper, S v) {
  return inv * (vmax(lower - v, S(0.0)) + vmax(upper + v, S(0.0)));
}

// Servo: γ = δt clamp(u), u = force0 − κ v. κ = 0: no servo in this lane.
template <class S>
STICTION_FN RowValue<S> servo_law(S dt, S force0, S kappa, S lower, S upper, S v) {
  const S u = force0 - kappa * v;
  const Mask<S> inside = !(u > upper) && !(u < lower);
  return {select(kappa > S(0.0), dt * clamp(u, lower, upper), S(0.0)),
          select(inside, dt * kappa, S(0.0))};
}

// The factor that softens a servo to 1/(δt κ) >= β²/4π² w, 1 where it is soft enough.
template <class S>
STICTION_FN S servo_softening(S dt, S kappa, S w) {
  const S stiffness = dt * kappa * (S(kRowNearRigid) * w);
  return select(stiffness > S(1.0), S(1.0) / stiffness, S(1.0));
}

// Joint dry friction, Huber: γ = clamp(−v/R, ±bound), inv = 1/R; 0: no friction in this lane.
template <class S>
STICTION_FN RowValue<S> dry_friction_law(S inv, S bound, S v) {
  const S y = -(inv * v);
  return {select(inv > S(0.0), clamp(y, -bound, bound), S(0.0)),
          select(vabs(y) <= bound, inv, S(0.0))};
}

STICTION_PHYSICS_END

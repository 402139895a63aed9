// Speed at which a violated constraint returns: one implicit step of a damped oscillator. docs/method.md, "Recovery".
#pragma once

#include "physics/base/vec.h"

STICTION_PHYSICS_BEGIN

// ü = −b u̇ − k u of the depth u; k in 1/s², b in 1/s.
template <class S>
struct Recovery {
  S k, b;
};
// solref: (τ, ζ) with T = ζ τ, k = 1/T², b = 2 ζ/T; or (−k, −b). T, or 1/√k, is at least 2 δt.
template <class S>
STICTION_FN Recovery<S> recovery(const S* solref, double dt) {
  const S fastest = S(2 * dt);
  const Mask<S> standard = solref[0] > S(0.0);
  const S T = vmax(select(standard, solref[0] * solref[1], fastest), fastest), rate = S(1.0) / T;
  return {select(standard, rate * rate, vmin(-solref[0], S(1 / (4 * dt * dt)))),
          select(standard, S(2.0) * solref[1] * rate, -solref[1])};
}

// Returns the speed after a step from the depth `depth` >= 0 that already returns at u0 >= 0:
//   û = (u0 + δt k depth)/(1 + δt b + δt² k)
template <class S>
STICTION_FN S return_speed(const Recovery<S>& r, double dt, S depth, S u0) {
  const S push = S(dt) * r.k;
  return (u0 + push * depth) / (S(1.0) + S(dt) * r.b + S(dt) * push);
}

STICTION_PHYSICS_END

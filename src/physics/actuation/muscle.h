// The force of a muscle, a function of length and velocity, as its tangent plane c · (1, length, velocity).
//
//   gain = −F0 FL(L) FV(V),   bias = −F0 FP(L)
//   L = range0 + (length − lengthrange0)/L0,   V = velocity/(L0 vmax)
//   L0 = (lengthrange1 − lengthrange0)/(range1 − range0)
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

// The value of a function and its derivative.
template <class S>
struct Curve {
  S value, slope;
};

// FL: a bump made of four parabolas; y = |L − 1|/w is the distance from its top in half widths of that side:
// 1 − y²/2 for y < 1, then (2 − y)²/2.
template <class S>
STICTION_FN Curve<S> active_length(const S& L, const S& lmin, const S& lmax) {
  const S one = S(1.0), half = S(0.5);
  const Mask<S> shorter = L < one;
  const S w = half * select(shorter, one - lmin, lmax - one);
  const S y = vabs(L - one) / w, rest = vmax(S(2.0) - y, S(0.0));
  const Mask<S> top = y <= one;
  const S slope = select(top, y, rest) / w;
  return {select(top, one - half * (y * y), half * (rest * rest)), select(shorter, slope, -slope)};
}

// FV: (1 + V)² while the muscle shortens, then fvmax − (y − V)²/y up to y = fvmax − 1.
template <class S>
STICTION_FN Curve<S> active_velocity(const S& V, const S& fvmax) {
  const S zero = S(0.0), one = S(1.0), two = S(2.0);
  const S y = vmax(fvmax - one, zero), shortens = vmax(one + V, zero), rest = vmax(y - V, zero);
  const S share = rest / select(y > zero, y, one);
  const Mask<S> drawn_out = V > zero;
  return {select(drawn_out, fvmax - share * rest, shortens * shortens),
          select(drawn_out, two * share, two * shortens)};
}

// FP: beyond the optimal length fpmax x²/2, a straight line from x = 1.
template <class S>
STICTION_FN Curve<S> passive_length(const S& L, const S& lmax, const S& fpmax) {
  const S half = S(0.5), one = S(1.0), w = half * (lmax - one);
  const S x = vmax((L - one) / w, S(0.0));
  const Mask<S> curved = x <= one;
  return {fpmax * select(curved, half * (x * x), x - half), fpmax * vmin(x, one) / w};
}

template <class S>
STICTION_FN Vec3<S> tangent_plane(const S& force, const S& by_length, const S& by_velocity,
                                  const S& length, const S& velocity) {
  return {force - by_length * length - by_velocity * velocity, by_length, by_velocity};
}

// `p`: the nine numbers of Model::actuator_muscle.
template <class S>
STICTION_FN S muscle_length0(const S* p, const S* lengthrange) {
  return (lengthrange[1] - lengthrange[0]) / (p[1] - p[0]);
}

template <class S>
STICTION_FN Vec3<S> muscle_gain(const S* p, const S* lengthrange, const S& length,
                                const S& velocity) {
  const S length0 = muscle_length0(p, lengthrange), speed = length0 * p[6];
  const Curve<S> l = active_length(p[0] + (length - lengthrange[0]) / length0, p[4], p[5]);
  const Curve<S> v = active_velocity(velocity / speed, p[8]);
  const S force = p[2];
  return tangent_plane(-force * (l.value * v.value), -force * (l.slope * v.value) / length0,
                       -force * (l.value * v.slope) / speed, length, velocity);
}

template <class S>
STICTION_FN Vec3<S> muscle_bias(const S* p, const S* lengthrange, const S& length,
                                const S& velocity) {
  const S length0 = muscle_length0(p, lengthrange);
  const Curve<S> l = passive_length(p[0] + (length - lengthrange[0]) / length0, p[5], p[7]);
  return tangent_plane(-p[2] * l.value, -p[2] * l.slope / length0, S(0.0), length, velocity);
}

STICTION_PHYSICS_END

// The segment of a line inside a convex shape.
#pragma once

#include "physics/base/vec.h"

STICTION_PHYSICS_BEGIN

// Points p + t d of a line with t in [lower, upper]; empty if lower > upper.
template <class S>
struct Stretch {
  S lower, upper;
};
template <class S>
STICTION_FN S far() {
  constexpr double x = std::numeric_limits<double>::infinity();
  return S(x);
}
template <class S>
STICTION_FN Stretch<S> intersection(const Stretch<S>& a, const Stretch<S>& b) {
  return {vmax(a.lower, b.lower), vmin(a.upper, b.upper)};
}
template <class S>
STICTION_FN Stretch<S> all_or_none(const Mask<S>& all) {
  return {select(all, -far<S>(), far<S>()), select(all, far<S>(), -far<S>())};
}
// Returns the union of two segments that overlap or touch, or of which one is empty.
template <class S>
STICTION_FN Stretch<S> joined(const Stretch<S>& a, const Stretch<S>& b) {
  const Mask<S> some_a = a.lower <= a.upper, some_b = b.lower <= b.upper;
  return {vmin(select(some_a, a.lower, far<S>()), select(some_b, b.lower, far<S>())),
          vmax(select(some_a, a.upper, -far<S>()), select(some_b, b.upper, -far<S>()))};
}

// Returns the segment with |p + t d| <= h along one axis.
template <class S>
STICTION_FN Stretch<S> slab(S p, S d, S h) {
  const Mask<S> crosses = d != S(0.0);
  const S inverse = S(1.0) / select(crosses, d, S(1.0));
  const S t1 = (S(0.0) - h - p) * inverse, t2 = (h - p) * inverse;
  const Stretch<S> along = all_or_none<S>(vabs(p) <= h);
  return {select(crosses, vmin(t1, t2), along.lower), select(crosses, vmax(t1, t2), along.upper)};
}

// Returns the solutions of a t² + 2 b t + c <= 0, a >= 0; with a = 0 all or none, depending on c.
template <class S>
STICTION_FN Stretch<S> below_parabola(S a, S b, S c) {
  const S discriminant = b * b - a * c;
  const Mask<S> crosses = a > S(0.0);
  const S root = vsqrt(vmax(discriminant, S(0.0)));
  const S inverse = S(1.0) / select(crosses, a, S(1.0));
  const Mask<S> hits = discriminant >= S(0.0);
  const Stretch<S> along = all_or_none<S>(c <= S(0.0));
  return {select(crosses, select(hits, (S(0.0) - b - root) * inverse, far<S>()), along.lower),
          select(crosses, select(hits, (root - b) * inverse, -far<S>()), along.upper)};
}

// Returns the segment with |p + t d| <= r, distances measured perpendicular to the axis z.
template <class S>
STICTION_FN Stretch<S> infinite_cylinder(const Vec3<S>& p, const Vec3<S>& d, S r) {
  return below_parabola<S>(d.x * d.x + d.y * d.y, p.x * d.x + p.y * d.y,
                           p.x * p.x + p.y * p.y - r * r);
}

// Returns the segment with |p + t d| <= r.
template <class S>
STICTION_FN Stretch<S> ball(const Vec3<S>& p, const Vec3<S>& d, S r) {
  return below_parabola<S>(dot(d, d), dot(p, d), dot(p, p) - r * r);
}

STICTION_PHYSICS_END

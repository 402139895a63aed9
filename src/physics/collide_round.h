// Spheres and capsules against each other: the nearest points of their centres or axes.
#pragma once

#include "physics/colliders.h"

STICTION_PHYSICS_BEGIN

template <class W, class Out>
STICTION_FN void collide_sphere_sphere(const Shape<W>& a, const Shape<W>& b, const Out& out) {
  const Vec3<W> d = b.pos - a.pos;
  const W distance = norm(d);
  const Mask<W> apart = distance > W(0.0);
  const W inverse = W(1.0) / divisor<W>(apart, distance);
  const Vec3<W> n = select<W>(apart, inverse * d, a.rot.x);
  out(0, sphere_on_sphere<W>(a.pos, zero3<W>(), a.size.x, d, b.size.x, n));
}

template <class W, class Out>
STICTION_FN void collide_sphere_capsule(const Shape<W>& sphere, const Shape<W>& capsule,
                                        const Out& out) {
  const Segment<W> axis{capsule.pos - sphere.pos, capsule.rot.z, capsule.size.y};
  const Vec3<W> nearest = axis.at(axis.nearest(zero3<W>()));
  const W distance = norm(nearest);
  const Mask<W> apart = distance > W(kTie) * (sphere.size.x + capsule.size.x + axis.half);
  const W inverse = W(1.0) / divisor<W>(apart, distance);
  const Vec3<W> n = select<W>(apart, inverse * nearest, capsule.rot.x);
  out(0, sphere_on_sphere<W>(sphere.pos, zero3<W>(), sphere.size.x, nearest, capsule.size.x, n));
}

// Parameters of a pair of points of two segments, and their distance.
template <class W>
struct Pairing {
  W s, t, distance;  // squared while the nearest is sought
};

// Nearest points of two segments: the common perpendicular, or an end of one and its nearest point
// on the other; every candidate is a pair of points, so the nearest candidate is the answer.
template <class W>
STICTION_FN Pairing<W> nearest_points(const Segment<W>& a, const Segment<W>& b) {
  const Vec3<W> d = b.centre - a.centre;
  const Vec3<W> w = cross(a.dir, b.dir);
  const W sine2 = norm2(w);
  const Mask<W> crosses = sine2 > W(0.0);

  const auto pairing = [&](const W& s, const W& t) {
    return Pairing<W>{s, t, norm2(b.at(t) - a.at(s))};
  };
  Pairing<W> best = pairing(a.half, b.nearest(a.at(a.half)));
  const auto take = [&](const Mask<W>& m, const Pairing<W>& p) {
    best = {select(m, p.s, best.s), select(m, p.t, best.t), select(m, p.distance, best.distance)};
  };
  const auto consider = [&](const W& s, const W& t, const Mask<W>& valid) {
    const Pairing<W> p = pairing(s, t);
    take(valid && p.distance < best.distance, p);
  };
  const Mask<W> always = all_lanes<W>();
  consider(-a.half, b.nearest(a.at(-a.half)), always);
  consider(a.nearest(b.at(b.half)), b.half, always);
  consider(a.nearest(b.at(-b.half)), -b.half, always);
  const W inverse = W(1.0) / divisor<W>(crosses, sine2);
  consider(clamp(inverse * dot(cross(d, b.dir), w), -a.half, a.half),
           clamp(inverse * dot(cross(d, a.dir), w), -b.half, b.half), crosses);

  // Parallel segments: many nearest points, the middle of the overlap stands for them.
  const W reach = b.half * vabs(dot(a.dir, b.dir)), along = dot(a.dir, d);
  const W low = vmax(-a.half, along - reach), high = vmin(a.half, along + reach);
  const W s = clamp(W(0.5) * (low + high), -a.half, a.half);
  Pairing<W> middle = pairing(s, b.nearest(a.at(s)));
  best.distance = vsqrt(best.distance), middle.distance = vsqrt(middle.distance);
  take(middle.distance <= best.distance + W(kTie) * (a.half + b.half), middle);
  return best;
}

template <class W, class Out>
STICTION_FN void collide_capsule_capsule(const Shape<W>& a, const Shape<W>& b, const Out& out) {
  const Segment<W> axis_a{zero3<W>(), a.rot.z, a.size.y};
  const Segment<W> axis_b{b.pos - a.pos, b.rot.z, b.size.y};
  const Pairing<W> nearest = nearest_points(axis_a, axis_b);
  const Vec3<W> p = axis_a.at(nearest.s), q = axis_b.at(nearest.t), d = q - p;

  // where the axes cross: their common perpendicular, on the side of q
  const Vec3<W> w = cross(axis_a.dir, axis_b.dir);
  const W sine = norm(w);
  const Mask<W> crosses = sine > W(kTie);
  const W side = select(dot(w, d) < W(0.0), W(-1.0), W(1.0)) / divisor<W>(crosses, sine);
  const Vec3<W> beside = select<W>(crosses, side * w, a.rot.x);

  const W extent = a.size.x + b.size.x + axis_a.half + axis_b.half;
  const Mask<W> apart = nearest.distance > W(kTie) * extent;
  const W inverse = W(1.0) / divisor<W>(apart, nearest.distance);
  const Vec3<W> n = select<W>(apart, inverse * d, beside);
  out(0, sphere_on_sphere<W>(a.pos, p, a.size.x, q, b.size.x, n));
}

STICTION_PHYSICS_END

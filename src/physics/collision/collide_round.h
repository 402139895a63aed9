// Spheres and capsules against each other: the nearest points of their centres or axes; for nearly parallel axes the
// ends of their overlap.
#pragma once

#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// Two capsules touch at two points while their axes, projected along the normal, form an angle of less than
// asin(1/sqrt(kTurned (1 + overlap/radii))) and overlap by more than radii/kShort, and while their tilt to the
// normal plane is less than asin(1/sqrt(kTilted)).
inline constexpr double kTurned = 25, kShort = 100, kTilted = 4;
inline constexpr double kRounding = 1e-15;  // relative, of a squared length

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

// A point on one axis and the vector from it to a point on the other axis.
template <class W>
struct Bridge {
  Vec3<W> from, way;
};

template <class W>
STICTION_FN Bridge<W> bridge(const Segment<W>& a, const Segment<W>& b, const W& s, const W& t) {
  const Vec3<W> p = a.at(s);
  return {p, b.at(t) - p};
}

// Nearest points of two segments, w the cross product of their directions. They lie on the common perpendicular, or one
// is an end of its segment, and then the other is the point nearest to the end that faces the same way.
template <class W>
STICTION_FN Bridge<W> nearest_points(const Segment<W>& a, const Segment<W>& b, const Vec3<W>& w) {
  const W end_b = select(dot(a.dir, b.dir) < W(0.0), -b.half, b.half);
  const W low_t = b.nearest(a.at(-a.half)), high_t = b.nearest(a.at(a.half));
  const W low = norm2(bridge(a, b, a.nearest(b.at(-end_b)), low_t).way);
  const W high = norm2(bridge(a, b, a.nearest(b.at(end_b)), high_t).way);
  // each the nearest to the other: for perpendicular axes both ends are equally near up to round-off
  const W end_s = a.nearest(b.at(select(high < low, high_t, low_t)));
  const Bridge<W> end = bridge(a, b, end_s, b.nearest(a.at(end_s)));

  const Vec3<W> d = b.centre - a.centre;
  const W sine2 = norm2(w);
  const Mask<W> crosses = sine2 > W(0.0);
  const W inverse = W(1.0) / divisor<W>(crosses, sine2);
  const W s = inverse * dot(cross(d, b.dir), w), t = inverse * dot(cross(d, a.dir), w);
  const Bridge<W> across = bridge(a, b, clamp(s, -a.half, a.half), clamp(t, -b.half, b.half));
  // axes that are parallel up to round-off give arbitrary s and t
  const Mask<W> within = crosses && vabs(s) <= a.half && vabs(t) <= b.half;
  const Mask<W> nearer = within && norm2(across.way) <= W(1 + kRounding) * norm2(end.way);
  return {select<W>(nearer, across.from, end.from), select<W>(nearer, across.way, end.way)};
}

// The part where both segments overlap, seen along n: its ends, in the direction of the first, and its length.
template <class W>
struct Overlap {
  Bridge<W> low, high;
  W length;
};

// Overlap of segments that are nearly perpendicular to n, lanes `lie`; other lanes get an arbitrary part.
template <class W>
STICTION_FN Overlap<W> overlap_along(const Segment<W>& a, const Segment<W>& b, const Vec3<W>& n,
                                     const Mask<W>& lie) {
  const W zero(0.0), one(1.0);
  const Vec3<W> flat_a = a.dir - dot(n, a.dir) * n, flat_b = b.dir - dot(n, b.dir) * n;
  const W same = select(dot(flat_a, flat_b) < zero, -one, one);
  const Vec3<W> sum = flat_a + same * flat_b;
  const Vec3<W> along = (one / divisor<W>(lie, norm(sum))) * sum;
  const W rate_a = dot(a.dir, along), rate_b = same * dot(b.dir, along);
  const W reach_a = a.half * rate_a, reach_b = b.half * rate_b;
  const W offset = dot(b.centre - a.centre, along);
  const W low = vmax(-reach_a, offset - reach_b), high = vmin(reach_a, offset + reach_b);
  const W inverse_a = one / divisor<W>(lie, rate_a), inverse_b = same / divisor<W>(lie, rate_b);
  const auto at = [&](const W& x) {
    return bridge(a, b, clamp(inverse_a * x, -a.half, a.half),
                  clamp(inverse_b * (x - offset), -b.half, b.half));
  };
  return {at(low), at(high), vmax(high - low, zero)};
}

// Measures how unlike a line contact the overlap is: 0 gives two points, 1 the same point twice, 2 one point.
template <class W>
STICTION_FN W unlike_a_line(const W& turned, const W& length, const W& radii) {
  const W wide = vmax(radii - W(kShort) * length, W(0.0));
  const W weighted = turned * length + wide;
  const Mask<W> below = weighted < W(2.0) * length;
  return select(below, weighted / divisor<W>(below, length), W(2.0));
}

// The axes of two capsules, relative to the centre of the first, their nearest points and a unit normal.
template <class W>
struct Axes {
  Segment<W> a, b;
  Vec3<W> w, normal;  // w: cross product of the directions
  Bridge<W> nearest;
};

template <class W>
STICTION_FN Axes<W> axes_of(const Shape<W>& a, const Shape<W>& b) {
  const W zero(0.0), one(1.0);
  const Segment<W> axis_a{zero3<W>(), a.rot.z, a.size.y};
  const Segment<W> axis_b{b.pos - a.pos, b.rot.z, b.size.y};
  const Vec3<W> w = cross(axis_a.dir, axis_b.dir);
  const Bridge<W> nearest = nearest_points<W>(axis_a, axis_b, w);
  // where the axes intersect, their common perpendicular on the side of b
  const W distance = norm(nearest.way), sine = norm(w);
  const Mask<W> crosses = sine > W(kTie);
  const W side = select(dot(w, nearest.way) < zero, -one, one) / divisor<W>(crosses, sine);
  const Vec3<W> beside = select<W>(crosses, side * w, a.rot.x);
  const Mask<W> apart = distance > W(kTie) * (a.size.x + b.size.x + axis_a.half + axis_b.half);
  const W inverse = one / divisor<W>(apart, distance);
  return {axis_a, axis_b, w, select<W>(apart, inverse * nearest.way, beside), nearest};
}

// Returns the witness at the nearest points alone.
template <class W>
STICTION_FN Witness<W> nearest_of_capsules(const Shape<W>& a, const Shape<W>& b) {
  const Axes<W> axes = axes_of<W>(a, b);
  const Vec3<W>& p = axes.nearest.from;
  return sphere_on_sphere<W>(a.pos, p, a.size.x, p + axes.nearest.way, b.size.x, axes.normal);
}

template <class W, class Out>
STICTION_FN void collide_capsule_capsule(const Shape<W>& a, const Shape<W>& b, const Out& out) {
  const W zero(0.0), one(1.0), two(2.0), radii = a.size.x + b.size.x;

  // 1. the nearest points and the normal
  const Axes<W> axes = axes_of<W>(a, b);
  const Bridge<W>& nearest = axes.nearest;
  const Vec3<W>& n = axes.normal;

  // 2. the overlap, unless the axes cross or one is nearly perpendicular to the other
  const W lean_a = dot(axes.a.dir, n), lean_b = dot(axes.b.dir, n), turn = dot(axes.w, n);
  const W tilt = W(kTilted) * (one - (one - lean_a * lean_a) * (one - lean_b * lean_b));
  const W turned = W(kTurned) * (turn * turn), tilted = tilt * tilt;
  const Mask<W> lie = turned + tilted < two;
  Overlap<W> overlap{nearest, nearest, zero};
  W unlike = two;
  if (any_lane(lie)) {
    overlap = overlap_along<W>(axes.a, axes.b, n, lie);
    const W relative = one + overlap.length / divisor<W>(radii > zero, radii);
    unlike = unlike_a_line<W>(turned * relative + tilted, overlap.length, radii);
  }
  const W share = vmax(one - unlike, zero), fade = vmax(unlike - one, zero);

  // 3. the two points, midway between the axes as seen along n
  const auto put = [&](int k, const Bridge<W>& end, const W& size) {
    const Vec3<W> way = nearest.way + share * (end.way - nearest.way);
    const Vec3<W> beneath = W(0.5) * (way - dot(n, way) * n);
    const Vec3<W> p = nearest.from + share * (end.from - nearest.from) + beneath;
    out(k, sphere_on_sphere<W>(a.pos, p, size * a.size.x, p + dot(n, way) * n, size * b.size.x, n));
  };
  put(0, overlap.low, one);
  put(1, overlap.high, one - fade);
}

STICTION_PHYSICS_END

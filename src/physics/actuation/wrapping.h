// The shortest path of a tendon between two points around a sphere or a cylinder, computed as in MuJoCo: in
// the plane, around a circle about the origin.
//
//   outside   two tangents and the arc between them, if the straight line meets the circle: the shorter side;
//             with a side point the path never crosses the ray from the centre away from that point
//   inside    the side point lies inside: the tendon touches the circle from within, at one point where both
//             segments make the same angle with the radius,
//                 asin(A z) + asin(B z) − 2 asin z + G = 0,  A = r/|p0|,  B = r/|p1|,  G the angle at the centre
//
// Lanes may differ in whether the tendon wraps.
#pragma once

#include "physics/base/functions.h"

STICTION_PHYSICS_BEGIN

template <class W>
struct Vec2 {
  W x, y;
};
template <class W>
STICTION_FN W dot(const Vec2<W>& a, const Vec2<W>& b) {
  return a.x * b.x + a.y * b.y;
}
template <class W>
STICTION_FN W cross(const Vec2<W>& a, const Vec2<W>& b) {
  return a.x * b.y - a.y * b.x;
}
template <class W>
STICTION_FN Vec2<W> operator-(const Vec2<W>& a, const Vec2<W>& b) {
  return {a.x - b.x, a.y - b.y};
}
template <class W>
STICTION_FN Vec2<W> operator+(const Vec2<W>& a, const Vec2<W>& b) {
  return {a.x + b.x, a.y + b.y};
}
template <class W>
STICTION_FN Vec2<W> operator*(const W& s, const Vec2<W>& a) {
  return {s * a.x, s * a.y};
}
template <class W>
STICTION_FN Vec2<W> select(const Mask<W>& m, const Vec2<W>& a, const Vec2<W>& b) {
  return {select(m, a.x, b.x), select(m, a.y, b.y)};
}
// Returns a/|a|, or (1, 0) for a = 0.
template <class W>
STICTION_FN Vec2<W> unit(const Vec2<W>& a) {
  const W length = vsqrt(dot(a, a));
  const Mask<W> some = length > W(0.0);
  const W inverse = W(1.0) / select(some, length, W(1.0));
  return {select(some, inverse * a.x, W(1.0)), inverse * a.y};
}
template <class W>
STICTION_FN Vec3<W> unit(const Vec3<W>& a) {
  const W length = norm(a);
  const Mask<W> some = length > W(0.0);
  const W inverse = W(1.0) / select(some, length, W(1.0));
  return {select(some, inverse * a.x, W(1.0)), inverse * a.y, inverse * a.z};
}
// Returns asin x, 0 <= x <= 1.
template <class W>
STICTION_FN W arcsine(const W& x) {
  return atan2(x, vsqrt(vmax((W(1.0) - x) * (W(1.0) + x), W(0.0))));
}

// The tangent points where the path leaves the first point's side and arrives at the second's; `arc` lies between them.
template <class W>
struct CircleWrap {
  Mask<W> wraps;
  Vec2<W> first, second;
  W arc;
};

inline constexpr double kParallel = 1e-15;  // sine of the angle below which lines count as parallel
// Relative tolerance of squared distances: a point this little inside a circle counts as on it. A tangent that
// round-off lets dip into the circle would have its tangent points in the wrong order, and its arc would go all around.
inline constexpr double kTangential = 1e-12;

template <class W>
STICTION_FN Mask<W> segments_meet(const Vec2<W>& p1, const Vec2<W>& p2, const Vec2<W>& p3,
                                  const Vec2<W>& p4) {
  const Vec2<W> u = p2 - p1, v = p4 - p3, w = p1 - p3;
  const W det = v.y * u.x - v.x * u.y, zero = W(0.0), one = W(1.0);
  const Mask<W> cross_each_other = det * det > W(kParallel * kParallel) * (dot(u, u) * dot(v, v));
  const W inverse = one / select(cross_each_other, det, one);
  const W a = inverse * (v.x * w.y - v.y * w.x), b = inverse * (u.x * w.y - u.y * w.x);
  return cross_each_other && a >= zero && a <= one && b >= zero && b <= one;
}

// The two tangent points of a path around the circle in the sense `sign`.
template <class W>
struct Tangents {
  Vec2<W> first, second;
  Mask<W> crossed;  // the tangents intersect: no valid path
};
template <class W>
STICTION_FN Tangents<W> tangents(const Vec2<W>& p0, const Vec2<W>& p1, const W& radius,
                                 const W& sign) {
  const W r2 = radius * radius, s0 = dot(p0, p0), s1 = dot(p1, p1), zero = W(0.0), one = W(1.0);
  const W t0 = sign * radius * vsqrt(vmax(s0 - r2, zero));
  const W t1 = sign * radius * vsqrt(vmax(s1 - r2, zero));
  const W i0 = one / select(s0 > zero, s0, one), i1 = one / select(s1 > zero, s1, one);
  const Vec2<W> a = {i0 * (p0.x * r2 + p0.y * t0), i0 * (p0.y * r2 - p0.x * t0)};
  const Vec2<W> b = {i1 * (p1.x * r2 - p1.y * t1), i1 * (p1.y * r2 + p1.x * t1)};
  return {a, b, segments_meet(p0, a, p1, b)};
}

// Wraps around the outside. `side`: unit vector towards the side point, if the tendon is `sided`.
template <class W>
STICTION_FN CircleWrap<W> wrap_outside(const Vec2<W>& p0, const Vec2<W>& p1, bool sided,
                                       const Vec2<W>& side, const W& radius) {
  const W zero = W(0.0), one = W(1.0), r2 = W(1 - kTangential) * (radius * radius);
  const Vec2<W> dif = p1 - p0;
  const W d2 = dot(dif, dif);
  const Mask<W> apart = d2 > zero;
  // point of the straight line nearest to the centre
  const W a = clamp(-dot(dif, p0) / select(apart, d2, one), zero, one);
  const Vec2<W> nearest = p0 + a * dif;
  Mask<W> clear = dot(nearest, nearest) > r2;
  if (sided) {
    const W c0 = cross(side, p0), c1 = cross(side, p1);
    const Mask<W> crosses = c0 * c1 < zero;
    const W at = c0 / select(crosses, c0 - c1, one);
    clear = clear && !(crosses && dot(side, p0 + at * dif) < zero);
  }
  const Mask<W> outside = dot(p0, p0) >= r2 && dot(p1, p1) >= r2;

  const Tangents<W> left = tangents(p0, p1, radius, one), right = tangents(p0, p1, radius, -one);
  const auto merit = [&](const Tangents<W>& t) {
    const Vec2<W> gap = t.first - t.second;
    return select(t.crossed, W(-std::numeric_limits<double>::infinity()), -dot(gap, gap));
  };
  const auto bearing = [&](const Vec2<W>& p) {  // angle from `side`, in (−π, π]
    const W across = cross(side, p);
    return vcopysign(atan2(vabs(across), dot(side, p)), across);
  };
  const Mask<W> is_left = sided ? bearing(p1) < bearing(p0) : merit(left) > merit(right);
  const Vec2<W> first = select<W>(is_left, left.first, right.first);
  const Vec2<W> second = select<W>(is_left, left.second, right.second);
  const Mask<W> crossed = (is_left && left.crossed) || (!is_left && right.crossed);

  // the angle from one tangent point to the other, in the sense of the path
  const W turn = -cross(first, second);
  const W angle = atan2(vabs(turn), dot(first, second));
  const Mask<W> long_way = (turn > zero && !is_left) || (turn < zero && is_left);
  return {apart && outside && !clear && !crossed, first, second,
          radius * select(long_way, W(6.2831853071795862) - angle, angle)};
}

inline constexpr int kWrapIterations = 20;
inline constexpr double kWrapStart = 1 - 1e-7, kWrapTolerance = 1e-6;  // initial z; rad

// Wraps along the inside.
template <class W>
STICTION_FN CircleWrap<W> wrap_inside(const Vec2<W>& p0, const Vec2<W>& p1, const W& radius) {
  const W zero = W(0.0), one = W(1.0), tolerance = W(kWrapTolerance), least = W(kParallel);
  const W len0 = vsqrt(dot(p0, p0)), len1 = vsqrt(dot(p1, p1));
  const Vec2<W> dif = p1 - p0;
  const W d2 = dot(dif, dif);
  const Mask<W> apart = d2 > zero;
  const W a = -dot(dif, p0) / select(apart, d2, one);
  const Vec2<W> nearest = p0 + a * dif;
  const Mask<W> blocked = apart && a > zero && a < one && dot(nearest, nearest) <= radius * radius;
  const Mask<W> outside = len0 > radius && len1 > radius;
  const W cos_G = dot(p0, p1) / select(outside, len0 * len1, one);
  const Mask<W> wraps = outside && !blocked && cos_G >= least - one;

  const W A = radius / select(outside, len0, radius + radius);
  const W B = radius / select(outside, len1, radius + radius);
  const W G = atan2(vabs(cross(p0, p1)), dot(p0, p1));
  const auto value = [&](const W& z) {
    return arcsine(A * z) + arcsine(B * z) - W(2.0) * arcsine(z) + G;
  };
  // Newton's method from the right; where it fails, the tendon touches the circle between the two points
  W z = W(kWrapStart), f = value(z), count = zero;
  Mask<W> good = wraps && cos_G <= one - least && !(f > zero);
  for (int k = 0; k < kWrapIterations; ++k) {
    const Mask<W> open = good && vabs(f) > tolerance;
    if (!any_lane(open)) break;
    const auto cosine = [&](const W& x) { return vmax(least, vsqrt(vmax(one - x * x, zero))); };
    const W df = A / cosine(A * z) + B / cosine(B * z) - W(2.0) / cosine(z);
    const W next = z - f / df, f_next = value(next);
    good = good && (!open || (df <= -least && next <= z && f_next <= tolerance));
    z = select(open, next, z), f = select(open, f_next, f);
    count = select(open, count + one, count);
  }
  good = good && count < W(kWrapIterations);

  const Mask<W> forward = cross(p0, p1) > zero;
  const Vec2<W> from = unit(select<W>(forward, p0, p1));
  const SinCos<W> turn = sincos(arcsine(z) - arcsine(select(forward, A, B) * z));
  const Vec2<W> turned = {turn.cos * from.x - turn.sin * from.y,
                          turn.sin * from.x + turn.cos * from.y};
  const Vec2<W> touch = radius * select<W>(good, turned, unit(W(0.5) * (p0 + p1)));
  return {wraps, touch, touch, zero};
}

// The path of a tendon around a geom, in space.
template <class W>
struct Wrap {
  Mask<W> wraps;
  Vec3<W> first, second;  // where the path touches the geom
  W arc;                  // length of the path between them
};

// Two axes, in the frame of a sphere, that span the plane through the centre and the two points.
template <class W>
struct PlaneAxes {
  Vec3<W> x, y;
};
template <class W>
STICTION_FN PlaneAxes<W> sphere_axes(const Vec3<W>& p0, const Vec3<W>& p1) {
  const Vec3<W> x = unit(p0);
  const Vec3<W> plain = cross(p0, p1);
  const Mask<W> in_line = norm2(plain) <= W(kParallel * kParallel) * (norm2(p0) * norm2(p1));
  // collinear: any plane; the normal of p0 and (1, 1, 1) without the largest component of p0
  const W ax = vabs(x.x), ay = vabs(x.y), az = vabs(x.z);
  const Mask<W> z_largest = az > ax && az > ay, y_largest = !z_largest && ay > ax && ay > az;
  const Mask<W> x_largest = !z_largest && !y_largest;
  const auto other = [](const Mask<W>& largest) { return select(largest, W(0.0), W(1.0)); };
  const Vec3<W> any = cross(x, {other(x_largest), other(y_largest), other(z_largest)});
  const Vec3<W> normal = unit(select<W>(in_line, any, plain));
  return {x, unit(cross(normal, x))};
}

// Path from x0 to x1 around the geom at `centre` with the axes `frame` (z: the axis of a cylinder); side: the side
// point, if the tendon is `sided`.
template <class W>
STICTION_FN Wrap<W> wrap_string(const Vec3<W>& x0, const Vec3<W>& x1, bool cylinder,
                                const Vec3<W>& centre, const Mat3<W>& frame, const W& radius,
                                bool sided, const Vec3<W>& side) {
  const Vec3<W> p0 = transposed(frame, x0 - centre), p1 = transposed(frame, x1 - centre);
  const W zero = W(0.0), one = W(1.0);
  PlaneAxes<W> axes = {{one, zero, zero}, {zero, one, zero}};
  if (!cylinder) axes = sphere_axes(p0, p1);
  const auto project = [&](const Vec3<W>& p) -> Vec2<W> {
    return {dot(p, axes.x), dot(p, axes.y)};
  };
  const Vec2<W> d0 = project(p0), d1 = project(p1);
  const Vec3<W> s = transposed(frame, side - centre);
  CircleWrap<W> wrap = wrap_outside(d0, d1, sided, unit(project(s)), radius);
  const Mask<W> within = norm2(s) < radius * radius;
  if (sided && any_lane(within)) {
    const CircleWrap<W> inside = wrap_inside(d0, d1, radius);
    wrap.wraps = (within && inside.wraps) || (!within && wrap.wraps);
    wrap.first = select<W>(within, inside.first, wrap.first);
    wrap.second = select<W>(within, inside.second, wrap.second);
    wrap.arc = select(within, inside.arc, wrap.arc);
  }
  Vec3<W> first = wrap.first.x * axes.x + wrap.first.y * axes.y;
  Vec3<W> second = wrap.second.x * axes.x + wrap.second.y * axes.y;
  if (cylinder) {
    // a helix: the height changes linearly along the path
    const Vec2<W> to_first = d0 - wrap.first, to_second = d1 - wrap.second;
    const W l0 = vsqrt(dot(to_first, to_first)), l1 = vsqrt(dot(to_second, to_second));
    const W way = l0 + wrap.arc + l1;
    const W rise = (p1.z - p0.z) / select(way > zero, way, one);
    first.z = p0.z + rise * l0;
    second.z = p0.z + rise * (l0 + wrap.arc);
    const W height = second.z - first.z;
    wrap.arc = vsqrt(wrap.arc * wrap.arc + height * height);
  }
  return {wrap.wraps, centre + frame * first, centre + frame * second, wrap.arc};
}

STICTION_PHYSICS_END

// A point or segment and a cylinder that are apart. The distance of p(t) = p + t u from a convex set is convex in t.
// With e(t) the vector to p(t) from the nearest point of the cylinder,
//
//   g(t) = d/dt |e|²/2 = u·e(t)      never decreases, and is 0 where the segment is nearest.
#pragma once

#include "physics/collision/convex/convex_pair.h"

STICTION_PHYSICS_BEGIN

// Returns e of the point p, in the frame of the cylinder.
STICTION_FN Vec3<double> away_from_cylinder(const Vec3<double>& p, const Vec3<double>& size) {
  const double from_axis = vsqrt(p.x * p.x + p.y * p.y);
  const double share = from_axis > size.x ? 1 - size.x / from_axis : 0.0;
  return {share * p.x, share * p.y, p.z - clamp(p.z, -size.y, size.y)};
}

// Returns dg/dt >= 0 at p: the radial component of u counts in full, the tangential one by the fraction of the radius
// that is outside, the axial one only beyond a cap.
STICTION_FN double slope_along(const Vec3<double>& p, const Vec3<double>& u,
                               const Vec3<double>& size) {
  const double from_axis = vsqrt(p.x * p.x + p.y * p.y);
  double slope = vabs(p.z) > size.y ? u.z * u.z : 0.0;
  if (from_axis > size.x) {
    const double along = (u.x * p.x + u.y * p.y) / from_axis,
                 across2 = u.x * u.x + u.y * u.y - along * along;
    slope = slope + along * along + (1 - size.x / from_axis) * across2;
  }
  return slope;
}

// Newton's method, bracketed by the last t of either sign of g; every third round bisects the bracket instead.
inline constexpr int kMostNewton = 100;

// Returns t of the point of the segment, |t| <= half, that is nearest to the cylinder.
STICTION_FN double nearest_on_segment(const Vec3<double>& p, const Vec3<double>& u, double half,
                                      const Vec3<double>& size) {
  const auto g = [&](double t) { return dot(u, away_from_cylinder(p + t * u, size)); };
  double low = -half, high = half;
  if (!(half > 0) || g(low) >= 0) return low;
  if (g(high) <= 0) return high;
  double t = clamp(-dot(u, p), low, high);
  for (int round = 0; round < kMostNewton; ++round) {
    const double value = g(t);
    if (value == 0) break;
    (value < 0 ? low : high) = t;
    const double slope = slope_along(p + t * u, u, size), step = slope > 0 ? value / slope : 0.0;
    double next = t - step;
    if (!(next > low && next < high) || round % 3 == 2) next = 0.5 * (low + high);
    if (next == t || next == low || next == high) break;
    t = next;
  }
  return t;
}

// Returns the nearest points of the cores; distance 0: they are not apart.
template <class L>
STICTION_RARE ConvexDistance cylinder_apart(const ConvexPair<L>& pair) {
  const LaneShape &a = pair.a, &b = pair.b;
  const double half = a.type == GeomType::capsule ? a.size.y : 0.0;
  const Vec3<double> p = b.local(-pair.between), u = b.local(a.z);
  const double t = nearest_on_segment(p, u, half, b.size);
  const Vec3<double> on_a = p + t * u, away = away_from_cylinder(on_a, b.size);
  const double distance = norm(away);
  if (!(distance > kTouching * pair.extent))
    return {unit3<double>(0), 0, zero3<double>(), zero3<double>()};
  const Vec3<double> core = t * a.z;
  return {b.global((-1 / distance) * away), distance, core, core - b.global(away)};
}

// Returns whether cylinder_apart handles the pair; the types of a pair are in ascending order.
STICTION_FN bool is_rod_and_cylinder(const LaneShape& a, const LaneShape& b) {
  return b.type == GeomType::cylinder &&
         (a.type == GeomType::sphere || a.type == GeomType::capsule);
}

STICTION_PHYSICS_END

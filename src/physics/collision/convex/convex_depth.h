// Cores that overlap. A polytope finds the shortest way out of D, or shows that the known way is the shortest; rays
// from the origin find the points that touch. Each ray goes along the normal of the facet that the ray before has hit;
// no facet hit is farther than the one before, so the rays end at a facet that contains the foot of the origin. Curved
// shapes begin with rays, since a polytope is slow where D is curved. A ray is traced by a portal of three points
// (Snethen, XenoCollide).
#pragma once

#include "physics/collision/convex/convex_polytope.h"

STICTION_PHYSICS_BEGIN

// The facet of D that a ray meets: its outward unit normal, and its distance from the origin.
struct Facet {
  Vec3<double> normal;
  double offset;
  Vec3<double> point_a, point_b;
};

template <class L>
STICTION_FN Facet facet_along(const ConvexPair<L>& pair, const Vec3<double>& m) {
  const Difference d = pair.support(m);
  return {m, dot(m, d.w), d.a, d.b};
}

// If p is near a wide facet, the corners found along the normal of a plane through p may circle around the ray; after
// this many rounds they are sought along a direction across the ray.
inline constexpr int kMostTurns = 24;

// Returns the facet that the ray from p along m meets; p is inside of D.
template <class L>
STICTION_RARE Facet cast(const ConvexPair<L>& pair, const Vec3<double>& p, const Vec3<double>& m) {
  Difference s1 = pair.support(m), s2, s3;
  Vec3<double> v1 = s1.w - p, v2, v3;
  Vec3<double> side = cross(v1, m);
  if (norm(side) <= 1e-14 * pair.extent) {
    side = cross(m, least_axis(m));
  }
  s2 = pair.support((1 / norm(side)) * side), v2 = s2.w - p;
  for (int round = 0;; ++round) {
    Vec3<double> n = cross(v1, v2);
    if (dot(n, m) < 0) {
      const Difference t = s1;
      const Vec3<double> v = v1;
      s1 = s2, v1 = v2, s2 = t, v2 = v, n = -n;
    }
    if (round >= kMostTurns) n = cross(m, v2 - v1);
    const double length = norm(n);
    if (!(length > 0)) return facet_along(pair, m);
    s3 = pair.support((1 / length) * n), v3 = s3.w - p;
    if (round >= kMostSupports) return facet_along(pair, m);
    if (dot(cross(v3, v1), m) < 0) {
      s2 = s3, v2 = v3;
      continue;
    }
    if (dot(cross(v2, v3), m) < 0) {
      s1 = s3, v1 = v3;
      continue;
    }
    break;
  }
  Vec3<double> normal = m;
  double offset = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostSupports; ++round) {
    const Vec3<double> n = cross(v2 - v1, v3 - v1);
    const double length = norm(n);
    if (!(length > 1e-28 * pair.extent * pair.extent)) break;
    const Vec3<double> u = (dot(n, m) < 0 ? -1 / length : 1 / length) * n;
    const Difference s4 = pair.support(u);
    const Vec3<double> v4 = s4.w - p;
    normal = u, offset = dot(u, s4.w);
    if (dot(u, v4 - v1) <= kSettled * pair.extent) break;
    const double d1 = dot(cross(v4, v1), m), d2 = dot(cross(v4, v2), m), d3 = dot(cross(v4, v3), m);
    if (d1 >= 0 && d2 <= 0)
      s3 = s4, v3 = v4;
    else if (d3 >= 0 && d1 <= 0)
      s2 = s4, v2 = v4;
    else
      s1 = s4, v1 = v4;
  }
  if (offset > pair.extent * 4) return facet_along(pair, m);
  // weights of the corners in the point where the ray meets the portal
  const double w1 = vabs(dot(cross(v2, v3), m)), w2 = vabs(dot(cross(v3, v1), m)),
               w3 = vabs(dot(cross(v1, v2), m)), sum = w1 + w2 + w3;
  if (!(sum > 0)) return {normal, offset, s1.a, s1.b};
  const double i = 1 / sum;
  return {normal, offset, (i * w1) * s1.a + ((i * w2) * s2.a + (i * w3) * s3.a),
          (i * w1) * s1.b + ((i * w2) * s2.b + (i * w3) * s3.b)};
}

// A normal that rotates by less has converged.
inline constexpr double kTurns = 1e-9;

// Casts rays from the origin until they converge. Where D is curved, a ray rotates by about the same fraction r of the
// rotation before, the depth over the radius of curvature; so three rays show their limit m + r/(1 - r) (m - m_before),
// which is taken if D ends sooner along it. A normal is known to the square root of the accuracy of its offset, so rays
// go on while each rotates by at most half as much as the one before.
template <class L>
STICTION_FN Facet descend(const ConvexPair<L>& pair, Facet facet) {
  if (facet.offset <= kTouching * pair.extent) return facet;
  Vec3<double> step = zero3<double>();
  for (int round = 0;; ++round) {
    Facet next = cast(pair, zero3<double>(), facet.normal);
    if (round == kMostRays || next.offset > facet.offset + kSettled * pair.extent) {
      facet.point_a = next.point_a, facet.point_b = next.point_b;  // met along its normal
      break;
    }
    const Vec3<double> last = step;
    step = next.normal - facet.normal;
    const double share = dot(step, last), last2 = norm2(last), step2 = norm2(step);
    if (next.offset >= facet.offset - kSettled * pair.extent &&
        (step2 <= kTurns * kTurns || (last2 > 0 && step2 > 0.25 * last2))) {
      facet = next;
      break;
    }
    if (share > 0 && share < 0.99 * last2) {
      const Vec3<double> m = next.normal + (share / (last2 - share)) * step;
      const Facet led = facet_along(pair, (1 / norm(m)) * m);
      if (led.offset < next.offset) next = led, step = zero3<double>();
    }
    facet = next;
  }
  return facet;
}

STICTION_FN bool has_corners(const LaneShape& s) {
  return s.type == GeomType::box || s.type == GeomType::mesh;
}

// Returns the radius of a ball that can roll inside of the core along its whole surface: for an ellipsoid the least
// radius of curvature, else 0.
STICTION_FN double rolling_radius(const LaneShape& s) {
  if (s.type != GeomType::ellipsoid) return 0.0;
  const double least = vmin(vmin(s.size.x, s.size.y), s.size.z);
  return least * least / largest(s.size);
}

// Returns a first bound: the shortest way out along the axes of the shapes and against the line between their centres.
template <class L>
STICTION_FN Facet likely_facet(const ConvexPair<L>& pair) {
  const double length = norm(pair.between);
  const bool apart = length > 1e-9 * pair.extent;
  Facet best = facet_along(pair, apart ? (-1 / length) * pair.between : -pair.a.x);
  const auto consider = [&](const Vec3<double>& axis) {
    const Facet f = facet_along(pair, dot(axis, pair.between) > 0 ? -axis : axis);
    if (f.offset < best.offset) best = f;
  };
  for (int k = 0; k < 2; ++k) {
    const L& s = k == 0 ? pair.a : pair.b;
    if (s.type == GeomType::sphere) continue;
    consider(s.z);
    if (s.type == GeomType::capsule) continue;
    consider(s.x), consider(s.y);
  }
  return best;
}

// Returns the shortest translation that separates overlapping cores. A way out no longer than the radius of a ball that
// rolls inside of D is the shortest: that ball, touching at its end, contains a smaller one around the origin.
template <class L>
STICTION_RARE ConvexDistance least_depth(const ConvexPair<L>& pair) {
  Facet best = likely_facet(pair);
  const bool flat = has_corners(pair.a) && has_corners(pair.b);
  if (!flat) best = descend(pair, best);
  if (flat || best.offset > rolling_radius(pair.a) + rolling_radius(pair.b)) {
    const WayOut way = shortest_way_out(pair, {best.normal, best.offset});
    if (flat || way.length < best.offset - 10 * kSettled * pair.extent)
      best = descend(pair, facet_along(pair, way.m));
  }
  return {-best.normal, -best.offset, best.point_a, best.point_b};
}

STICTION_PHYSICS_END

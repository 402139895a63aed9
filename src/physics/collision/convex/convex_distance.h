// The signed distance of two convex cores and its direction, from D = {b - a}, their difference:
//
//   s(n) = min_{w in D} n·w                   how far they are apart along n
//   distance = max_{|n| = 1} s(n)             apart: |w| of the nearest w to the origin; overlapping:
//                                             minus the shortest translation
//
// All in double, scalar.
#pragma once

#include <type_traits>

#include "physics/collision/convex/convex_apart.h"
#include "physics/collision/convex/convex_cylinder.h"
#include "physics/collision/convex/convex_depth.h"

STICTION_PHYSICS_BEGIN

// n, or the normal of a face or of a side beside it along which the shapes are as far apart: these are
// the exact ends of searches that come near.
template <class L>
STICTION_FN void settle_on(const ConvexPair<L>& pair, const L& s, ConvexDistance& d, bool second) {
  const auto consider = [&](const Vec3<double>& m) {
    const Vec3<double> u = dot(m, d.normal) < 0 ? -m : m;
    if (norm2(cross(u, d.normal)) > 1e-10) return;
    const double along = dot(u, pair.support(-u).w);
    if (along >= d.distance - 10 * kSettled * pair.extent) d.normal = u, d.distance = along;
  };
  if (s.type == GeomType::box) consider(s.x), consider(s.y);
  if (s.type == GeomType::box || s.type == GeomType::cylinder) consider(s.z);
  if constexpr (std::is_same_v<L, HullShape>) {
    if (s.type == GeomType::mesh) {  // faces at the vertex that is farthest
      const Vec3<double> m = s.local(second ? -d.normal : d.normal);
      s.hull.faces_at(farthest_vertex(s.hull, m), [&](int f) {
        const Vec3<double> n = s.hull.normal(f);
        if (dot(n, m) > 0.9) consider(s.global(n));
      });
    }
  }
  const Vec3<double> side = d.normal - dot(s.z, d.normal) * s.z;
  if (s.type == GeomType::cylinder && norm2(side) > 0.5) consider((1 / norm(side)) * side);
}

// Down to this share of the extent.
inline constexpr double kDeep = 1e-3;

// Cores that touch: the direction from the nearest point to the origin is round-off there. One is pulled away
// along the normal n_k, by δ, and they are apart:
//   n_{k+1} = argmax_n s(n) + δ n·n_k,   so   s(n_{k+1}) >= s(n_k) + δ (1 - n_{k+1}·n_k) >= s(n_k)
template <class L>
STICTION_RARE void pull_apart(const ConvexPair<L>& pair, ConvexDistance& d) {
  for (int round = 0; round < kMostPulls; ++round) {
    const Vec3<double> pull = vmax(kPull * pair.extent, -2 * d.distance) * d.normal;
    ConvexPair<L> pulled = pair;
    pulled.between = pair.between + pull;
    ConvexDistance next = nearest_points_apart(pulled, std::numeric_limits<double>::infinity());
    if (next.distance == 0) return;
    next.point_b = next.point_b - pull;
    next.distance = dot(next.normal, pair.support(-next.normal).w);
    const double gain = next.distance - d.distance;
    if (gain > 0) d = next;
    // a facet's points are opposite each other only where it was met along its normal; these are
    else if (gain >= -kClose * pair.extent)
      d.point_a = next.point_a, d.point_b = next.point_b;
    if (gain <= kSettled * pair.extent) return;
  }
}

// Of two shapes, their radii included; points about the centre of a. Beyond `reach` a lower bound. `axis`, from a towards b:
// along which they may be apart; none where it is no unit vector.
template <class L>
STICTION_RARE ConvexDistance convex_distance(const L& a, const L& b, double reach,
                                             const Vec3<double>& axis = zero3<double>()) {
  ConvexPair<L> pair{a, b, b.centre - a.centre, 0};
  pair.extent = core_extent(a) + core_extent(b) + norm(pair.between);
  const double radii = a.radius() + b.radius();
  // shows of most shapes that are beyond reach that they are; no search would find them nearer
  const double length2 = norm2(axis);
  if (length2 > 0.9 && length2 < 1.1) {
    const Vec3<double> n = (1 / vsqrt(length2)) * axis;
    const double along = dot(n, pair.support(-n).w);
    if (along > reach + radii + kTouching * pair.extent)
      return {n, along - radii, zero3<double>(), zero3<double>()};
  }
  ConvexDistance d =
      is_rod_and_cylinder(a, b) ? cylinder_apart(pair) : nearest_points_apart(pair, reach + radii);
  if (d.distance > reach + radii) {
    d.distance = d.distance - radii;
    return d;
  }
  if (d.distance == 0) {
    d = least_depth(pair);
    if (d.distance >= -kDeep * pair.extent) pull_apart(pair, d);
  }
  settle_on(pair, a, d, false), settle_on(pair, b, d, true);
  d.distance = d.distance - a.radius() - b.radius();
  d.point_a = d.point_a + a.radius() * d.normal;
  d.point_b = d.point_b - b.radius() * d.normal;
  return d;
}

STICTION_PHYSICS_END

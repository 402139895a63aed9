// The signed distance of two convex cores and its direction, from their difference D = {b - a}:
//
//   s(n) = min_{w in D} n·w                   the separation along n
//   distance = max_{|n| = 1} s(n)             apart: |w| of the w nearest to the origin; overlapping:
//                                             minus the shortest translation
//
// Scalar code in double.
#pragma once

#include <type_traits>

#include "physics/collision/convex/convex_apart.h"
#include "physics/collision/convex/convex_cylinder.h"
#include "physics/collision/convex/convex_depth.h"

STICTION_PHYSICS_BEGIN

// Replaces n by the normal of a face or side close to it along which the shapes are equally far apart: the
// exact limit of a search that only comes near.
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
    if (s.type == GeomType::mesh) {  // the faces at the farthest vertex
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

// The depth, as a fraction of the extent, down to which cores are pulled apart.
inline constexpr double kDeep = 1e-3;

// Improves the normal of cores that touch, where the direction from the nearest point to the origin is round-off: one
// core is pulled away by δ along the normal n_k, and the cores are apart:
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
    // points of a facet are opposite each other only if a ray met it along its normal; these are
    else if (gain >= -kClose * pair.extent)
      d.point_a = next.point_a, d.point_b = next.point_b;
    if (gain <= kSettled * pair.extent) return;
  }
}

// Returns the distance of two shapes, their radii included; points about the centre of a. Beyond `reach` a lower bound.
// `axis`: direction from a towards b along which they may be apart; ignored unless it is a unit vector.
template <class L>
STICTION_RARE ConvexDistance convex_distance(const L& a, const L& b, double reach,
                                             const Vec3<double>& axis = zero3<double>()) {
  ConvexPair<L> pair{a, b, b.centre - a.centre, 0};
  pair.extent = core_extent(a) + core_extent(b) + norm(pair.between);
  const double radii = a.radius() + b.radius();
  // shows for most shapes beyond reach that they are beyond; no search would find a smaller distance
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

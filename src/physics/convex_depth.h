// Cores that overlap: rays from the origin, each along the normal of the facet that the ray before has hit: no
// facet that is hit is farther than the one before, so this ends on a facet on which the origin has its foot. A
// ray is followed by a portal of three points (Snethen, XenoCollide).
#pragma once

#include "physics/convex_pair.h"

STICTION_PHYSICS_BEGIN

// The facet of D that a ray meets: its outward unit normal, how far it is from the origin.
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

// The axis that is farthest from m.
STICTION_FN Vec3<double> least_axis(const Vec3<double>& m) {
  const Vec3<double> flat = abs3(m);
  return unit3<double>(flat.x <= flat.y && flat.x <= flat.z ? 0 : flat.y <= flat.z ? 1 : 2);
}

// The facet that the ray from p along m meets; p inside of D.
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
  // where the ray meets the portal: weights of its corners
  const double w1 = vabs(dot(cross(v2, v3), m)), w2 = vabs(dot(cross(v3, v1), m)),
               w3 = vabs(dot(cross(v1, v2), m)), sum = w1 + w2 + w3;
  if (!(sum > 0)) return {normal, offset, s1.a, s1.b};
  const double i = 1 / sum;
  return {normal, offset, (i * w1) * s1.a + ((i * w2) * s2.a + (i * w3) * s3.a),
          (i * w1) * s1.b + ((i * w2) * s2.b + (i * w3) * s3.b)};
}

// The k-th of the directions in which shapes may be shallowest: towards the faces, edges and corners of
// the box around each, and along the common perpendiculars of their axes. Of meshes also their faces' normals.
inline constexpr int kLikely = 26 + 26 + 18;
template <class L>
STICTION_FN Vec3<double> likely_direction(const ConvexPair<L>& pair, int k) {
  if (k < 52) {
    const LaneShape& s = k < 26 ? pair.a : pair.b;
    const int f = k % 26 < 13 ? k % 26 : k % 26 + 1;  // 13: the middle
    const Vec3<double> m =
        s.global({static_cast<double>(f % 3 - 1), static_cast<double>(f / 3 % 3 - 1),
                  static_cast<double>(f / 9 - 1)});
    return (1 / norm(m)) * m;
  }
  const auto axis = [](const LaneShape& s, int i) { return i == 0 ? s.x : i == 1 ? s.y : s.z; };
  const int i = (k - 52) / 2;
  const Vec3<double> w = cross(axis(pair.a, i / 3), axis(pair.b, i % 3));
  const double length = norm(w);
  const Vec3<double> m = length > 1e-6 ? (1 / length) * w : axis(pair.a, 0);
  return k % 2 == 0 ? m : -m;
}

// Rays from the origin until they stay.
template <class L>
STICTION_FN Facet descend(const ConvexPair<L>& pair, Facet facet) {
  if (facet.offset <= kTouching * pair.extent) return facet;
  for (int round = 0; round < kMostRays; ++round) {
    const Facet next = cast(pair, zero3<double>(), facet.normal);
    if (next.offset > facet.offset + kSettled * pair.extent) break;
    const bool settled = next.offset >= facet.offset - kSettled * pair.extent;
    facet = next;
    if (settled) break;
  }
  return facet;
}

// Deeper than this share of the extent other ways out are tried, from so many of the likely directions.
inline constexpr double kDeep = 1e-3;
inline constexpr int kStarts = 4;

// Where a shallow origin is near an edge of D, a facet beside the found one may be nearer. Rays to its
// sides find it: eight around its normal, at 45 and at 79 degrees to it, from a point a little farther
// inside, since an origin on the boundary is where rays degenerate.
template <class L>
STICTION_FN Facet look_aside(const ConvexPair<L>& pair, Facet best) {
  const double share = kDeep;  // a constant of the file has no address on a device
  const Vec3<double> inside = share * pair.between;
  for (int round = 0; round < kStarts; ++round) {
    const Vec3<double> n = best.normal;
    Vec3<double> x = cross(n, least_axis(n));
    x = (1 / norm(x)) * x;
    const Vec3<double> y = cross(n, x);
    Facet nearer = best;
    for (int k = 0; k < 18; ++k) {
      const double i = k % 3 - 1, j = k / 3 % 3 - 1;
      if (i == 0 && j == 0) continue;
      const Vec3<double> side = (1 / vsqrt(i * i + j * j)) * (i * x + j * y);
      const Vec3<double> m = (k < 9 ? 1.0 : 0.2) * n + side;
      const Facet f = cast(pair, inside, (1 / norm(m)) * m);
      if (f.offset < nearer.offset) nearer = f;
    }
    if (nearer.offset >= best.offset - 10 * kSettled * pair.extent) break;
    best = descend(pair, nearer);
  }
  return best;
}

// Of a hull with more faces every n-th is tried.
inline constexpr int kMostFaces = 64;

// The directions among the likely ones along which D reaches least far, rising.
struct Starts {
  int count;
  double offset[kStarts];
  Vec3<double> direction[kStarts];

  template <class L>
  STICTION_FN void consider(const ConvexPair<L>& pair, const Vec3<double>& m, double limit) {
    const double reach = dot(m, pair.support(m).w);
    if (!(reach < limit)) return;
    int place = count;
    for (; place > 0 && offset[place - 1] >= reach; --place)
      if (offset[place - 1] == reach) return;
    if (place == kStarts) return;
    if (count < kStarts) ++count;
    for (int k = count - 1; k > place; --k)
      offset[k] = offset[k - 1], direction[k] = direction[k - 1];
    offset[place] = reach, direction[place] = m;
  }
  // The faces of a mesh; `sign` -1: of the first shape, which D has turned round.
  STICTION_FN void consider_faces(const ConvexPair<LaneShape>&, const LaneShape&, double, double) {}
  STICTION_FN void consider_faces(const ConvexPair<HullShape>& pair, const HullShape& s,
                                  double sign, double limit) {
    if (s.type != GeomType::mesh) return;
    const int faces = s.hull.face_count(), step = (faces + kMostFaces - 1) / kMostFaces;
    for (int f = 0; f < faces; f += step) consider(pair, sign * s.global(s.hull.normal(f)), limit);
  }
};

// The shortest translation of cores that overlap.
template <class L>
STICTION_RARE ConvexDistance least_depth(const ConvexPair<L>& pair) {
  const double length = norm(pair.between);
  const bool apart = length > 1e-9 * pair.extent;
  const Vec3<double> m = apart ? (-1 / length) * pair.between : -pair.a.x;
  Facet best = descend(pair, apart ? cast(pair, pair.between, m) : facet_along(pair, m));
  if (best.offset > kDeep * pair.extent) {
    Starts starts;
    starts.count = 0;
    const double limit = best.offset * 1.5;
    for (int k = 0; k < kLikely; ++k) starts.consider(pair, likely_direction(pair, k), limit);
    starts.consider_faces(pair, pair.a, -1, limit);
    starts.consider_faces(pair, pair.b, 1, limit);
    for (int k = 0; k < starts.count && starts.offset[k] < best.offset * 1.5; ++k) {
      const Facet f = descend(pair, facet_along(pair, starts.direction[k]));
      if (f.offset < best.offset) best = f;
    }
  }
  const auto edged = [](const LaneShape& s) {
    return s.type == GeomType::cylinder || s.type == GeomType::box || s.type == GeomType::mesh;
  };
  if (edged(pair.a) && edged(pair.b)) best = look_aside(pair, best);
  return {-best.normal, -best.offset, best.point_a, best.point_b};
}

STICTION_PHYSICS_END

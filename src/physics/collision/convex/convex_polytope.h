// The shortest way out of D: a polytope inside of D bounds it from below, the support planes of D from above (EPA, the
// expanding polytope algorithm of van den Bergen). Nothing seen through a triangle is nearer to the origin than the
// triangle; so one that is no nearer than a known way out is long is dropped. Once none is left, that way is shortest:
//
//   min_{|m| = 1} h(m) >= min over the triangles of their distance,   h(m) = max_{w in D} m·w
#pragma once

#include "physics/collision/convex/convex_apart.h"

STICTION_PHYSICS_BEGIN

// A way out of D: its unit direction m and its length h(m).
struct WayOut {
  Vec3<double> m;
  double length;
};

// The way found is longer than the shortest by at most this fraction of the extent, unless one of the
// limits below ends the search.
inline constexpr double kLonger = 1e-9;
inline constexpr int kMostCuts = 512;      // evaluations of the support
inline constexpr int kMostTriangles = 64;  // kept at a time: the nearest ones
inline constexpr int kMostCorners = 48;

// Returns the coordinate axis that is most nearly perpendicular to m.
STICTION_FN Vec3<double> least_axis(const Vec3<double>& m) {
  const Vec3<double> flat = abs3(m);
  return unit3<double>(flat.x <= flat.y && flat.x <= flat.z ? 0 : flat.y <= flat.z ? 1 : 2);
}

template <class L>
struct Polytope {
  const ConvexPair<L>* pair;
  WayOut best;   // the shortest that was tried
  double slack;  // kLonger, m
  bool inside;   // the origin is known to be inside of the polytope
  int cuts, count;
  double offset[kMostTriangles];              // distance of the plane from the origin
  Vec3<double> normal[kMostTriangles];        // unit, outwards
  unsigned char triangle[kMostTriangles][3];  // corners, counterclockwise from outside
  Vec3<double> corner[kMostCorners];

  // Returns the point of D farthest along m; shortens `best` if D ends sooner along m.
  STICTION_OUTLINE Vec3<double> cut(const Vec3<double>& m) {
    const Vec3<double> u = (1 / norm(m)) * m, w = pair->support(u).w;
    const double length = dot(u, w);
    if (length < best.length) best = {u, length};
    ++cuts;
    return w;
  }

  // Finds four corners that span a volume, and the triangles between them; false: D is flat, and its normal was tried.
  STICTION_FN bool start() {
    corner[0] = cut(best.m), corner[1] = cut(-best.m);
    const Vec3<double> line = corner[1] - corner[0];
    const double length = norm(line);
    if (!(length > slack)) return false;
    const Vec3<double> beside = cross(line, least_axis(line));
    for (int side = 0; side < 2; ++side) {
      corner[2] = cut(side == 0 ? beside : -beside);
      if (norm(cross(corner[2] - corner[0], line)) > slack * length) break;
    }
    const Vec3<double> across = cross(line, corner[2] - corner[0]);
    const double area = norm(across);
    if (!(area > slack * length)) return false;
    double height = 0;
    for (int side = 0; side < 2; ++side) {
      corner[3] = cut(side == 0 ? across : -across);
      height = dot(across, corner[3] - corner[0]);
      if (vabs(height) > slack * area) break;
    }
    if (!(vabs(height) > slack * area)) return false;
    const int i = height > 0 ? 2 : 1, j = 3 - i;
    add(0, i, j), add(0, j, 3), add(0, 3, i), add(j, i, 3);
    return true;
  }

  // Keeps a triangle if a shorter way out may be seen through it. A triangle no wider than the slack is an edge of its
  // neighbours. If the origin is inside, all triangles face away from it, except those folded over others.
  STICTION_OUTLINE void add(int i, int j, int k) {
    const Vec3<double> p = corner[i], q = corner[j], r = corner[k];
    const Vec3<double> pq = q - p, pr = r - p, n = cross(pq, pr);
    const double longest2 = vmax(vmax(norm2(pq), norm2(pr)), norm2(r - q)), length = norm(n);
    if (!(length * length > slack * slack * longest2)) return;
    const double along = dot(n, p) / length, limit = best.length - slack;
    if (along >= limit) return;
    const bool outside = along < -kSettled * pair->extent;
    if (outside && inside) return;
    if (!outside) {
      double weight[3];
      triangle_foot(p, q, r, weight);
      if (norm(weight[0] * p + (weight[1] * q + weight[2] * r)) >= limit) return;
    }
    if (count == kMostTriangles) {
      const int farthest = farthest_triangle();
      if (offset[farthest] <= along) return;
      move(--count, farthest);
    }
    offset[count] = along, normal[count] = (1 / length) * n;
    triangle[count][0] = static_cast<unsigned char>(i);
    triangle[count][1] = static_cast<unsigned char>(j);
    triangle[count][2] = static_cast<unsigned char>(k);
    ++count;
  }

  STICTION_FN void move(int from, int to) {
    offset[to] = offset[from], normal[to] = normal[from];
    for (int k = 0; k < 3; ++k) triangle[to][k] = triangle[from][k];
  }

  STICTION_FN int farthest_triangle() const {
    int farthest = 0;
    for (int t = 1; t < count; ++t)
      if (offset[t] > offset[farthest]) farthest = t;
    return farthest;
  }

  // Adds w: the triangles that see it are replaced by those between w and their rim. False: there is no room.
  STICTION_FN bool grow(const Vec3<double>& w, int nearest) {
    unsigned char rim[3 * kMostTriangles][2];
    int edges = 0, kept = 0;
    const double far = best.length - slack;
    for (int t = 0; t < count; ++t) {
      if (offset[t] >= far) continue;
      if (t != nearest && dot(normal[t], w) - offset[t] <= kSettled * pair->extent) {
        move(t, kept++);
        continue;
      }
      for (int k = 0; k < 3; ++k) {
        const unsigned char from = triangle[t][k], to = triangle[t][k == 2 ? 0 : k + 1];
        int e = 0;
        while (e < edges && !(rim[e][0] == to && rim[e][1] == from)) ++e;
        if (e < edges) {
          --edges;
          rim[e][0] = rim[edges][0], rim[e][1] = rim[edges][1];
        } else {
          rim[edges][0] = from, rim[edges][1] = to;
          ++edges;
        }
      }
    }
    count = kept;
    int place = kMostCorners;
    for (; place == kMostCorners; move(--count, farthest_triangle())) {
      std::uint64_t used = 0;
      for (int t = 0; t < count; ++t)
        for (int k = 0; k < 3; ++k) used |= std::uint64_t{1} << triangle[t][k];
      for (int e = 0; e < edges; ++e)
        for (int k = 0; k < 2; ++k) used |= std::uint64_t{1} << rim[e][k];
      for (place = 0; place < kMostCorners && (used >> place & 1) != 0;) ++place;
      if (place < kMostCorners) break;
      if (count == 0) return false;
    }
    corner[place] = w;
    for (int e = 0; e < edges; ++e) add(rim[e][0], rim[e][1], place);
    return true;
  }
};

// Returns the shortest way out, which is no longer than `known`.
template <class L>
STICTION_RARE WayOut shortest_way_out(const ConvexPair<L>& pair, const WayOut& known) {
  Polytope<L> polytope;
  polytope.pair = &pair, polytope.best = known, polytope.slack = kLonger * pair.extent;
  polytope.inside = false, polytope.cuts = polytope.count = 0;
  if (!polytope.start()) return polytope.best;
  while (polytope.count > 0 && polytope.cuts < kMostCuts) {
    int nearest = 0;
    for (int t = 1; t < polytope.count; ++t)
      if (polytope.offset[t] < polytope.offset[nearest]) nearest = t;
    const double offset = polytope.offset[nearest];
    polytope.inside = polytope.inside || offset >= -kSettled * pair.extent;
    if (offset >= polytope.best.length - polytope.slack) break;
    const Vec3<double> m = polytope.normal[nearest], w = polytope.cut(m);
    if (dot(m, w) - offset <= polytope.slack)
      polytope.move(--polytope.count, nearest);
    else if (!polytope.grow(w, nearest))
      break;
  }
  return polytope.best;
}

STICTION_PHYSICS_END

// Points of two shapes that show faces to each other, one of them a mesh's, and of a mesh on a plane:
// src/reference/collision/geometry.h, "Mesh against a plane".
#pragma once

#include "physics/collision/convex/convex_points.h"
#include "physics/collision/convex/convex_polygon.h"

STICTION_PHYSICS_BEGIN

// Corners that are closer than this share of the extent are one.
inline constexpr double kSame = 1e-6;
inline constexpr double kTilt = 1e-3;  // a slope, rad
// d_0 is so far from the x axis of the face: 52.5 degrees.
inline constexpr double kSlotCosine = 0.6087614290087207, kSlotSine = 0.7933533402912352;

// d_k = u, v, -u, -v, and how far something is along them, by how far it is along u and v.
struct FourWays {
  Vec3<double> u, v;
  STICTION_FN static double along(int k, double a, double b) {
    return k == 0 ? a : k == 1 ? b : k == 2 ? -a : -b;
  }
  STICTION_FN Vec3<double> way(int k) const { return k == 0 ? u : k == 1 ? v : k == 2 ? -u : -v; }
};
STICTION_FN FourWays four_ways(const Vec3<double>& n, const Vec3<double>& x,
                               const Vec3<double>& y) {
  const double cosine = kSlotCosine, sine = kSlotSine;
  const Vec3<double> u = cosine * x + sine * y, v = cosine * y - sine * x;
  return {u - dot(n, u) * n, v - dot(n, v) * n};
}

// The corners of an overlap that are farthest along four directions, while they are offered.
struct FarthestCorners {
  FourWays ways;
  double tie;
  bool any = false;
  double along[4], gap[4];
  Vec3<double> middle[4];

  STICTION_FN FarthestCorners(const FourWays& w, double t) : ways(w), tie(t) {
    for (int k = 0; k < 4; ++k) along[k] = -std::numeric_limits<double>::infinity();
  }
  STICTION_FN void offer(const Vec3<double>& p, double height) {
    const double a = dot(ways.u, p), b = dot(ways.v, p);
    for (int k = 0; k < 4; ++k) {
      const double c = FourWays::along(k, a, b);
      if (!(c > along[k] + tie)) continue;
      along[k] = c, gap[k] = height, middle[k] = p;
    }
    any = true;
  }
};

// How far the corners of a face are along the four directions.
struct FaceExtent {
  const Polygon& face;
  Vec3<double> u, v;  // in the frame of the face
  double a, b;        // of its origin along them
  double most[4];
  int corner[4];  // the first that is as far

  STICTION_FN FaceExtent(const Polygon& f, const FourWays& w, double tie)
      : face(f), u(f.local(w.u)), v(f.local(w.v)), a(dot(w.u, f.origin)), b(dot(w.v, f.origin)) {
    for (int k = 0; k < 4; ++k) most[k] = -std::numeric_limits<double>::infinity(), corner[k] = 0;
    for (int i = 0; i < face.count; ++i) {
      const double at_u = along_u(i), at_v = along_v(i);
      for (int k = 0; k < 4; ++k) {
        const double c = FourWays::along(k, at_u, at_v);
        if (c > most[k] + tie) most[k] = c, corner[k] = i;
      }
    }
  }
  STICTION_FN double along_u(int i) const { return a + dot(u, face.at(i)); }
  STICTION_FN double along_v(int i) const { return b + dot(v, face.at(i)); }
};

// Offers the ends of what of the edges of a face lies over the other one.
template <class Offer>
STICTION_FN void offer_edge(const Polygon& face, int i, FaceCrossings& other, const Offer& offer) {
  const Vec3<double> p = face.placed(face.at(i)), u = face.placed(face.at(face.next(i))) - p;
  const LanePart part = other.over_edge(p, u);
  if (part.low <= part.high) offer(p + part.low * u), offer(p + part.high * u);
}

// Of edges which may have one of the four corners. No corner of the overlap is farther than `limit`, how far the corners of
// both faces are, and none of an edge's than its ends. First come the edges at the corners that are farthest, which mostly leave
// the others nothing.
template <class Offer>
STICTION_OUTLINE void offer_edges(const FaceExtent& extent, FaceCrossings& other,
                                  const FarthestCorners& found, const double* limit,
                                  const Offer& offer) {
  const Polygon& face = extent.face;
  for (int k = 0; k < 8; ++k) {
    const int i = extent.corner[k / 2];
    offer_edge(face, k % 2 == 0 ? i : face.last(i), other, offer);
  }
  double a = extent.along_u(0), b = extent.along_v(0);
  for (int i = 0; i < face.count; ++i) {
    const int j = face.next(i);
    const double c = extent.along_u(j), d = extent.along_v(j);
    bool may = false;
    for (int k = 0; k < 4; ++k)
      may = may || (found.along[k] + found.tie < limit[k] &&
                    vmax(FourWays::along(k, a, b), FourWays::along(k, c, d)) > found.along[k]);
    if (may) offer_edge(face, i, other, offer);
    a = c, b = d;
  }
}

// A slot without a feature repeats the first, out of reach.
STICTION_FN LaneContact out_of_reach(const LaneContact& first, const Vec3<double>& n,
                                     double extent) {
  const double distance = vmax(first.distance, 0.0) + extent;
  return {first.point_a, first.point_a + distance * n, distance};
}

// The nearest of four points goes towards the one that touches, all the way where it is higher by more than
// kTilt of the way, and takes the signed distance.
STICTION_FN void lean(LaneContact* slot, const LaneContact& touch, const Vec3<double>& n) {
  int lowest = 0;
  for (int k = 1; k < 4; ++k)
    if (slot[k].distance < slot[lowest].distance) lowest = k;
  const double excess = slot[lowest].distance - touch.distance, tilt = kTilt;
  if (!(excess > 0)) return;
  const Vec3<double> from = 0.5 * (slot[lowest].point_a + slot[lowest].point_b);
  const Vec3<double> way = 0.5 * (touch.point_a + touch.point_b) - from;
  const double length = tilt * norm(way - dot(n, way) * n);
  if (excess >= length) {
    slot[lowest] = touch;
    return;
  }
  const Vec3<double> middle = from + (excess / length) * way, half = (0.5 * touch.distance) * n;
  slot[lowest] = {middle - half, middle + half, touch.distance};
}

// Four points of the face or cap of the first shape and the face of the second.
STICTION_OUTLINE inline void overlap_points(const ContactList& list, const HullShape& a,
                                            const HullShape& b, const Vec3<double>& between,
                                            const LaneContact& touch) {
  const Vec3<double> n = list.normal, back = -n;
  const double extent = core_extent(a) + core_extent(b), ties = kAsFar, tie = ties * extent;
  const double share_of_one = kSame, same = share_of_one * extent;
  const bool disc = a.type == GeomType::cylinder;
  const Polygon pb = polygon_of(b, between, back);
  Polygon pa{};
  Region ra;
  if (disc) {
    ra = cap_of(a, zero3<double>(), n);
  } else {
    pa = polygon_of(a, zero3<double>(), n);
    ra = pa.plane;
  }
  const bool by_b = disc || pb.area() < (1 - ties) * pa.area();
  const Region& axes = by_b ? pb.plane : ra;
  FarthestCorners found(four_ways(n, axes.x, axes.y), tie);
  const bool steep = dot(ra.outward, n) < 1e-3 || pb.steep(back);
  const auto of_a = [&](const Vec3<double>& p) {
    const double gap = pb.height(p, back);
    found.offer(p + (0.5 * gap) * n, gap);
  };
  const auto of_b = [&](const Vec3<double>& p) {
    const double gap = ra.height(p, n);
    found.offer(p - (0.5 * gap) * n, gap);
  };
  if (!steep && disc) {
    for (int k = 0; k < 4; ++k) {
      const Vec3<double> d = found.ways.way(k);
      const double x = dot(ra.x, d), y = dot(ra.y, d), length = vsqrt(x * x + y * y);
      const double share = length > 0 ? ra.half_x / length : 0.0;
      const Vec3<double> rim = ra.centre + (share * x) * ra.x + (share * y) * ra.y;
      const LanePart here = over(pb, rim, zero3<double>(), {0, 0}, back, tie);
      if (here.low <= here.high) of_a(rim);
    }
    for (int i = 0; i < pb.count; ++i) {
      const Vec3<double> p = pb.placed(pb.at(i)), u = pb.placed(pb.at(pb.next(i))) - p;
      const LanePart part = over(ra, p, u, {0, 1}, n);
      if (part.low <= part.high) of_b(p + part.low * u), of_b(p + part.high * u);
    }
  }
  if (!steep && !disc) {
    FaceCrossings over_a(pa, n, tie), over_b(pb, back, tie);
    if (pa.count <= kFewCorners && pb.count <= kFewCorners) {
      for (int i = 0; i < pa.count; ++i) offer_edge(pa, i, over_b, of_a);
      for (int i = 0; i < pb.count; ++i) offer_edge(pb, i, over_a, of_b);
    } else {
      const FaceExtent ea(pa, found.ways, tie), eb(pb, found.ways, tie);
      double limit[4];
      for (int k = 0; k < 4; ++k) limit[k] = vmin(ea.most[k], eb.most[k]);
      offer_edges(ea, over_b, found, limit, of_a), offer_edges(eb, over_a, found, limit, of_b);
    }
  }
  for (int k = 0; k < 4; ++k) {
    bool known = !found.any;
    for (int j = 0; j < k; ++j) known = known || norm(found.middle[j] - found.middle[k]) <= same;
    if (known) {
      list.slot[k] = k == 0 ? touch : out_of_reach(list.slot[0], n, extent);
      continue;
    }
    const double distance = vmax(found.gap[k], list.least);
    const Vec3<double> half = (0.5 * distance) * n;
    list.slot[k] = {found.middle[k] - half, found.middle[k] + half, distance};
  }
  lean(list.slot, touch, n);
}

// Four corners of the face that looks at a plane, whose normal is a.z; returns the vertex that is deepest.
STICTION_OUTLINE inline LaneContact plane_corners(const HullShape& a, const HullShape& b,
                                                  LaneContact* slot) {
  const Vec3<double> n = a.z, between = b.centre - a.centre, back = -n;
  const double share_of_one = kSame, same = share_of_one * core_extent(b);
  const auto witness = [&](const Vec3<double>& p) {
    const double distance = dot(n, p);
    return LaneContact{p - distance * n, p, distance};
  };
  const Polygon face = polygon_of(b, between, back);
  const FaceExtent farthest(face, four_ways(n, face.plane.x, face.plane.y),
                            kAsFar * core_extent(b));
  Vec3<double> p[4];
  for (int k = 0; k < 4; ++k) {
    p[k] = face.placed(face.at(farthest.corner[k]));
    bool known = false;
    for (int j = 0; j < k; ++j) known = known || norm(p[j] - p[k]) <= same;
    slot[k] = known ? out_of_reach(slot[0], n, core_extent(b)) : witness(p[k]);
  }
  return witness(between + b.global(b.hull.vertex(farthest_vertex(b.hull, b.local(back)))));
}

// The same, the nearest of them moved to the vertex that is deepest where that is none of them.
STICTION_OUTLINE inline void plane_points(const HullShape& a, const HullShape& b,
                                          LaneContact* slot) {
  const LaneContact deepest = plane_corners(a, b, slot);
  lean(slot, deepest, a.z);
}

STICTION_PHYSICS_END

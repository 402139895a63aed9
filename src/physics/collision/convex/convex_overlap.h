// Contact points of two shapes with opposing faces, one of them a mesh, and of a mesh on a plane:
// src/reference/collision/geometry.h, "Mesh against a plane".
#pragma once

#include "physics/collision/convex/convex_points.h"
#include "physics/collision/convex/convex_polygon.h"

STICTION_PHYSICS_BEGIN

// Collects the corners of an overlap that are farthest along four directions, out of those offered.
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

// The extent of a face along the four directions, and the corners that reach it.
struct FaceExtent {
  const Polygon& face;
  Vec3<double> u, v;  // in the frame of the face
  double a, b;        // coordinates of its origin along the directions u and v
  double most[4];
  int corner[4];  // the first corner at that extent

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

// Offers the ends of the part of edge i of a face that lies over the other face.
template <class Offer>
STICTION_FN void offer_edge(const Polygon& face, int i, FaceCrossings& other, const Offer& offer) {
  const Vec3<double> p = face.placed(face.at(i)), u = face.placed(face.at(face.next(i))) - p;
  const LanePart part = other.over_edge(p, u);
  if (part.low <= part.high) offer(p + part.low * u), offer(p + part.high * u);
}

// Offers the edges that may have one of the four corners. No corner of the overlap is farther than `limit`, the smaller
// extent of the two faces, and no point of an edge is farther than the edge's ends. The edges at the corners that are
// farthest come first; mostly they leave nothing to the others.
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

// Slots without a point repeat the first slot that has one, out of reach.
STICTION_FN void repeat_first(LaneContact* slot, const FourPoints& points, const Vec3<double>& n,
                              double extent) {
  const LaneContact first = slot[points.has[0] ? 0 : points.has[1] ? 1 : points.has[2] ? 2 : 3];
  const double distance = vmax(first.distance, 0.0) + extent;
  for (int k = 0; k < 4; ++k)
    if (!points.has[k]) slot[k] = {first.point_a, first.point_a + distance * n, distance};
}

// Gives the nearest of four points the signed distance. All points come nearer by the excess of the nearest over the
// touching point, while that excess is at most kPatchSlope times the way to the touching point. From there to twice as
// much excess the nearest point moves to the touching point, and the others keep more and more of their distances.
STICTION_FN void settle(LaneContact* slot, const LaneContact& touch, const Vec3<double>& n) {
  int lowest = 0;
  for (int k = 1; k < 4; ++k)
    if (slot[k].distance < slot[lowest].distance) lowest = k;
  const double excess = slot[lowest].distance - touch.distance, slope = kPatchSlope;
  if (!(excess > 0)) return;
  const Vec3<double> way = touch.point_a - slot[lowest].point_a;
  const double room = slope * norm(way - dot(n, way) * n);
  const double share = excess < 2 * room ? vmax(excess / room - 1, 0.0) : 1.0;
  slot[lowest].point_a = slot[lowest].point_a + share * way;
  for (int k = 0; k < 4; ++k) {
    slot[k].distance = k == lowest ? touch.distance : slot[k].distance - (1 - share) * excess;
    slot[k].point_b = slot[k].point_a + slot[k].distance * n;
  }
}

// Offers the points of a cap's rim along four directions that are over a face, and the points where the edges of the
// face enter and leave the cap; n points from the cap to the face.
template <class OfA, class OfB>
STICTION_FN void offer_rim(const Region& cap, const Polygon& face, const Vec3<double>& n,
                           double tie, const FourWays& ways, const OfA& of_a, const OfB& of_b) {
  for (int k = 0; k < 4; ++k) {
    const Vec3<double> d = ways.way(k);
    const double x = dot(cap.x, d), y = dot(cap.y, d), length = vsqrt(x * x + y * y);
    const double share = length > 0 ? cap.half_x / length : 0.0;
    const Vec3<double> rim = cap.centre + (share * x) * cap.x + (share * y) * cap.y;
    const LanePart here = over(face, rim, zero3<double>(), {0, 0}, -n, tie);
    if (here.low <= here.high) of_a(rim);
  }
  for (int i = 0; i < face.count; ++i) {
    const Vec3<double> p = face.placed(face.at(i)), u = face.placed(face.at(face.next(i))) - p;
    const LanePart part = over(cap, p, u, {0, 1}, n);
    if (part.low <= part.high) of_b(p + part.low * u), of_b(p + part.high * u);
  }
}

// Offers corners of the overlap of two faces, among them the farthest along the four directions.
template <class OfA, class OfB>
STICTION_FN void offer_faces(const Polygon& a, const Polygon& b, const Vec3<double>& n,
                             const FarthestCorners& found, const OfA& of_a, const OfB& of_b) {
  const double tie = found.tie;
  FaceCrossings over_a(a, n, tie), over_b(b, -n, tie);
  if (a.count <= kFewCorners && b.count <= kFewCorners) {
    for (int i = 0; i < a.count; ++i) offer_edge(a, i, over_b, of_a);
    for (int i = 0; i < b.count; ++i) offer_edge(b, i, over_a, of_b);
    return;
  }
  const FaceExtent ea(a, found.ways, tie), eb(b, found.ways, tie);
  double limit[4];
  for (int k = 0; k < 4; ++k) limit[k] = vmin(ea.most[k], eb.most[k]);
  offer_edges(ea, over_b, found, limit, of_a), offer_edges(eb, over_a, found, limit, of_b);
}

// Writes four points of a hull near a plane whose normal is a.z; returns the deepest vertex. A free slot gets the point
// of its direction if that is outside of the others' polygon, else the vertex farthest along a direction tilted more.
STICTION_OUTLINE inline LaneContact plane_corners(const HullShape& a, const HullShape& b,
                                                  LaneContact* slot) {
  const Vec3<double> n = a.z, between = b.centre - a.centre, m = b.local(-n);
  const double extent = core_extent(b), share_of_one = kSame, same = share_of_one * extent;
  const double tilted = kTiltedSlope;
  const auto witness = [&](const Vec3<double>& local) {
    const Vec3<double> p = between + b.global(local);
    const double distance = dot(n, p);
    return LaneContact{p - distance * n, p, distance};
  };
  const SlotAxes axes = slot_axes(m);
  const FourWays ways = four_ways(m, axes.x, axes.y);
  Vec3<double> along[4];
  FourPoints points = hull_patch(b.hull, m, ways, extent, along);
  bool beside[4];
  for (int k = 0; k < 4; ++k) beside[k] = !points.has[k] && !points.cover(along[k], m, same);
  for (int k = 0; k < 4; ++k)
    if (points.has[k]) points.at[k].p = points.at[k].between;
  for (int k = 0; k < 4; ++k)
    if (beside[k] && !points.knows(along[k], same)) points.put(k, {along[k]}, points.count);
  for (int k = 0; k < 4; ++k) {
    if (points.has[k]) continue;
    const Vec3<double> p = b.hull.vertex(farthest_vertex(b.hull, m + tilted * ways.way(k)));
    if (!points.knows(p, same)) points.put(k, {p}, points.count);
  }
  for (int k = 0; k < 4; ++k)
    if (points.has[k]) slot[k] = witness(points.at[k].p);
  repeat_first(slot, points, n, extent);
  return witness(b.hull.vertex(farthest_vertex(b.hull, m)));
}

// The same on a cap or on a face of a box, if all four points are over it; returns false if they are not.
STICTION_FN bool points_on_flat(const ContactList& list, const Region& flat, const HullShape& a,
                                const HullShape& b, const LaneContact& touch) {
  const Vec3<double> n = list.normal;
  if (dot(flat.outward, n) < 1 - 1e-12) return false;
  HullShape plane{};
  plane.centre = a.centre + flat.centre, plane.z = n;
  LaneContact slot[4];
  plane_corners(plane, b, slot);
  for (int k = 0; k < 4; ++k) {
    slot[k].point_a = flat.centre + slot[k].point_a,
    slot[k].point_b = flat.centre + slot[k].point_b;
    if (flat.away(slot[k].point_a, n) > 0) return false;
  }
  for (int k = 0; k < 4; ++k) list.slot[k] = slot[k];
  settle(list.slot, touch, n);
  return true;
}

// Writes four points of the face or cap of the first shape and the face of the second.
STICTION_OUTLINE inline void overlap_points(const ContactList& list, const HullShape& a,
                                            const HullShape& b, const Vec3<double>& between,
                                            const LaneContact& touch) {
  const Vec3<double> n = list.normal, back = -n;
  const double extent = core_extent(a) + core_extent(b), ties = kAsFar, tie = ties * extent;
  const double share_of_one = kSame, same = share_of_one * extent;
  const bool disc = a.type == GeomType::cylinder;
  Polygon pa{};
  Region ra;
  if (a.type != GeomType::mesh) {
    ra = region_of(a, zero3<double>(), n);
    if (points_on_flat(list, ra, a, b, touch)) return;
  }
  const Polygon pb = polygon_of(b, between, back);
  if (!disc) {
    pa = polygon_of(a, zero3<double>(), n);
    ra = pa.plane;
  }
  const bool by_b = disc || pb.area() < (1 - ties) * pa.area();
  const Region& axes = by_b ? pb.plane : ra;
  const bool steep = dot(ra.outward, n) < 1e-3 || pb.steep(back);
  const auto farthest = [&](const FourWays& ways) {
    FarthestCorners found(ways, tie);
    const auto of_a = [&](const Vec3<double>& p) {
      const double gap = pb.height(p, back);
      found.offer(p + (0.5 * gap) * n, gap);
    };
    const auto of_b = [&](const Vec3<double>& p) {
      const double gap = ra.height(p, n);
      found.offer(p - (0.5 * gap) * n, gap);
    };
    if (!steep && disc) offer_rim(ra, pb, n, tie, ways, of_a, of_b);
    if (!steep && !disc) offer_faces(pa, pb, n, found, of_a, of_b);
    return found;
  };
  const FourWays ways = four_ways(n, axes.x, axes.y);
  const FarthestCorners found = farthest(ways);
  FourPoints points;
  for (int k = 0; k < 4 && found.any; ++k)
    if (!points.knows(found.middle[k], same))
      points.put(k, {found.middle[k], 0, {}, found.gap[k]}, points.count);
  fill_beyond_edges(
      points, dot(cross(ways.u, ways.v), n) < 0 ? back : n, same,
      [&](const Vec3<double>& out, const Vec3<double>& p, const Vec3<double>& q, SlotPoint& best) {
        const FarthestCorners beyond = farthest({out, out});
        best = {beyond.middle[0], 0, {}, beyond.gap[0]};
        return beyond.along[0] - vmax(dot(out, p), dot(out, q));
      });
  for (int k = 0; k < 4; ++k) {
    if (!points.has[k]) continue;
    const double distance = vmax(points.at[k].gap, list.least);
    const Vec3<double> middle = points.at[k].p, half = (0.5 * distance) * n;
    list.slot[k] = {middle - half, middle + half, distance};
  }
  if (points.count == 0) list.slot[0] = touch, points.has[0] = true;
  repeat_first(list.slot, points, n, extent);
  settle(list.slot, touch, n);
}

// Writes the points of a mesh on a plane, where all four points count.
STICTION_OUTLINE inline void plane_points(const HullShape& a, const HullShape& b,
                                          LaneContact* slot) {
  const LaneContact deepest = plane_corners(a, b, slot);
  settle(slot, deepest, a.z);
}

STICTION_PHYSICS_END

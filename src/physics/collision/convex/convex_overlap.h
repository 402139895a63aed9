// Faces with corners, of meshes and boxes, and the points of two shapes that show faces to each other,
// one of them a mesh's: src/reference/collision/geometry.h, "Mesh against a plane".
#pragma once

#include "physics/collision/convex/convex_points.h"

STICTION_PHYSICS_BEGIN

// Corners that are closer than this share of the extent are one.
inline constexpr double kSame = 1e-6;
inline constexpr double kTilt = 1e-3;  // a slope, rad
// d_0 is so far from the x axis of the face: 52.5 degrees.
inline constexpr double kSlotCosine = 0.6087614290087207, kSlotSine = 0.7933533402912352;

// The face of a box or mesh that looks along m. Corners about the same origin as `centre`, the shape's.
struct Polygon {
  const HullShape* shape;
  Vec3<double> centre;
  Region plane;       // outward, a point and two axes; of a box its rectangle
  const int* corner;  // of a mesh
  int count;

  STICTION_FN Vec3<double> vertex(int i) const {
    if (corner == nullptr) return plane.vertex(i);
    return centre + shape->global(shape->hull.vertex(corner[i]));
  }
  STICTION_FN double height(const Vec3<double>& p, const Vec3<double>& m) const {
    return plane.height(p, m);
  }
  // Seen from the side, a plane says nothing of heights.
  STICTION_FN bool steep(const Vec3<double>& m) const { return dot(plane.outward, m) < 1e-3; }
  STICTION_FN double area() const {
    if (corner == nullptr) return 4 * plane.half_x * plane.half_y;
    const Vec3<double> origin = vertex(0);
    Vec3<double> sum = zero3<double>(), last = vertex(1) - origin;
    for (int i = 2; i < count; ++i) {
      const Vec3<double> next = vertex(i) - origin;
      sum = sum + cross(last, next), last = next;
    }
    return 0.5 * norm(sum);
  }
};

STICTION_OUTLINE inline Polygon polygon_of(const HullShape& s, const Vec3<double>& centre,
                                           const Vec3<double>& m) {
  Polygon p{&s, centre, {}, nullptr, 4};
  if (s.type == GeomType::box) {
    p.plane = face_of(s, centre, m);
    return p;
  }
  const MeshArrays& a = *s.hull.arrays;
  const int face = facing_face(s.hull, s.local(m), core_extent(s));
  const int* const adr = a.mesh_polyvertadr + a.mesh_polyadr[s.hull.mesh] + face;
  p.corner = a.mesh_polyvert + adr[0], p.count = adr[1] - adr[0];
  const Vec3<double> n = s.hull.normal(face), first = s.hull.vertex(p.corner[0]);
  const Vec3<double> edge = s.hull.vertex(p.corner[1]) - first, flat = edge - dot(n, edge) * n;
  const Vec3<double> x = (1 / norm(flat)) * flat;
  double outermost = dot(n, first);
  for (int i = 1; i < p.count; ++i) outermost = vmax(outermost, dot(n, s.hull.vertex(p.corner[i])));
  p.plane.outward = s.global(n);
  p.plane.x = s.global(x), p.plane.y = s.global(cross(n, x));
  p.plane.centre = centre + s.global(first + (outermost - dot(n, first)) * n);
  p.plane.half_x = p.plane.half_y = 0, p.plane.disc = false;
  return p;
}

// The part of p + t u that lies over the polygon, or `slack` beside it, seen along m, which looks away from it.
STICTION_OUTLINE inline LanePart over(const Polygon& polygon, const Vec3<double>& p,
                                      const Vec3<double>& u, LanePart part, const Vec3<double>& m,
                                      double slack = 0) {
  if (polygon.steep(m)) return {1, 0};
  const Region& r = polygon.plane;
  const bool turned = dot(cross(r.x, r.y), r.outward) < 0;  // corners run clockwise
  const Vec3<double> up = turned ? -m : m;
  Vec3<double> from = polygon.vertex(polygon.count - 1);
  for (int i = 0; i < polygon.count; ++i) {
    const Vec3<double> to = polygon.vertex(i), inward = cross(up, to - from);
    const double at = dot(inward, p - from) + slack * norm(inward), slope = dot(inward, u);
    if (slope == 0 && at < 0) return {1, 0};
    if (slope > 0) part.low = vmax(part.low, -at / slope);
    if (slope < 0) part.high = vmin(part.high, -at / slope);
    from = to;
  }
  return part;
}

// The corners of an overlap that are farthest along four directions, while they are offered.
struct FarthestCorners {
  Vec3<double> n, u, v;  // d_k = u, v, -u, -v
  double tie;
  bool any;
  double along[4], gap[4];
  Vec3<double> middle[4];

  STICTION_FN void offer(const Vec3<double>& p, double height) {
    const double a = dot(u, p), b = dot(v, p);
    for (int k = 0; k < 4; ++k) {
      const double c = k == 0 ? a : k == 1 ? b : k == 2 ? -a : -b;
      if (any && !(c > along[k] + tie)) continue;
      along[k] = c, gap[k] = height, middle[k] = p;
    }
    any = true;
  }
};
STICTION_FN FarthestCorners farthest_corners(const Vec3<double>& n, const Vec3<double>& x,
                                             const Vec3<double>& y, double tie) {
  FarthestCorners c;
  const double cosine = kSlotCosine, sine = kSlotSine;
  const Vec3<double> u = cosine * x + sine * y, v = cosine * y - sine * x;
  c.n = n, c.u = u - dot(n, u) * n, c.v = v - dot(n, v) * n;
  c.tie = tie, c.any = false;
  return c;
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
  FarthestCorners found = farthest_corners(n, axes.x, axes.y, tie);
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
      const Vec3<double> d = k == 0 ? found.u : k == 1 ? found.v : k == 2 ? -found.u : -found.v;
      const double x = dot(ra.x, d), y = dot(ra.y, d), length = vsqrt(x * x + y * y);
      const double share = length > 0 ? ra.half_x / length : 0.0;
      const Vec3<double> rim = ra.centre + (share * x) * ra.x + (share * y) * ra.y;
      const LanePart here = over(pb, rim, zero3<double>(), {0, 0}, back, tie);
      if (here.low <= here.high) of_a(rim);
    }
  }
  if (!steep && !disc) {
    for (int i = 0; i < pa.count; ++i) {
      const Vec3<double> p = pa.vertex(i), u = pa.vertex(i + 1 < pa.count ? i + 1 : 0) - p;
      const LanePart part = over(pb, p, u, {0, 1}, back, tie);
      if (part.low <= part.high) of_a(p + part.low * u), of_a(p + part.high * u);
    }
  }
  for (int i = 0; !steep && i < pb.count; ++i) {
    const Vec3<double> p = pb.vertex(i), u = pb.vertex(i + 1 < pb.count ? i + 1 : 0) - p;
    const LanePart part = disc ? over(ra, p, u, {0, 1}, n) : over(pa, p, u, {0, 1}, n, tie);
    if (part.low <= part.high) of_b(p + part.low * u), of_b(p + part.high * u);
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
  const double ties = kAsFar, tie = ties * core_extent(b);
  const double share_of_one = kSame, same = share_of_one * core_extent(b);
  const auto witness = [&](const Vec3<double>& p) {
    const double distance = dot(n, p);
    return LaneContact{p - distance * n, p, distance};
  };
  const Polygon face = polygon_of(b, between, back);
  FarthestCorners found = farthest_corners(n, face.plane.x, face.plane.y, tie);
  for (int i = 0; i < face.count; ++i) {
    const Vec3<double> p = face.vertex(i);
    found.offer(p, dot(n, p));
  }
  for (int k = 0; k < 4; ++k) {
    bool known = false;
    for (int j = 0; j < k; ++j) known = known || norm(found.middle[j] - found.middle[k]) <= same;
    slot[k] = known ? out_of_reach(slot[0], n, core_extent(b)) : witness(found.middle[k]);
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

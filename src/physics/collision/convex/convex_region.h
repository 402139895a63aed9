// The region with which a shape faces the other one, a cap or a face of a box; and the part of a line over it.
#pragma once

#include "physics/collision/convex/convex_support.h"

STICTION_PHYSICS_BEGIN

STICTION_FN bool has_faces(const LaneShape& s) {
  return s.type == GeomType::box || s.type == GeomType::mesh;
}
// Returns whether a cylinder faces the other shape with a cap: its axis is closer than 45 degrees to the normal.
STICTION_FN bool shows_cap(const LaneShape& s, const Vec3<double>& n) {
  const double c = dot(s.z, n);
  return s.type == GeomType::cylinder && 2 * c * c >= 1;
}

// A plane region: a disc or a rectangle. `outward` points to the other shape; x and y span the region.
struct Region {
  Vec3<double> centre, outward, x, y;
  double half_x, half_y;  // of a disc, both are its radius
  bool disc;

  // Returns the height of p above the plane, measured along m, which points away from the region.
  STICTION_FN double height(const Vec3<double>& p, const Vec3<double>& m) const {
    return dot(outward, p - centre) / dot(outward, m);
  }
  // Returns how far p, seen along m, is outside of the region.
  STICTION_FN double away(const Vec3<double>& p, const Vec3<double>& m) const {
    const Vec3<double> q = p - centre - height(p, m) * m;
    const double u = dot(x, q), v = dot(y, q);
    if (disc) return vmax(vsqrt(u * u + v * v) - half_x, 0.0);
    const double du = u - clamp(u, -half_x, half_x), dv = v - clamp(v, -half_y, half_y);
    return vsqrt(du * du + dv * dv);
  }
  STICTION_FN Vec3<double> vertex(int i) const {
    return centre + (i == 1 || i == 2 ? half_x : -half_x) * x + (i >= 2 ? half_y : -half_y) * y;
  }
};

// Returns the cap that faces along m; x is the direction of the rim point that is farthest along m.
STICTION_FN Region cap_of(const LaneShape& s, const Vec3<double>& centre, const Vec3<double>& m) {
  Region r;
  r.outward = dot(s.z, m) < 0 ? -s.z : s.z;
  r.centre = centre + s.size.y * r.outward;
  const double u = dot(s.x, m), v = dot(s.y, m), sine = vsqrt(u * u + v * v);
  r.x = sine > 1e-12 ? (u / sine) * s.x + (v / sine) * s.y : s.x;
  r.y = cross(s.z, r.x);
  r.half_x = r.half_y = s.size.x;
  r.disc = true;
  return r;
}

// Returns the face closest to m, the first one if tied.
STICTION_FN Region face_of(const LaneShape& s, const Vec3<double>& centre, const Vec3<double>& m) {
  const Vec3<double> c = s.local(m), size = abs3(c);
  int k = size.y > size.x + 1e-9 ? 1 : 0;
  if (size.z > (k == 0 ? size.x : size.y) + 1e-9) k = 2;
  Region r;
  const Vec3<double> axis = k == 0 ? s.x : k == 1 ? s.y : s.z;
  r.outward = coordinate(c, k) < 0 ? -axis : axis;
  r.centre = centre + coordinate(s.size, k) * r.outward;
  r.x = k == 0 ? s.y : k == 1 ? s.z : s.x;
  r.y = k == 0 ? s.z : k == 1 ? s.x : s.y;
  r.half_x = coordinate(s.size, (k + 1) % 3), r.half_y = coordinate(s.size, (k + 2) % 3);
  r.disc = false;
  return r;
}
STICTION_FN Region region_of(const LaneShape& s, const Vec3<double>& centre,
                             const Vec3<double>& m) {
  return s.type == GeomType::box ? face_of(s, centre, m) : cap_of(s, centre, m);
}

// A part of a line: lower and upper parameter.
struct LanePart {
  double low, high;
};
// Returns the part of p + t u, low <= t <= high, that lies over the region, seen along m; low > high: none.
STICTION_FN LanePart over(const Region& region, const Vec3<double>& p, const Vec3<double>& u,
                          LanePart part, const Vec3<double>& m) {
  const auto flat = [&](const Vec3<double>& q) {
    return q - (dot(region.outward, q) / dot(region.outward, m)) * m;
  };
  const Vec3<double> q = flat(p - region.centre), d = flat(u);
  const double x = dot(region.x, q), y = dot(region.y, q), dx = dot(region.x, d),
               dy = dot(region.y, d);
  if (region.disc) {
    const double a = dx * dx + dy * dy, b = x * dx + y * dy,
                 c = x * x + y * y - region.half_x * region.half_x;
    const double root2 = b * b - a * c;
    if (!(a > 0)) return c <= 0 ? part : LanePart{1, 0};
    if (root2 < 0) return {1, 0};
    const double root = vsqrt(root2);
    return {vmax(part.low, (-b - root) / a), vmin(part.high, (-b + root) / a)};
  }
  const auto slab = [&](double at, double slope, double half) {
    if (slope == 0) {
      if (vabs(at) > half) part = {1, 0};
      return;
    }
    const double s = vabs(slope), c = slope < 0 ? -at : at;
    part.low = vmax(part.low, (-half - c) / s), part.high = vmin(part.high, (half - c) / s);
  };
  slab(x, dx, region.half_x);
  slab(y, dy, region.half_y);
  return part;
}

STICTION_PHYSICS_END

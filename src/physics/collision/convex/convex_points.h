// The contact points of two convex shapes, from the direction in which they are nearest: the features that
// face each other (a point, a line of a side, a cap, a face of a box), and where these overlap,
// seen along the normal. src/reference/collision/geometry.h has the definitions. Scalar; points are about the centre
// of the first shape.
#pragma once

#include "physics/collision/convex/convex_distance.h"
#include "physics/collision/convex/convex_region.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kMostConvexPoints = 12;

struct LaneContact {
  Vec3<double> point_a, point_b;
  double distance;
};

// The points of one pair while they are collected.
struct ContactList {
  Vec3<double> normal;
  double least;  // the signed distance of the shapes
  LaneContact* slot;

  // Set slot k to the contact at p on the surface of the first shape, or of the second.
  STICTION_FN void on_a(int k, const Vec3<double>& p, double distance) const {
    slot[k] = {p, p + distance * normal, distance};
  }
  STICTION_FN void on_b(int k, const Vec3<double>& p, double distance) const {
    slot[k] = {p - distance * normal, p, distance};
  }
};

// Puts four points of a cap's rim over the region of the other shape; m points from the cap to it. For a rim
// point beyond the region the distance is raised by how far the point is outside.
template <class Put>
STICTION_FN void rim_points(const Region& cap, const Region& other, const Vec3<double>& m,
                            double least, int first, const Put& put) {
  for (int k = 0; k < 4; ++k) {
    const Vec3<double> e = k % 2 == 0 ? cap.x : cap.y;
    const Vec3<double> p = cap.centre + (k < 2 ? cap.half_x : -cap.half_x) * e;
    put(first + k, p, vmax(other.height(p, -m), least) + other.away(p, -m));
  }
}

// Writes the points where the four edges of a face enter and leave a cap, seen along the normal.
STICTION_FN void edge_points(const ContactList& list, const Region& cap, const Region& face,
                             int first) {
  const Vec3<double> n = list.normal;
  for (int i = 0; i < 4; ++i) {
    const Vec3<double> p = face.vertex(i), u = face.vertex((i + 1) % 4) - p;
    const double length = norm(u);
    const LanePart part = over(cap, p, u, {0, 1}, n);
    if (part.low > part.high) {
      // the edge misses the cap: its nearest point, the distance raised by how far that is outside
      const Vec3<double> flat = u - (dot(cap.outward, u) / dot(cap.outward, n)) * n;
      const Vec3<double> to = cap.centre - (p - cap.height(p, n) * n);
      const double a = norm2(flat), t = a > 0 ? clamp(dot(flat, to) / a, 0.0, 1.0) : 0.0;
      const Vec3<double> q = p + t * u;
      const double distance = vmax(cap.height(q, n), 0.0) + cap.away(q, n);
      list.on_b(first + i, q, distance), list.on_b(first + 4 + i, q, distance);
      continue;
    }
    // the depth is at most the length of the part, and at the part's end also that of the rest of the edge: points
    // appear at depth 0, and at a corner inside the cap the next edge takes over
    const auto put = [&](int k, double t, double room) {
      const Vec3<double> q = p + t * u;
      list.on_b(k, q, vmax(vmax(cap.height(q, n), -room * length), list.least));
    };
    const double share = part.high - part.low;
    put(first + i, part.low, share);
    put(first + 4 + i, part.high, vmin(share, 1 - part.high));
  }
}

// Writes the crossings of the rims of two caps, seen along the normal, as if the second were parallel to the first.
STICTION_FN void rim_crossings(const ContactList& list, const Region& a, const Region& b,
                               int first) {
  const Vec3<double> n = list.normal;
  const Vec3<double> to = b.centre - a.centre;
  const Vec3<double> flat = to - (dot(a.outward, to) / dot(a.outward, n)) * n;
  const double d = norm(flat), ra = a.half_x, rb = b.half_x;
  const bool beside = d > 1e-9 * (ra + rb);
  const Vec3<double> x = beside ? (1 / d) * flat : a.x, y = cross(a.outward, x);
  const double along = beside ? (d * d + ra * ra - rb * rb) / (2 * d) : ra;
  const double across2 = ra * ra - along * along, across = across2 > 0 ? vsqrt(across2) : 0.0;
  const double t = clamp(along, -ra, ra);
  for (int k = 0; k < 2; ++k) {
    const Vec3<double> p = a.centre + t * x + (k == 0 ? across : -across) * y;
    const double height = b.height(p, -n);
    const double inner =
        beside && across2 > 0 ? vmax(vmax(height, -across), list.least) : vmax(height, 0.0);
    list.on_a(first + k, p, inner + b.away(p, -n));
  }
}

// A line of the surface of a cylinder's side, or of a capsule: p + t u, |t| <= half. `nearest`: t of the
// touching point.
struct SurfaceLine {
  Vec3<double> p, u;
  double half, nearest;
  STICTION_FN Vec3<double> at(double t) const { return p + t * u; }
};
STICTION_FN SurfaceLine line_of(const LaneShape& s, const Vec3<double>& centre,
                                const Vec3<double>& m, const Vec3<double>& touch) {
  Vec3<double> beside = m;
  if (s.type == GeomType::cylinder) {
    beside = m - dot(s.z, m) * s.z;
    beside = (1 / norm(beside)) * beside;
  }
  const double t = clamp(dot(s.z, touch - centre), -s.size.y, s.size.y);
  return {centre + s.size.x * beside, s.z, s.size.y, t};
}

// Returns the part of a line that faces the other shape, extended to include the touching point.
STICTION_FN LanePart facing_part(const SurfaceLine& line, LanePart part) {
  if (!(part.low <= part.high)) return {line.nearest, line.nearest};
  return {vmin(part.low, line.nearest), vmax(part.high, line.nearest)};
}

// Puts the ends of the facing part of a line, whose heights are linear along it. The farther end is no deeper
// than the part is long.
template <class Face, class Put>
STICTION_FN void line_points(const SurfaceLine& line, const Face& other, const Vec3<double>& m,
                             double least, const Put& put) {
  const LanePart part = facing_part(line, over(other, line.p, line.u, {-line.half, line.half}, -m));
  double low = vmax(other.height(line.at(part.low), -m), least);
  double high = vmax(other.height(line.at(part.high), -m), least);
  double& far = low > high ? low : high;
  far = vmax(far, -(part.high - part.low));
  put(0, line.at(part.low), low), put(1, line.at(part.high), high);
}

// Writes the points of two lines, round on both sides: the nearest point and the farther end of the facing part, or
// both ends if the nearer end is equally near. From the axes, which are D apart where the lines touch:
//   distance(t) = sqrt((D − t n·u)² + (t |u × u_2|)²) − r_1 − r_2,  t from there
STICTION_FN void crossing_points(const ContactList& list, const SurfaceLine& line,
                                 const LaneShape& a, const LaneShape& b,
                                 const Vec3<double>& between) {
  const Vec3<double> n = list.normal;
  const double cosine = dot(a.z, b.z), offset = dot(b.z, line.p - between);
  LanePart part{-line.half, line.half};
  if (vabs(cosine) > 1e-9) {
    const double s = vabs(cosine), c = cosine < 0 ? -offset : offset;
    part = {vmax(part.low, (-b.size.y - c) / s), vmin(part.high, (b.size.y - c) / s)};
  }
  part = facing_part(line, part);
  const double radii = a.size.x + b.size.x, apart = list.least + radii;
  const double lean = dot(n, a.z), sine = norm(cross(a.z, b.z));
  const auto distance = [&](double t) {
    const double s = t - line.nearest, down = apart - s * lean, beside = s * sine;
    return vmax(vsqrt(down * down + beside * beside) - radii, list.least);
  };
  const double tie = 1e-12 * (radii + line.half);
  double low = distance(part.low), high = distance(part.high);
  const bool low_is_farther = low > high + tie;
  if (!low_is_farther && low > list.least + tie) part.low = line.nearest, low = list.least;
  if (low_is_farther && high > list.least + tie) part.high = line.nearest, high = list.least;
  double& far = low_is_farther ? low : high;
  far = vmax(far, -(part.high - part.low));
  list.on_a(0, line.at(part.low), low), list.on_a(1, line.at(part.high), high);
}

STICTION_PHYSICS_END

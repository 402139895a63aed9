// Lines and points against boxes and cylinders, in closed form. Projected along the line the shape is a hexagon, or two
// half ellipses and the region between them, and the line is a point:
//
//   distance = max n·c − h(n) over unit n perpendicular to the line;   c from the line to the centre of the shape,
//   h_box = Σ s_k |n·e_k|,   h_cylinder = s_y |n·z| + s_x sqrt(1 − (n·z)²)
//
// negative in overlap: minus the shortest translation perpendicular to the line. Normals point into the shape.
#pragma once

#include "physics/collision/convex/convex_distance.h"

STICTION_PHYSICS_BEGIN

// Returns a lower bound of the distance of a segment {t u, |t| <= half} from a box centred at c, over the six
// separating axes; negative in overlap (Gottschalk, Lin and Manocha, OBBTree, 1996). Stops beyond `reach` along any.
STICTION_FN double segment_box_gap(const Vec3<double>& u, double half, const Vec3<double>& c,
                                   const HullShape& b, double reach) {
  const Vec3<double> q = abs3(b.local(c)), d = abs3(b.local(u)), s = b.size;
  double gap = vmax(vmax(q.x - half * d.x - s.x, q.y - half * d.y - s.y), q.z - half * d.z - s.z);
  if (gap > reach) return gap;
  const auto across = [&](const Vec3<double>& e, double s1, double d1, double s2, double d2) {
    const Vec3<double> m = cross(u, e);
    const double length = norm(m);
    if (length > 1e-9) gap = vmax(gap, (vabs(dot(m, c)) - (s1 * d2 + s2 * d1)) / length);
  };
  across(b.x, s.y, d.y, s.z, d.z), across(b.y, s.z, d.z, s.x, d.x), across(b.z, s.x, d.x, s.y, d.y);
  return gap;
}

// Returns whether the segment enters a cylinder: its part between the planes of the caps, against the axis.
STICTION_FN bool is_in_cylinder(const Vec3<double>& u, double half, const Vec3<double>& c,
                                const HullShape& b) {
  const double rise = dot(u, b.z), at = -dot(c, b.z), h = b.size.y;
  double low = -half, high = half;
  if (vabs(rise) > 1e-12) {
    const double t0 = (-h - at) / rise, t1 = (h - at) / rise;
    low = vmax(low, vmin(t0, t1)), high = vmin(high, vmax(t0, t1));
  } else if (vabs(at) > h) {
    return false;
  }
  if (low > high) return false;
  const Vec3<double> flat = u - rise * b.z, to = c + at * b.z;
  const double a = norm2(flat), t = clamp(a > 0 ? dot(flat, to) / a : 0.0, low, high);
  return norm2(to - t * flat) < b.size.x * b.size.x;
}

// Distance of a box from the line {t u}; point_a is on the line.
STICTION_FN ConvexDistance line_box_distance(const Vec3<double>& u, const Vec3<double>& c,
                                             const HullShape& b) {
  ConvexDistance best{b.z, -std::numeric_limits<double>::infinity(), c, c};
  const auto axis = [&](int k) { return k == 0 ? b.x : k == 1 ? b.y : b.z; };
  int side = 2;
  for (int k = 0; k < 3; ++k) {  // sides of the hexagon: edges of the box
    const Vec3<double> m = cross(u, axis(k));
    const double length = norm(m);
    if (!(length > 1e-9)) continue;
    const Vec3<double> n = (dot(m, c) < 0 ? -1 / length : 1 / length) * m;
    const double distance = dot(n, c) - dot(abs3(b.local(n)), b.size);
    if (distance > best.distance) best.distance = distance, best.normal = n, side = k;
  }
  double t;
  const bool over_face = largest(abs3(b.local(best.normal))) > 1 - 1e-12;
  if (over_face) {  // the midpoint of the part over the face
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    for (int k = 0; k < 3; ++k) {
      const double lean = dot(u, axis(k)), at = dot(c, axis(k)), room = coordinate(b.size, k);
      if (vabs(dot(best.normal, axis(k))) > 0.5 || !(vabs(lean) > 1e-9)) continue;
      low = vmax(low, (at - vcopysign(room, lean)) / lean);
      high = vmin(high, (at + vcopysign(room, lean)) / lean);
    }
    t = 0.5 * (low + high);
  } else {  // where the line passes the edge {middle + s e}
    const Vec3<double> e = axis(side), corner = c + core_support(b, -best.normal);
    const Vec3<double> middle = corner - dot(corner - c, e) * e;
    const double lean = dot(u, e), room = coordinate(b.size, side);
    const double s = (lean * dot(middle, u) - dot(middle, e)) / (1 - lean * lean);
    t = dot(middle + clamp(s, -room, room) * e, u);
  }
  if (best.distance > 0) {
    for (int k = 0; k < 8; ++k) {  // corners
      const Vec3<double> v =
          c + b.global({k & 1 ? b.size.x : -b.size.x, k & 2 ? b.size.y : -b.size.y,
                        k & 4 ? b.size.z : -b.size.z});
      const Vec3<double> way = v - dot(v, u) * u;
      const double length = norm(way);
      if (!(length > best.distance)) continue;
      const Vec3<double> n = (1 / length) * way;
      const double apart = dot(n, c) - dot(abs3(b.local(n)), b.size);
      if (apart > best.distance) best.distance = apart, best.normal = n, t = dot(v, u);
    }
  }
  best.point_a = t * u, best.point_b = best.point_a + best.distance * best.normal;
  return best;
}

// Returns the tangent T of the angle between n and the axis, projected along the line, at which the rim of a cylinder
// is nearest to a point; negative: nowhere. With lengths along and across the axis,
//   0 = F(T) = across + room T − r s² T / sqrt(T² + k²),   s² + k² = 1, F convex, F(0) >= 0:
// Newton's method from the left never passes the first root.
STICTION_FN double nearest_of_rim(double across, double room, double r, double s, double k) {
  const double size = r * s * s;
  if (k * size <= 1e-15 * (across + vabs(room))) {  // the rim, seen edge-on, is a line
    if (across < size) return 0;
    return room < 0 ? (across - size) / -room : -1.0;
  }
  double T = 0;
  for (int round = 0; round < 100; ++round) {
    const double root = vsqrt(T * T + k * k);
    const double F = across + room * T - size * T / root;
    const double slope = room - size * k * k / (root * root * root);
    if (!(F > 0)) return T;
    if (!(slope < 0)) return -1;
    const double next = T - F / slope;
    if (!(next > T * (1 + 1e-15))) return T;
    T = next;
  }
  return T;
}

STICTION_FN ConvexDistance line_cylinder_distance(const Vec3<double>& u, const Vec3<double>& c,
                                                  const HullShape& b) {
  const double r = b.size.x, h = b.size.y, k = vabs(dot(u, b.z));
  const Vec3<double> flat = b.z - dot(u, b.z) * u;
  const double s = norm(flat);
  const bool parallel = !(s > 1e-9);
  const Vec3<double> aside = cross(u, least_axis(u));
  // along the axis and across it, towards the centre
  const Vec3<double> e = parallel ? (1 / norm(aside)) * aside : (1 / s) * flat;
  const Vec3<double> f = cross(u, e);
  const double x = dot(c, e), y = dot(c, f);
  const Vec3<double> ex = x < 0 ? -e : e, ey = y < 0 ? -f : f;
  ConvexDistance d{ey, vabs(y) - r, zero3<double>(), zero3<double>()};
  if (parallel) {
    const double length = vsqrt(x * x + y * y);
    if (length > 0) d.normal = (1 / length) * (x * e + y * f);
    d.distance = length - r;
  } else if (const double T = nearest_of_rim(vabs(y), h * s - vabs(x), r, s, k); T >= 0) {
    const double cosine = 1 / vsqrt(1 + T * T), sine = T * cosine, along = cosine * s;
    const double distance =
        cosine * vabs(x) + sine * vabs(y) - h * along - r * vsqrt(vmax(1 - along * along, 0.0));
    if (distance > d.distance) d.distance = distance, d.normal = cosine * ex + sine * ey;
  }
  // of a rim its own point, of a side or a cap the point where the line passes {c + τ z}
  const double lean = dot(d.normal, b.z);
  const bool rim = vabs(lean) > 1e-12 && lean * lean < 1 - 1e-12;
  double t = dot(u, c + core_support(b, -d.normal));
  if (!rim && !parallel) {
    const double tau = (dot(c, u) * dot(u, b.z) - dot(c, b.z)) / (s * s);
    t = dot(u, c + clamp(tau, -h, h) * b.z);
  }
  d.point_a = t * u, d.point_b = d.point_a + d.distance * d.normal;
  return d;
}

// Distance from a point, point_a, to a shape: of balls and capsules from their core, of ellipsoids, meshes by a search.
STICTION_FN ConvexDistance point_distance(const Vec3<double>& p, const HullShape& b, double reach) {
  const Vec3<double> q = b.local(p - b.centre);
  const auto found = [&](const Vec3<double>& m, double distance) -> ConvexDistance {
    const Vec3<double> n = -b.global(m);
    return {n, distance, p, p + distance * n};
  };
  switch (b.type) {
    case GeomType::sphere:
    case GeomType::capsule: {
      const double along = b.type == GeomType::capsule ? clamp(q.z, -b.size.y, b.size.y) : 0.0;
      const Vec3<double> way = {q.x, q.y, q.z - along};
      const double length = norm(way);
      return found(length > 0 ? (1 / length) * way : unit3<double>(0), length - b.size.x);
    }
    case GeomType::cylinder: {
      const double rho = vsqrt(q.x * q.x + q.y * q.y), side = rho - b.size.x;
      const double cap = vabs(q.z) - b.size.y;
      const Vec3<double> up = vcopysign(1.0, q.z) * unit3<double>(2);
      const Vec3<double> out = rho > 0 ? (1 / rho) * Vec3<double>{q.x, q.y, 0.0} : unit3<double>(0);
      if (side > 0 && cap > 0) {
        const double distance = vsqrt(side * side + cap * cap);
        return found((side / distance) * out + (cap / distance) * up, distance);
      }
      return side > cap ? found(out, side) : found(up, cap);
    }
    case GeomType::box: {
      const Vec3<double> way = away_from_box(q, b.size), over = abs3(q) - b.size;
      const double length = norm(way);
      if (length > 0) return found((1 / length) * way, length);
      const int k = over.x >= over.y && over.x >= over.z ? 0 : over.y >= over.z ? 1 : 2;
      return found(vcopysign(1.0, coordinate(q, k)) * unit3<double>(k), coordinate(over, k));
    }
    default: {
      HullShape point{};
      point.type = GeomType::sphere, point.centre = p;
      point.x = unit3<double>(0), point.y = unit3<double>(1), point.z = unit3<double>(2);
      ConvexDistance d = convex_distance(point, b, reach);
      d.point_a = p, d.point_b = p + d.distance * d.normal;
      return d;
    }
  }
}

STICTION_PHYSICS_END

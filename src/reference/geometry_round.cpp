// Spheres and capsules against each other: the nearest points of their centres or axes.
#include "geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// The axis of a capsule, its centre relative to `origin`.
Segment axis_of(const Shape& capsule, const Vec3& origin) {
  return {capsule.pos - origin, capsule.rot.col(2), capsule.size[1]};
}

// Spheres of the two radii around origin + p1 and origin + p2. `n` is used where p1 = p2.
Witness sphere_on_sphere(const Vec3& origin, const Vec3& p1, Real radius1, const Vec3& p2,
                         Real radius2, const Vec3& n) {
  return {origin + p1 + radius1 * n, origin + p2 - radius2 * n, n,
          n.dot(p2 - p1) - radius1 - radius2};
}

// Parameters of a pair of points of two segments, and their distance.
struct Pairing {
  Real s, t, distance;
};

Pairing pairing(const Segment& a, const Segment& b, Real s, Real t) {
  return {s, t, (b.at(t) - a.at(s)).norm()};
}

// Nearest points of two segments: the common perpendicular, or an end of one and its nearest point
// on the other; every candidate is a pair of points, so the nearest candidate is the answer.
Pairing nearest_points(const Segment& a, const Segment& b) {
  const Vec3 d = b.centre - a.centre;
  const Vec3 w = a.dir.cross(b.dir);
  const Real sine2 = w.squaredNorm();

  Pairing best = pairing(a, b, a.half, b.nearest(a.at(a.half)));
  const auto consider = [&](Real s, Real t) {
    const Pairing p = pairing(a, b, s, t);
    if (p.distance < best.distance) best = p;
  };
  consider(-a.half, b.nearest(a.at(-a.half)));
  consider(a.nearest(b.at(b.half)), b.half);
  consider(a.nearest(b.at(-b.half)), -b.half);
  if (sine2 > 0) {
    consider(std::clamp(d.cross(b.dir).dot(w) / sine2, -a.half, a.half),
             std::clamp(d.cross(a.dir).dot(w) / sine2, -b.half, b.half));
  }

  // Parallel segments: many nearest points, the middle of the overlap stands for them.
  const Real reach = b.half * abs(a.dir.dot(b.dir));
  const Real low = std::max(-a.half, a.dir.dot(d) - reach);
  const Real high = std::min(a.half, a.dir.dot(d) + reach);
  const Real s = std::clamp(0.5 * (low + high), -a.half, a.half);
  const Pairing middle = pairing(a, b, s, b.nearest(a.at(s)));
  return middle.distance <= best.distance + kTie * (a.half + b.half) ? middle : best;
}

}  // namespace

void collide_sphere_sphere(const Shape& a, const Shape& b, std::span<Witness> out) {
  const Vec3 d = b.pos - a.pos;
  const Real distance = d.norm();
  const Vec3 n = distance > 0 ? Vec3(d / distance) : Vec3(a.rot.col(0));
  out[0] = sphere_on_sphere(a.pos, Vec3::Zero(), a.size[0], d, b.size[0], n);
}

void collide_sphere_capsule(const Shape& sphere, const Shape& capsule, std::span<Witness> out) {
  const Segment axis = axis_of(capsule, sphere.pos);
  const Vec3 nearest = axis.at(axis.nearest(Vec3::Zero()));
  const Real distance = nearest.norm();
  const Real extent = sphere.size[0] + capsule.size[0] + axis.half;
  const Vec3 n = distance > kTie * extent ? Vec3(nearest / distance) : Vec3(capsule.rot.col(0));
  out[0] = sphere_on_sphere(sphere.pos, Vec3::Zero(), sphere.size[0], nearest, capsule.size[0], n);
}

void collide_capsule_capsule(const Shape& a, const Shape& b, std::span<Witness> out) {
  const Segment axis_a = axis_of(a, a.pos), axis_b = axis_of(b, a.pos);
  const Pairing nearest = nearest_points(axis_a, axis_b);
  const Vec3 p = axis_a.at(nearest.s), q = axis_b.at(nearest.t);

  const auto normal = [&]() -> Vec3 {
    const Real extent = a.size[0] + b.size[0] + axis_a.half + axis_b.half;
    if (nearest.distance > kTie * extent) return (q - p) / nearest.distance;
    // the axes cross: their common perpendicular, on the side of q
    const Vec3 w = axis_a.dir.cross(axis_b.dir);
    if (w.norm() > kTie) return w.dot(q - p) < 0 ? -w.normalized() : w.normalized();
    return a.rot.col(0);
  };
  out[0] = sphere_on_sphere(a.pos, p, a.size[0], q, b.size[0], normal());
}

}  // namespace stiction::reference::inline STICTION_REAL

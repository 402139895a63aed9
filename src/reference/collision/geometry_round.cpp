// Spheres and capsules against each other: the nearest points of their centres or axes; for nearly parallel axes the
// ends of their overlap.
#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Two capsules touch at two points while their axes, seen along the normal, are at an angle of less than
// asin(1/sqrt(kTurned (1 + overlap/radii))) and overlap by more than radii/kShort, and while they are tilted by
// less than asin(1/sqrt(kTilted)) against it.
constexpr double kTurned = 25, kShort = 100, kTilted = 4;

// The axis of a capsule, its centre relative to `origin`.
Segment axis_of(const Shape& capsule, const Vec3& origin) {
  return {capsule.pos - origin, capsule.rot.col(2), capsule.size[1]};
}

// Witness of two spheres with these radii around origin + p1 and origin + p2. `n` is the normal from the first.
Witness sphere_on_sphere(const Vec3& origin, const Vec3& p1, Real radius1, const Vec3& p2,
                         Real radius2, const Vec3& n) {
  return {origin + p1 + radius1 * n, origin + p2 - radius2 * n, n,
          n.dot(p2 - p1) - radius1 - radius2};
}

// A point of one axis, and a point of the other.
struct Pairing {
  Vec3 p, q;
  Real distance() const { return (q - p).norm(); }
};

Pairing pairing(const Segment& a, const Segment& b, Real s, Real t) {
  return {a.at(s), b.at(t)};
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
    if (p.distance() < best.distance()) best = p;
  };
  consider(-a.half, b.nearest(a.at(-a.half)));
  consider(a.nearest(b.at(b.half)), b.half);
  consider(a.nearest(b.at(-b.half)), -b.half);
  if (sine2 > 0) {
    const Real s = d.cross(b.dir).dot(w) / sine2, t = d.cross(a.dir).dot(w) / sine2;
    if (abs(s) <= a.half && abs(t) <= b.half) consider(s, t);
  }
  return best;
}

// Returns the contact normal, from the nearest points of the axes of two capsules.
Vec3 normal_of(const Shape& a, const Shape& b, const Pairing& nearest) {
  const Vec3 way = nearest.q - nearest.p, w = a.rot.col(2).cross(b.rot.col(2));
  if (way.norm() > kTie * (a.size[0] + b.size[0] + a.size[1] + b.size[1])) return way.normalized();
  // the axes intersect: their common perpendicular, on the side of b
  if (w.norm() > kTie) return w.dot(way) < 0 ? Vec3(-w.normalized()) : Vec3(w.normalized());
  return a.rot.col(0);
}

// Two segments nearly perpendicular to n, seen along n: x is the coordinate along the mean of their directions.
class SeenAlong {
 public:
  SeenAlong(const Segment& a, const Segment& b, const Vec3& n) : a_(a), b_(b) {
    const Vec3 flat_a = a.dir - n.dot(a.dir) * n, flat_b = b.dir - n.dot(b.dir) * n;
    const Vec3 x =
        (flat_a.dot(flat_b) < 0 ? Vec3(flat_a - flat_b) : Vec3(flat_a + flat_b)).normalized();
    rate_a_ = x.dot(a.dir), rate_b_ = x.dot(b.dir), offset_ = x.dot(b.centre - a.centre);
    low_ = std::max(-a.half * rate_a_, offset_ - b.half * abs(rate_b_));
    high_ = std::min(a.half * rate_a_, offset_ + b.half * abs(rate_b_));
  }
  // The overlap: its length, and the points of both segments at its ends.
  Real length() const { return std::max(high_ - low_, Real(0)); }
  Pairing low() const { return at(low_); }
  Pairing high() const { return at(high_); }

 private:
  Pairing at(Real x) const {
    return pairing(a_, b_, std::clamp(x / rate_a_, -a_.half, a_.half),
                   std::clamp((x - offset_) / rate_b_, -b_.half, b_.half));
  }

  const Segment &a_, &b_;
  Real rate_a_, rate_b_, offset_, low_, high_;
};

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

Witness nearest_of_capsules(const Shape& a, const Shape& b) {
  const Pairing nearest = nearest_points(axis_of(a, a.pos), axis_of(b, a.pos));
  return sphere_on_sphere(a.pos, nearest.p, a.size[0], nearest.q, b.size[0],
                          normal_of(a, b, nearest));
}

void collide_capsule_capsule(const Shape& a, const Shape& b, std::span<Witness> out) {
  const Segment axis_a = axis_of(a, a.pos), axis_b = axis_of(b, a.pos);
  const Real radii = a.size[0] + b.size[0];

  // 1. the nearest points and the normal
  const Pairing nearest = nearest_points(axis_a, axis_b);
  const Vec3 n = normal_of(a, b, nearest);

  const auto put = [&](const Vec3& p, const Vec3& q, Real size) {
    const Vec3 middle = 0.5 * (p + q), apart = 0.5 * n.dot(q - p) * n;
    return sphere_on_sphere(a.pos, middle - apart, size * a.size[0], middle + apart,
                            size * b.size[0], n);
  };

  // 2. how unlike a line contact it is: 0 gives two points, 1 the same point twice, 2 one point
  const auto across = [&](const Segment& s) -> Real { return s.dir.cross(n).squaredNorm(); };
  const Real tilt = kTilted * (1 - across(axis_a) * across(axis_b)),
             turn = axis_a.dir.cross(axis_b.dir).dot(n);
  const auto one_point = [&] {
    out[0] = put(nearest.p, nearest.q, 1);
    out[1] = put(nearest.p, nearest.q, 0);
  };
  if (tilt >= 2) return one_point();
  const SeenAlong seen(axis_a, axis_b, n);
  const Real length = seen.length();
  if (!(length > 0)) return one_point();
  const Real unlike = kTurned * turn * turn * (radii > 0 ? 1 + length / radii : 1 + length) +
                      tilt * tilt + std::max(radii / length - kShort, Real(0));
  if (unlike >= 2) return one_point();
  const Real share = std::max(1 - unlike, Real(0)), fade = std::max(unlike - 1, Real(0));

  // 3. the two points, midway between the axes as seen along n
  const auto towards = [&](const Pairing& end, Real size) {
    return put(nearest.p + share * (end.p - nearest.p), nearest.q + share * (end.q - nearest.q),
               size);
  };
  out[0] = towards(seen.low(), 1);
  out[1] = towards(seen.high(), 1 - fade);
}

}  // namespace stiction::reference::inline STICTION_REAL

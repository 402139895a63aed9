// What the colliders share: placed primitives, witness points, a point against a box. Everything is
// Wide. A collider writes contact_points(a, b) witnesses through out(k, witness), lower type first;
// src/reference/collision/geometry.h has the order of the points and the choices in degenerate poses.
#pragma once

#include "physics/base/vec.h"

STICTION_PHYSICS_BEGIN

// A placed primitive: sphere (radius), capsule and cylinder (radius, half length along z), box and
// ellipsoid (half sizes), plane (z is its outward normal).
template <class W>
struct Shape {
  Vec3<W> size, pos;
  Mat3<W> rot;
};

// point2 - point1 = distance * normal, also when the shapes are apart.
template <class W>
struct Witness {
  Vec3<W> point1, point2;  // on the surfaces of shape 1 and shape 2
  Vec3<W> normal;          // unit, from 1 into 2
  W distance;              // signed, < 0: overlap
};

// How fast the points of two shapes close a gap along a unit normal n, from the first shape to the second, as either
// predictor of the step has it: at most −n·velocity + |n × spin| (radius + gap), all of them those of the second body
// against the first at the centre of one shape. A point acts only where
//   gap <= rest + twice_horizon · (the larger of both).
template <class W>
struct ClosingMotion {
  Vec3<W> velocity[2], spin[2];
  W radius, rest, twice_horizon;
};

// How far apart shapes may be for their points to matter; 1 where a lane's are farther; a unit axis from the first
// shape towards the second along which they may be apart, or what is no unit vector: none is known. Where `closing` is
// known, shapes that are too far apart to act along their normal need no points but the nearest.
template <class W>
struct SearchLimit {
  W reach, beyond;
  Vec3<W> axis{};
  const ClosingMotion<W>* closing = nullptr;
};

// Lengths that differ by less than this share of the shapes' extent count as equal.
inline constexpr double kTie = 1e-12;

// x where m holds, else 1: a divisor.
template <class S>
STICTION_FN S divisor(const Mask<S>& m, const S& x) {
  return select(m, x, S(1.0));
}

// Spheres of the two radii around origin + p1 and origin + p2.
template <class W>
STICTION_FN Witness<W> sphere_on_sphere(const Vec3<W>& origin, const Vec3<W>& p1, const W& radius1,
                                        const Vec3<W>& p2, const W& radius2, const Vec3<W>& n) {
  return {(origin + p1) + radius1 * n, (origin + p2) - radius2 * n, n,
          dot(n, p2 - p1) - radius1 - radius2};
}

// Axis of a capsule: centre + t * dir, |t| <= half.
template <class W>
struct Segment {
  Vec3<W> centre, dir;
  W half;
  STICTION_FN Vec3<W> at(const W& t) const { return centre + t * dir; }
  // Parameter of the point nearest to p.
  STICTION_FN W nearest(const Vec3<W>& p) const { return clamp(dot(dir, p - centre), -half, half); }
};

// Where a point touches a box; in the box's frame.
template <class W>
struct BoxContact {
  Vec3<W> outward;  // unit, from the box to the point
  W distance;       // signed, < 0: inside
};

template <class W>
STICTION_FN BoxContact<W> select_contact(const Mask<W>& m, const BoxContact<W>& a,
                                         const BoxContact<W>& b) {
  return {select<W>(m, a.outward, b.outward), select(m, a.distance, b.distance)};
}

// From the box |x| <= h to the point p.
template <class W>
STICTION_FN Vec3<W> away_from_box(const Vec3<W>& p, const Vec3<W>& h) {
  return {p.x - clamp(p.x, -h.x, h.x), p.y - clamp(p.y, -h.y, h.y), p.z - clamp(p.z, -h.z, h.z)};
}

// The point p against the box with half sizes h at the origin.
template <class W>
STICTION_FN BoxContact<W> point_against_box(const Vec3<W>& p, const Vec3<W>& h) {
  const W zero(0.0), one(1.0);
  const Vec3<W> away = away_from_box(p, h);
  const W distance = norm(away);
  const Mask<W> outside = distance > W(kTie) * largest(h);
  const W inverse = one / divisor<W>(outside, distance);

  // inside: the first of the nearest faces
  const Vec3<W> height = abs3(p) - h;
  const Mask<W> x = height.x >= height.y && height.x >= height.z;
  const Mask<W> y = !x && height.y >= height.z;
  const Mask<W> z = !x && !y;
  const auto side = [&](const Mask<W>& face, const W& c) {
    return select(face, select(c < zero, W(-1.0), one), zero);
  };
  const BoxContact<W> out{inverse * away, distance};
  const BoxContact<W> in{{side(x, p.x), side(y, p.y), side(z, p.z)}, largest(height)};
  return select_contact<W>(outside, out, in);
}

// The contact of a sphere around p, from the contact of its centre.
template <class W>
STICTION_FN Witness<W> sphere_on_box(const Vec3<W>& p, const W& radius,
                                     const BoxContact<W>& contact, const Shape<W>& box) {
  const Vec3<W> n = -(box.rot * contact.outward);
  const Vec3<W> centre = box.pos + box.rot * p;
  return {centre + radius * n, centre + contact.distance * n, n, contact.distance - radius};
}

STICTION_PHYSICS_END

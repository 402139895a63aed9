// Types and functions shared by the colliders: placed primitives, witness points, a point against a box. All numbers
// are Wide. A collider writes contact_points(a, b) witnesses through out(k, witness), lower type first;
// the order of the points and the choices in degenerate poses are defined in src/reference/collision/geometry.h.
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

// Bounds how fast the points of two shapes close their gap along a unit normal n from the first shape to the second. In each
// of the two predictors of the step it is at most −n·velocity + |n × spin| (radius + gap), where velocity and spin are those
// of the second body relative to the first, at the centre of one of the shapes. A point is active only if
//   gap <= rest + twice_horizon · (the larger of both).
template <class W>
struct ClosingMotion {
  Vec3<W> velocity[2], spin[2];
  W radius, rest, twice_horizon;
};

// reach: distance up to which points matter; beyond: set to 1 in lanes whose shapes are farther apart; axis: a unit
// axis from the first shape to the second that may separate them; not of unit length if none is known. closing: if
// known, shapes that are too far apart for any point to be active keep their nearest points only.
template <class W>
struct SearchLimit {
  W reach, beyond;
  Vec3<W> axis{};
  const ClosingMotion<W>* closing = nullptr;
};

// Lengths that differ by less than this fraction of the extent of the shapes count as equal.
inline constexpr double kTie = 1e-12;

// Returns x where m holds, else 1: a safe divisor.
template <class S>
STICTION_FN S divisor(const Mask<S>& m, const S& x) {
  return select(m, x, S(1.0));
}

// Returns the witness of two spheres with these radii around origin + p1 and origin + p2.
template <class W>
STICTION_FN Witness<W> sphere_on_sphere(const Vec3<W>& origin, const Vec3<W>& p1, const W& radius1,
                                        const Vec3<W>& p2, const W& radius2, const Vec3<W>& n) {
  return {(origin + p1) + radius1 * n, (origin + p2) - radius2 * n, n,
          dot(n, p2 - p1) - radius1 - radius2};
}

// The axis of a capsule: centre + t * dir, |t| <= half.
template <class W>
struct Segment {
  Vec3<W> centre, dir;
  W half;
  STICTION_FN Vec3<W> at(const W& t) const { return centre + t * dir; }
  // Returns the parameter of the point nearest to p.
  STICTION_FN W nearest(const Vec3<W>& p) const { return clamp(dot(dir, p - centre), -half, half); }
};

// The contact of a point with a box, in the frame of the box.
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

// Returns the vector from the nearest point of the box |x| <= h to the point p.
template <class W>
STICTION_FN Vec3<W> away_from_box(const Vec3<W>& p, const Vec3<W>& h) {
  return {p.x - clamp(p.x, -h.x, h.x), p.y - clamp(p.y, -h.y, h.y), p.z - clamp(p.z, -h.z, h.z)};
}

// Returns the contact of the point p with the box with half sizes h at the origin.
template <class W>
STICTION_FN BoxContact<W> point_against_box(const Vec3<W>& p, const Vec3<W>& h) {
  const W zero(0.0), one(1.0);
  const Vec3<W> away = away_from_box(p, h);
  const W distance = norm(away);
  const Mask<W> outside = distance > W(kTie) * largest(h);
  const W inverse = one / divisor<W>(outside, distance);

  // inside: the nearest face, the first one if tied
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

// Returns the witness of a sphere around p, from the contact of its centre.
template <class W>
STICTION_FN Witness<W> sphere_on_box(const Vec3<W>& p, const W& radius,
                                     const BoxContact<W>& contact, const Shape<W>& box) {
  const Vec3<W> n = -(box.rot * contact.outward);
  const Vec3<W> centre = box.pos + box.rot * p;
  return {centre + radius * n, centre + contact.distance * n, n, contact.distance - radius};
}

STICTION_PHYSICS_END

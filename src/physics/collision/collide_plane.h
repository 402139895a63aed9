// Plane against the other shapes: the points of the shape that may be deepest.
#pragma once

#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// Sine of the angle between a cylinder's axis and the plane's normal below which the cylinder
// counts as standing.
inline constexpr double kStanding = 1e-12;

// Returns the contact of a surface point of the second shape, given relative to that shape's position.
template <class W>
STICTION_FN Witness<W> point_on_plane(const Shape<W>& plane, const Shape<W>& shape,
                                      const Vec3<W>& offset) {
  const Vec3<W> n = plane.rot.z;
  const W distance = dot(n, (shape.pos - plane.pos) + offset);
  const Vec3<W> point = shape.pos + offset;
  return {point - distance * n, point, n, distance};
}

template <class W, class Out>
STICTION_FN void collide_plane_sphere(const Shape<W>& plane, const Shape<W>& sphere,
                                      const Out& out) {
  out(0, point_on_plane<W>(plane, sphere, -sphere.size.x * plane.rot.z));
}

template <class W, class Out>
STICTION_FN void collide_plane_capsule(const Shape<W>& plane, const Shape<W>& capsule,
                                       const Out& out) {
  const Vec3<W> half_axis = capsule.size.y * capsule.rot.z;
  const Vec3<W> down = -capsule.size.x * plane.rot.z;
  out(0, point_on_plane<W>(plane, capsule, down - half_axis));
  out(1, point_on_plane<W>(plane, capsule, half_axis + down));
}

// Support point of {S y : |y| <= 1} along -n:  -S² n / |S n|, n in the ellipsoid's frame.
template <class W, class Out>
STICTION_FN void collide_plane_ellipsoid(const Shape<W>& plane, const Shape<W>& ellipsoid,
                                         const Out& out) {
  const Vec3<W> support = scaled(ellipsoid.size, transposed(ellipsoid.rot, plane.rot.z));
  const W length = norm(support);
  const Mask<W> solid = length > W(0.0);
  const W inverse = select(solid, W(1.0) / divisor<W>(solid, length), W(0.0));
  const Vec3<W> point = scaled(ellipsoid.size, inverse * support);
  out(0, point_on_plane<W>(plane, ellipsoid, -(ellipsoid.rot * point)));
}

// Four rim points on each cap.
template <class W, class Out>
STICTION_FN void collide_plane_cylinder(const Shape<W>& plane, const Shape<W>& cylinder,
                                        const Out& out) {
  // direction of the deepest rim point: minus the plane's normal projected on the caps
  const Vec3<W> n = transposed(cylinder.rot, plane.rot.z);
  const W sine = vsqrt(n.x * n.x + n.y * n.y);
  const Mask<W> leans = sine > W(kStanding);
  const W inverse = W(-1.0) / divisor<W>(leans, sine);
  const W x = select(leans, inverse * n.x, W(1.0)), y = select(leans, inverse * n.y, W(0.0));

  const W radius = cylinder.size.x;
  const Vec3<W> u = radius * (x * cylinder.rot.x + y * cylinder.rot.y);
  const Vec3<W> v = radius * (x * cylinder.rot.y - y * cylinder.rot.x);
  for (int cap = 0; cap < 2; ++cap) {
    const Vec3<W> centre = (cap == 0 ? -cylinder.size.y : cylinder.size.y) * cylinder.rot.z;
    out(4 * cap, point_on_plane<W>(plane, cylinder, centre + u));
    out(4 * cap + 1, point_on_plane<W>(plane, cylinder, centre + v));
    out(4 * cap + 2, point_on_plane<W>(plane, cylinder, centre - u));
    out(4 * cap + 3, point_on_plane<W>(plane, cylinder, centre - v));
  }
}

// Contacts of the wanted vertices; bit k of the index is set where coordinate k is positive.
template <class W, class Out, class Wanted>
STICTION_FN void collide_plane_box(const Shape<W>& plane, const Shape<W>& box, const Out& out,
                                   const Wanted& wanted) {
  const Vec3<W> x = box.size.x * box.rot.x, y = box.size.y * box.rot.y, z = box.size.z * box.rot.z;
  for (int i = 0; i < 8; ++i) {
    if (!wanted(i)) continue;
    const Vec3<W> xy = ((i & 1) != 0 ? x : -x) + ((i & 2) != 0 ? y : -y);
    out(i, point_on_plane<W>(plane, box, xy + ((i & 4) != 0 ? z : -z)));
  }
}
template <class W, class Out>
STICTION_FN void collide_plane_box(const Shape<W>& plane, const Shape<W>& box, const Out& out) {
  collide_plane_box(plane, box, out, [](int) { return true; });
}

STICTION_PHYSICS_END

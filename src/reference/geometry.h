// Contact geometry: witness points, normals and signed distances between primitives.
#pragma once

#include <span>

#include "math.h"
#include "stiction/types.h"

namespace stiction::reference {

// A placed primitive, sized as in MuJoCo: sphere (radius), capsule and cylinder (radius, half
// length along z), box and ellipsoid (half sizes), plane (sizes unused, z is its outward normal).
struct Shape {
  GeomType type;
  Vec3 size;
  Vec3 pos;
  Mat3 rot;
};

// One contact point. point2 - point1 = distance * normal, also when the shapes are apart.
struct Witness {
  Vec3 point1, point2;  // on the surfaces of shape 1 and shape 2
  Vec3 normal;          // unit, from 1 into 2
  double distance;      // signed, < 0: overlap
};

// Writes exactly contact_points(a.type, b.type) witnesses and returns their number; 0: no collider.
// The smallest distance is the signed distance of the two shapes. Swapped arguments give swapped
// points and the opposite normal, in the same order. The index names the same feature at every pose:
//
//   plane-capsule     end sphere at -z, +z of the capsule
//   plane-box         vertex; bit k of the index set: coordinate k positive
//   plane-cylinder    4 * cap + quarter: rim points of the caps -z, +z. Quarter 0 is the direction d
//                     of the rim that is deepest, 1 to 3 follow at 90 degrees about +z. Where the
//                     axis is within kParallel of the plane's normal all rim points are equally
//                     deep and d is the cylinder's x axis: the one pose where points (not the
//                     smallest distance) jump.
//   capsule-capsule   nearest points of the two axes; the middle of the overlap where the axes are
//                     parallel, the one pose where the points (not the distance) jump
//   capsule-box       the point nearer to the capsule's -z end first (geometry_capsule_box.cpp)
//
// Overlap is measured by the shortest translation that separates. Where that translation is not
// unique, so that no continuous normal exists, the choice is fixed: a sphere or capsule axis inside
// a box leaves by the first of the nearest faces x, y, z; axes that cross are pushed along their
// common perpendicular; coincident centres and coinciding axes along the x axis of the last shape
// (of the first argument for two of a type, the only case that does not swap).
int collide(const Shape& a, const Shape& b, std::span<Witness> out);

// Sine of the angle below which a cylinder counts as standing: rim points differ by less than
// round-off then.
inline constexpr double kParallel = 1e-12;

}  // namespace stiction::reference

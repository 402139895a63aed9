// Plane against the other shapes: the points of the shape that may be deepest.
#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Sine of the angle between a cylinder's axis and the plane's normal below which the cylinder
// counts as standing: all rim points of a cap are then equally deep up to round-off.
constexpr double kStanding = 1e-12;

Vec3 normal_of(const Shape& plane) {
  return plane.rot.col(2);
}

// Returns the contact of a surface point of the second shape, given relative to that shape's position.
Witness point_on_plane(const Shape& plane, const Shape& shape, const Vec3& offset) {
  const Vec3 n = normal_of(plane);
  const Real distance = n.dot((shape.pos - plane.pos) + offset);
  const Vec3 point = shape.pos + offset;
  return {point - distance * n, point, n, distance};
}

}  // namespace

void collide_plane_sphere(const Shape& plane, const Shape& sphere, std::span<Witness> out) {
  out[0] = point_on_plane(plane, sphere, -sphere.size[0] * normal_of(plane));
}

void collide_plane_capsule(const Shape& plane, const Shape& capsule, std::span<Witness> out) {
  const Vec3 half_axis = capsule.size[1] * capsule.rot.col(2);
  const Vec3 down = -capsule.size[0] * normal_of(plane);
  out[0] = point_on_plane(plane, capsule, -half_axis + down);
  out[1] = point_on_plane(plane, capsule, half_axis + down);
}

void collide_plane_ellipsoid(const Shape& plane, const Shape& ellipsoid, std::span<Witness> out) {
  // Support point of {S y : |y| <= 1} along -n:  -S² n / |S n|, n in the ellipsoid's frame.
  const Vec3 scaled = ellipsoid.size.cwiseProduct(ellipsoid.rot.transpose() * normal_of(plane));
  const Real length = scaled.norm();
  const Vec3 unit = length > 0 ? Vec3(scaled / length) : Vec3::Zero();
  out[0] = point_on_plane(plane, ellipsoid, -(ellipsoid.rot * ellipsoid.size.cwiseProduct(unit)));
}

void collide_plane_cylinder(const Shape& plane, const Shape& cylinder, std::span<Witness> out) {
  // direction of the deepest rim point: minus the plane's normal projected on the caps
  const Vec3 n = cylinder.rot.transpose() * normal_of(plane);
  const Real sine = hypot(n.x(), n.y());
  const Real x = sine > kStanding ? -n.x() / sine : 1;
  const Real y = sine > kStanding ? -n.y() / sine : 0;

  const Real radius = cylinder.size[0], half = cylinder.size[1];
  const Vec3 rim[4] = {{x, y, 0}, {-y, x, 0}, {-x, -y, 0}, {y, -x, 0}};
  for (std::size_t cap = 0; cap < 2; ++cap) {
    const Vec3 centre = (cap == 0 ? -half : half) * Vec3::UnitZ();
    for (std::size_t k = 0; k < 4; ++k) {
      out[4 * cap + k] = point_on_plane(plane, cylinder, cylinder.rot * (centre + radius * rim[k]));
    }
  }
}

void collide_plane_box(const Shape& plane, const Shape& box, std::span<Witness> out) {
  for (unsigned i = 0; i < 8; ++i) {
    const Vec3 sign(i & 1u ? 1 : -1, i & 2u ? 1 : -1, i & 4u ? 1 : -1);
    out[i] = point_on_plane(plane, box, box.rot * sign.cwiseProduct(box.size));
  }
}

}  // namespace stiction::reference::inline STICTION_REAL

// Sphere against box: the nearest point of the box, or the nearest face if the centre is inside.
#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {

BoxContact point_against_box(const Vec3& p, const Vec3& h) {
  const Vec3 away = p - p.cwiseMax(-h).cwiseMin(h);
  const Real distance = away.norm();
  if (distance > kTie * h.maxCoeff()) return {away / distance, distance};

  // inside: the nearest face, the first one if tied
  int face = 0;
  const Vec3 height = p.cwiseAbs() - h;
  height.maxCoeff(&face);
  return {(p[face] < 0 ? -1 : 1) * Vec3::Unit(face), height[face]};
}

Witness sphere_on_box(const Vec3& p, Real radius, const BoxContact& contact, const Shape& box) {
  const Vec3 n = -(box.rot * contact.outward);
  const Vec3 centre = box.pos + box.rot * p;
  return {centre + radius * n, centre + contact.distance * n, n, contact.distance - radius};
}

void collide_sphere_box(const Shape& sphere, const Shape& box, std::span<Witness> out) {
  const Vec3 p = box.rot.transpose() * (sphere.pos - box.pos);
  out[0] = sphere_on_box(p, sphere.size[0], point_against_box(p, box.size), box);
}

}  // namespace stiction::reference::inline STICTION_REAL

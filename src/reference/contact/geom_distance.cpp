#include "reference/contact/geom_distance.h"

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

SignedDistance over_plane(const Shape& plane, const Shape& shape) {
  std::array<Witness, 16> all;
  const int n = collide(plane, shape, all);
  const Witness* lowest = &all[0];
  for (int k = 1; k < n; ++k)
    if (all[at(k)].distance < lowest->distance) lowest = &all[at(k)];
  return {lowest->normal, lowest->distance, lowest->point1, lowest->point2};
}

SignedDistance distance_of(const Shape& a, const Shape& b) {
  if (a.type == GeomType::plane) return over_plane(a, b);
  if (b.type != GeomType::plane) return nearest_convex(a, b);
  const SignedDistance d = over_plane(b, a);
  return {-d.normal, d.distance, d.point2, d.point1};
}

}  // namespace

bool is_convex(const Model& m, int g) {
  if (m.geom_type[at(g)] == GeomType::mesh) return m.mesh_vertnum[at(m.geom_dataid[at(g)])] > 0;
  return m.geom_type[at(g)] != GeomType::hfield;
}

NearestPoints nearest_points(const Model& m, const Kinematics& kin, std::span<const int> first,
                             std::span<const int> second, Real limit) {
  NearestPoints nearest = {limit};
  for (const int g1 : first)
    for (const int g2 : second) {
      const Shape a = shape(m, kin, g1), b = shape(m, kin, g2);
      if (a.type == GeomType::plane && b.type == GeomType::plane) continue;
      const SignedDistance d = distance_of(a, b);
      if (d.distance < nearest.distance) nearest = {d.distance, d.point1, d.point2};
    }
  return nearest;
}

}  // namespace stiction::reference::inline STICTION_REAL

#include "reference/collision/geometry.h"

#include <utility>

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

using Collider = void (*)(const Shape&, const Shape&, std::span<Witness>);

// Returns the collider of a pair, lower type first.
Collider collider(GeomType a, GeomType b) {
  using G = GeomType;
  if (a == G::plane) {
    switch (b) {
      case G::sphere: return collide_plane_sphere;
      case G::capsule: return collide_plane_capsule;
      case G::ellipsoid: return collide_plane_ellipsoid;
      case G::cylinder: return collide_plane_cylinder;
      case G::box: return collide_plane_box;
      case G::mesh: return collide_plane_mesh;
      default: return nullptr;
    }
  }
  if (a == G::hfield) return b == G::hfield ? nullptr : collide_hfield;
  if (a == G::sphere && b == G::sphere) return collide_sphere_sphere;
  if (a == G::sphere && b == G::capsule) return collide_sphere_capsule;
  if (a == G::sphere && b == G::box) return collide_sphere_box;
  if (a == G::capsule && b == G::capsule) return collide_capsule_capsule;
  if (a == G::capsule && b == G::box) return collide_capsule_box;
  if (a == G::box && b == G::box) return collide_box_box;
  if (a > G::hfield) return collide_convex;
  return nullptr;
}

}  // namespace

int collide(const Shape& a, const Shape& b, std::span<Witness> out) {
  const bool swapped = a.type > b.type;
  const Shape& first = swapped ? b : a;
  const Shape& second = swapped ? a : b;
  const Collider run = collider(first.type, second.type);
  if (run == nullptr) return 0;

  const int count = contact_points(first.type, second.type);
  const auto points = out.first(static_cast<std::size_t>(count));
  run(first, second, points);
  if (swapped) {
    for (Witness& w : points) {
      std::swap(w.point1, w.point2);
      w.normal = -w.normal;
    }
  }
  return count;
}

}  // namespace stiction::reference::inline STICTION_REAL

// Sphere against box: the nearest point of the box, or the nearest face if the centre is inside.
#pragma once

#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

template <class W, class Out>
STICTION_FN void collide_sphere_box(const Shape<W>& sphere, const Shape<W>& box, const Out& out) {
  const Vec3<W> p = transposed(box.rot, sphere.pos - box.pos);
  out(0, sphere_on_box<W>(p, sphere.size.x, point_against_box<W>(p, box.size), box));
}

STICTION_PHYSICS_END

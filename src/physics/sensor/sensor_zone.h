// The zone of a touch sensor: whether a ray hits the shape of a site.
#pragma once

#include "physics/base/views.h"
#include "physics/rays/stretch.h"

STICTION_PHYSICS_BEGIN

// Returns whether p + t d is in the unit sphere for some t >= 0: |p|² <= 1, or d approaches and p·d² >= d² (|p|² - 1).
template <class S>
STICTION_FN Mask<S> ray_meets_unit_sphere(const Vec3<S>& p, const Vec3<S>& d) {
  const S a = dot(d, d), b = dot(p, d), c = dot(p, p) - S(1.0);
  return c <= S(0.0) || (b < S(0.0) && b * b >= a * c);
}

// Returns whether p + t d, t >= 0, hits the shape; p and d in its frame, sizes as geom_size.
template <class S>
STICTION_FN Mask<S> ray_meets(GeomType type, const Vec3<S>& size, const Vec3<S>& p,
                              const Vec3<S>& d) {
  const Stretch<S> ray{S(0.0), far<S>()};
  const auto meets_ball = [&](S z, S r) {
    const S inverse = S(1.0) / r;
    return ray_meets_unit_sphere<S>({inverse * p.x, inverse * p.y, inverse * (p.z - z)},
                                    inverse * d);
  };
  const auto meets = [](const Stretch<S>& t) { return t.lower <= t.upper; };
  switch (type) {
    case GeomType::sphere: return meets_ball(S(0.0), size.x);
    case GeomType::ellipsoid:
      return ray_meets_unit_sphere<S>({p.x / size.x, p.y / size.y, p.z / size.z},
                                      {d.x / size.x, d.y / size.y, d.z / size.z});
    case GeomType::box:
      return meets(intersection(intersection(ray, slab(p.x, d.x, size.x)),
                                intersection(slab(p.y, d.y, size.y), slab(p.z, d.z, size.z))));
    case GeomType::cylinder:
    case GeomType::capsule: {
      const Stretch<S> side = intersection(infinite_cylinder(p, d, size.x), slab(p.z, d.z, size.y));
      const Mask<S> tube = meets(intersection(ray, side));
      if (type == GeomType::cylinder) return tube;
      return tube || meets_ball(size.y, size.x) || meets_ball(S(0.0) - size.y, size.x);
    }
    default: return S(0.0) > S(1.0);
  }
}

STICTION_PHYSICS_END

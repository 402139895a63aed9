// The zone of a touch sensor: whether a ray meets the shape of a site.
#pragma once

#include "physics/vec.h"
#include "physics/views.h"

STICTION_PHYSICS_BEGIN

// p + t d for some t >= 0 in the unit sphere: |p|² <= 1, or it approaches and p·d² >= d² (|p|² - 1).
template <class S>
STICTION_FN Mask<S> ray_meets_unit_sphere(const Vec3<S>& p, const Vec3<S>& d) {
  const S a = dot(d, d), b = dot(p, d), c = dot(p, p) - S(1.0);
  return c <= S(0.0) || (b < S(0.0) && b * b >= a * c);
}

// Part of the ray, t in [lower, upper], that a convex shape holds; empty: lower > upper.
template <class S>
struct Stretch {
  S lower, upper;
};
template <class S>
STICTION_FN Stretch<S> intersection(const Stretch<S>& a, const Stretch<S>& b) {
  return {vmax(a.lower, b.lower), vmin(a.upper, b.upper)};
}
template <class S>
STICTION_FN S far() {
  constexpr double x = std::numeric_limits<double>::infinity();
  return S(x);
}
template <class S>
STICTION_FN Stretch<S> all_or_none(const Mask<S>& all) {
  return {select(all, S(0.0), far<S>()), select(all, far<S>(), S(0.0))};
}

// |p + t d| <= h along one axis.
template <class S>
STICTION_FN Stretch<S> slab(S p, S d, S h) {
  const Mask<S> crosses = d != S(0.0);
  const S inverse = S(1.0) / select(crosses, d, S(1.0));
  const S t1 = (S(0.0) - h - p) * inverse, t2 = (h - p) * inverse;
  const Stretch<S> along = all_or_none<S>(vabs(p) <= h);
  return {select(crosses, vmin(t1, t2), along.lower), select(crosses, vmax(t1, t2), along.upper)};
}

// |p + t d| <= r in the plane across the axis: t² a + 2 t b + c <= 0
template <class S>
STICTION_FN Stretch<S> infinite_cylinder(const Vec3<S>& p, const Vec3<S>& d, S r) {
  const S a = d.x * d.x + d.y * d.y, b = p.x * d.x + p.y * d.y, c = p.x * p.x + p.y * p.y - r * r;
  const S discriminant = b * b - a * c;
  const Mask<S> crosses = a > S(0.0);
  const S root = vsqrt(vmax(discriminant, S(0.0)));
  const S inverse = S(1.0) / select(crosses, a, S(1.0));
  const Mask<S> hits = discriminant >= S(0.0);
  const Stretch<S> along = all_or_none<S>(c <= S(0.0));
  return {select(crosses, select(hits, (S(0.0) - b - root) * inverse, far<S>()), along.lower),
          select(crosses, select(hits, (root - b) * inverse, S(0.0)), along.upper)};
}

// Whether p + t d, t >= 0, meets the shape; p and d in its frame, sizes as geom_size.
template <class S>
STICTION_FN Mask<S> ray_meets(GeomType type, const Vec3<S>& size, const Vec3<S>& p,
                              const Vec3<S>& d) {
  const Stretch<S> ray{S(0.0), far<S>()};
  const auto ball = [&](S z, S r) {
    const S inverse = S(1.0) / r;
    return ray_meets_unit_sphere<S>({inverse * p.x, inverse * p.y, inverse * (p.z - z)},
                                    inverse * d);
  };
  const auto meets = [](const Stretch<S>& t) { return t.lower <= t.upper; };
  switch (type) {
    case GeomType::sphere: return ball(S(0.0), size.x);
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
      return tube || ball(size.y, size.x) || ball(S(0.0) - size.y, size.x);
    }
    default: return S(0.0) > S(1.0);
  }
}

STICTION_PHYSICS_END

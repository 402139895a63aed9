// Where a ray p + x d, x >= 0, d of any length, first hits a shape; in the frame of the shape, sizes as geom_size.
// As MuJoCo's mj_ray: from inside, the far side is hit; a plane is hit from above only and within its sizes.
#pragma once

#include "physics/collision/colliders.h"
#include "physics/collision/convex/convex_hull.h"
#include "physics/rays/ray_hfield.h"
#include "physics/rays/stretch.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kNoHit = -1;

// Returns the first end of a segment that lies on the ray.
template <class S>
STICTION_FN S first_end(const Stretch<S>& t) {
  const S x = select(t.lower >= S(0.0), t.lower, t.upper);
  return select(t.lower <= t.upper && x >= S(0.0), x, S(kNoHit));
}

// A plane of half sizes size.x, size.y; 0: infinite.
template <class S>
STICTION_FN S ray_plane(const Vec3<S>& size, const Vec3<S>& p, const Vec3<S>& d) {
  const Mask<S> down = d.z < S(0.0);
  const S x = -p.z / select(down, d.z, S(1.0));
  const auto within = [&](S half, S at) { return half <= S(0.0) || vabs(at) <= half; };
  const Mask<S> hit =
      down && x >= S(0.0) && within(size.x, p.x + x * d.x) && within(size.y, p.y + x * d.y);
  return select(hit, x, S(kNoHit));
}

// Returns the segment of the line inside a round shape or a box.
template <class S>
STICTION_FN Stretch<S> stretch_in(GeomType type, const Vec3<S>& size, const Vec3<S>& p,
                                  const Vec3<S>& d) {
  switch (type) {
    case GeomType::ellipsoid: {
      const Vec3<S> inverse{S(1.0) / size.x, S(1.0) / size.y, S(1.0) / size.z};
      return ball(scaled(inverse, p), scaled(inverse, d), S(1.0));
    }
    case GeomType::cylinder:
    case GeomType::capsule: {
      const Stretch<S> side = intersection(infinite_cylinder(p, d, size.x), slab(p.z, d.z, size.y));
      if (type == GeomType::cylinder) return side;
      const auto cap = [&](S z) { return ball<S>({p.x, p.y, p.z - z}, d, size.x); };
      return joined(side, joined(cap(size.y), cap(-size.y)));
    }
    case GeomType::box:
      return intersection(intersection(slab(p.x, d.x, size.x), slab(p.y, d.y, size.y)),
                          slab(p.z, d.z, size.z));
    default: return ball(p, d, size.x);
  }
}

// Returns the outward normal at a point q of the surface, of any length.
template <class S>
STICTION_FN Vec3<S> surface_normal(GeomType type, const Vec3<S>& size, const Vec3<S>& q) {
  const S zero(0.0), one(1.0);
  switch (type) {
    case GeomType::plane: return unit3<S>(2);
    case GeomType::ellipsoid:
      return {q.x / (size.x * size.x), q.y / (size.y * size.y), q.z / (size.z * size.z)};
    case GeomType::capsule: return {q.x, q.y, q.z - clamp(q.z, -size.y, size.y)};
    case GeomType::cylinder: {
      const Mask<S> cap = vabs(q.z) - size.y > vsqrt(q.x * q.x + q.y * q.y) - size.x;
      return select<S>(cap, {zero, zero, q.z}, {q.x, q.y, zero});
    }
    case GeomType::box: {
      const Vec3<S> height = abs3(q) - size;
      const Mask<S> x = height.x >= height.y && height.x >= height.z;
      const Mask<S> y = !x && height.y >= height.z;
      return {select(x, vcopysign(one, q.x), zero), select(y, vcopysign(one, q.y), zero),
              select(x || y, zero, vcopysign(one, q.z))};
    }
    default: return q;
  }
}

// A convex hull: the segment where the line is below the planes of all faces. `normal`: that of the face hit.
STICTION_OUTLINE inline double ray_hull(const HullRef& hull, const Vec3<double>& p,
                                        const Vec3<double>& d, Vec3<double>& normal) {
  Stretch<double> t{-far<double>(), far<double>()};
  int enters = 0, leaves = 0;
  for (int f = 0; f < hull.face_count(); ++f) {
    const Vec3<double> n = hull.normal(f);
    // below the plane: x n·d <= n·(v - p)
    const double rate = dot(n, d), depth = dot(n, hull.corner(f) - p);
    if (rate == 0) {
      if (depth < 0) return kNoHit;
      continue;
    }
    const double x = depth / rate;
    if (rate < 0 && x > t.lower) t.lower = x, enters = f;
    if (rate > 0 && x < t.upper) t.upper = x, leaves = f;
    if (t.lower > t.upper || t.upper < 0) return kNoHit;
  }
  normal = hull.normal(t.lower >= 0 ? enters : leaves);
  return first_end(t);
}

STICTION_PHYSICS_END

// Cylinders and ellipsoids against other convex shapes. Searches branch with every number, so this is
// scalar text in double, run lane by lane. For pairs that passed a cull.
#pragma once

#include "physics/convex_points.h"

STICTION_PHYSICS_BEGIN

// The shape of one lane.
template <class W>
STICTION_FN LaneShape lane_shape(GeomType type, const Shape<W>& s, int lane) {
  const auto at = [&](const Vec3<W>& v) -> Vec3<double> {
    return {get_lane(v.x, lane), get_lane(v.y, lane), get_lane(v.z, lane)};
  };
  return {type, at(s.pos), at(s.rot.x), at(s.rot.y), at(s.rot.z), at(s.size)};
}

// contact_points(type_a, type_b) witnesses. Where not `near`, a gap between the centres.
template <class W, class Out>
STICTION_RARE void collide_convex(GeomType type_a, GeomType type_b, const Shape<W>& a,
                                  const Shape<W>& b, const Mask<W>& near, const Out& out) {
  const int count = contact_points(type_a, type_b);
  const W apart = norm(b.pos - a.pos) + (norm(a.size) + norm(b.size));
  Vec3<W> point_a[kMostConvexPoints], normal = unit3<W>(0);
  W distance[kMostConvexPoints];
  for (int k = 0; k < count; ++k) point_a[k] = zero3<W>(), distance[k] = apart;
  per_lane<W>([&](int lane) {
    if (!get_lane(near, lane)) return;
    const auto put = [&](Vec3<W>& v, const Vec3<double>& x) {
      set_lane(v.x, lane, x.x), set_lane(v.y, lane, x.y), set_lane(v.z, lane, x.z);
    };
    LaneContact slot[kMostConvexPoints];
    put(normal,
        convex_points(lane_shape<W>(type_a, a, lane), lane_shape<W>(type_b, b, lane), count, slot));
    for (int k = 0; k < count; ++k) {
      put(point_a[k], slot[k].point_a);
      set_lane(distance[k], lane, slot[k].distance);
    }
  });
  for (int k = 0; k < count; ++k) {
    const Vec3<W> p = a.pos + point_a[k];
    out(k, {p, p + distance[k] * normal, normal, distance[k]});
  }
}

STICTION_PHYSICS_END

// Cylinders, ellipsoids and meshes against other convex shapes. Searches branch with every number, so this is
// scalar text in double, run lane by lane. For pairs that passed a cull.
#pragma once

#include "physics/collision/convex/convex_overlap.h"
#include "physics/collision/hfield.h"

STICTION_PHYSICS_BEGIN

// In the middle between the points that support the planes.
STICTION_FN LaneContact touching_point(const ConvexDistance& d) {
  const Vec3<double> middle = 0.5 * (d.point_a + d.point_b);
  const Vec3<double> half_gap = (0.5 * d.distance) * d.normal;
  return {middle - half_gap, middle + half_gap, d.distance};
}

// What of two shapes without meshes overlaps; returns how many slots have a point.
STICTION_FN int feature_points(const ContactList& list, const LaneShape& a, const LaneShape& b,
                               const Vec3<double>& between, const ConvexDistance& d, int count) {
  const Vec3<double> n = list.normal;
  const auto on_a = [&](int k, const Vec3<double>& p, double x) { list.on_a(k, p, x); };
  const auto on_b = [&](int k, const Vec3<double>& p, double x) { list.on_b(k, p, x); };
  const bool flat_a = shows_cap(a, n), flat_b = b.type == GeomType::box || shows_cap(b, n);
  if (flat_a && flat_b) {
    const Region ra = cap_of(a, zero3<double>(), n), rb = region_of(b, between, -n);
    rim_points(ra, rb, n, d.distance, 0, on_a);
    if (b.type == GeomType::box) {
      edge_points(list, ra, rb, 4);
    } else {
      rim_points(rb, ra, -n, d.distance, 4, on_b);
      rim_crossings(list, ra, rb, 8);
    }
    return count;
  }
  if (flat_b) {
    line_points(line_of(a, zero3<double>(), n, d.point_a), region_of(b, between, -n), n, d.distance,
                on_a);
  } else if (flat_a) {
    line_points(line_of(b, between, -n, d.point_b), cap_of(a, zero3<double>(), n), -n, d.distance,
                on_b);
  } else {
    crossing_points(list, line_of(a, zero3<double>(), n, d.point_a), a, b, between);
  }
  return 2;
}
// The same where the second may be a mesh.
STICTION_FN int feature_points(const ContactList& list, const HullShape& a, const HullShape& b,
                               const Vec3<double>& between, const ConvexDistance& d, int count) {
  if (b.type != GeomType::mesh)
    return feature_points(list, static_cast<const LaneShape&>(a), static_cast<const LaneShape&>(b),
                          between, d, count);
  const Vec3<double> n = list.normal;
  if (has_faces(a) || shows_cap(a, n)) {
    overlap_points(list, a, b, between, touching_point(d));
    return count;
  }
  line_points(line_of(a, zero3<double>(), n, d.point_a), polygon_of(b, between, -n), n, d.distance,
              [&](int k, const Vec3<double>& p, double x) { list.on_a(k, p, x); });
  return 2;
}

// What one lane knows of how two shapes may act (SearchLimit, ClosingMotion).
struct LaneLimit {
  double reach;
  Vec3<double> axis;
  bool closes;  // what follows is known
  Vec3<double> velocity[2], spin[2];
  double radius, rest, twice_horizon;

  // No point acts of shapes that are `gap` apart along n. The points of a patch are beside the shape by no more than their
  // own gaps, which grow faster than what they may close.
  STICTION_FN bool is_idle(const Vec3<double>& n, double gap) const {
    if (!closes) return false;
    double closing = 0, turning = 0;
    for (int k = 0; k < 2; ++k) {
      const double across = norm(cross(n, spin[k]));
      turning = vmax(turning, across);
      closing = vmax(closing, across * (radius + gap) - dot(n, velocity[k]));
    }
    return twice_horizon * turning < 1 && gap > rest + twice_horizon * closing;
  }
};
template <class W>
STICTION_FN LaneLimit lane_limit(const SearchLimit<W>& limit, int lane) {
  const auto at = [&](const auto& x) { return get_lane(x, lane); };
  LaneLimit one;
  one.reach = at(limit.reach), one.axis = at(limit.axis), one.closes = limit.closing != nullptr;
  if (!one.closes) return one;
  const ClosingMotion<W>& c = *limit.closing;
  for (int k = 0; k < 2; ++k) one.velocity[k] = at(c.velocity[k]), one.spin[k] = at(c.spin[k]);
  one.radius = at(c.radius), one.rest = at(c.rest), one.twice_horizon = at(c.twice_horizon);
  return one;
}

// The points of the pair, `count` of them, and their normal. Of shapes that are farther apart than the reach no point is
// written, and where none acts the nearest alone, in all slots, the others out of reach.
template <class L>
STICTION_RARE Vec3<double> convex_points(const L& a, const L& b, int count, const LaneLimit& limit,
                                         bool& beyond, LaneContact* slot) {
  constexpr bool kMeshes = std::is_same_v<L, HullShape>;
  beyond = false;
  if constexpr (kMeshes) {
    if (a.type == GeomType::plane) {
      plane_points(a, b, slot);
      return a.z;
    }
  }
  const ConvexDistance d = convex_distance(a, b, limit.reach, limit.axis);
  beyond = d.distance > limit.reach;
  if (beyond) return d.normal;
  const Vec3<double> n = d.normal, between = b.centre - a.centre;
  const ContactList list{n, d.distance, slot};
  const LaneContact touch = touching_point(d);
  slot[0] = touch;
  if (count == 1) return n;
  const bool idle = limit.is_idle(n, d.distance);
  const int used = idle ? 1 : feature_points(list, a, b, between, d, count);
  // a slot without a feature repeats the first, out of reach
  for (int k = used; k < count; ++k)
    list.on_a(k, slot[0].point_a, vmax(slot[0].distance, 0.0) + core_extent(a) + a.radius());
  // none as near as the shapes: the nearest takes the point that touches
  int nearest = 0;
  for (int k = 1; k < used; ++k)
    if (slot[k].distance < slot[nearest].distance) nearest = k;
  if (slot[nearest].distance > d.distance + 1e-9 * (core_extent(a) + core_extent(b)))
    slot[nearest] = touch;
  return n;
}

// What a geom is: of one type in all lanes, a mesh of each lane, or one height field.
template <class W>
struct ShapeKind {
  GeomType type;
  const MeshArrays* arrays = nullptr;  // null: no mesh
  int file = 0;                        // the mesh that the geom has in its file
  W mesh;
  HfieldRef field;
  STICTION_FN ShapeKind(GeomType t) : type(t) {}  // NOLINT(google-explicit-constructor)
  STICTION_FN ShapeKind(const MeshArrays* a, int own, const W& chosen)
      : type(GeomType::mesh), arrays(a), file(own), mesh(chosen) {}
  STICTION_FN ShapeKind(GeomType t, const HfieldRef& f) : type(t), field(f) {}

  STICTION_FN HullRef hull(int lane) const {
    return arrays == nullptr ? HullRef{} : chosen_hull(*arrays, get_lane(mesh, lane), file);
  }
};

// The shape of one lane.
template <class L, class W>
STICTION_FN L lane_shape(const ShapeKind<W>& kind, const Shape<W>& s, int lane) {
  const auto at = [&](const Vec3<W>& v) { return get_lane(v, lane); };
  const LaneShape shape{kind.type, at(s.pos), at(s.rot.x), at(s.rot.y), at(s.rot.z), at(s.size)};
  if constexpr (std::is_same_v<L, HullShape>)
    return {shape, kind.hull(lane)};
  else
    return shape;
}

// contact_points(type_a, type_b) witnesses. Where not `near`, a gap between the centres.
template <class L, class W, class Out>
STICTION_RARE void collide_convex(const ShapeKind<W>& kind_a, const ShapeKind<W>& kind_b,
                                  const Shape<W>& a, const Shape<W>& b, const Mask<W>& near,
                                  SearchLimit<W>& limit, const Out& out) {
  const int count = contact_points(kind_a.type, kind_b.type);
  const W apart = norm(b.pos - a.pos) + (norm(a.size) + norm(b.size));
  Vec3<W> point_a[kMostConvexPoints], normal = unit3<W>(0);
  W distance[kMostConvexPoints];
  for (int k = 0; k < count; ++k) point_a[k] = zero3<W>(), distance[k] = apart;
  per_lane<W>([&](int lane) {
    if (!get_lane(near, lane)) return;
    LaneContact slot[kMostConvexPoints];
    bool beyond;
    const Vec3<double> n =
        convex_points<L>(lane_shape<L>(kind_a, a, lane), lane_shape<L>(kind_b, b, lane), count,
                         lane_limit(limit, lane), beyond, slot);
    if (beyond) {
      set_lane(limit.beyond, lane, 1.0);
      return;
    }
    set_lane(normal, lane, n);
    for (int k = 0; k < count; ++k) {
      set_lane(point_a[k], lane, slot[k].point_a);
      set_lane(distance[k], lane, slot[k].distance);
    }
  });
  if (!any_lane(near && limit.beyond < W(0.5))) return;
  for (int k = 0; k < count; ++k) {
    const Vec3<W> p = a.pos + point_a[k];
    out(k, {p, p + distance[k] * normal, normal, distance[k]});
  }
}

STICTION_PHYSICS_END

// Distance sensors between geoms or bodies: the nearest points of their surfaces, by the searches of
// convex_distance.h, or by the support of a shape over a plane.
//
//   distance   signed; < 0: minus the length of the shortest translation that separates them, as for contacts
//   fromto     the witness point on the first geom, then the one on the second
//   normal     unit, from the first to the second of these points; in overlap opposite to the separating translation
#pragma once

#include "physics/collision/convex/convex_distance.h"
#include "physics/rays/rays.h"

STICTION_PHYSICS_BEGIN

template <class W>
struct NearestPoints {
  W distance;
  Vec3<W> from, to;  // in the world
};

// Distance of a shape b to a plane; points relative to the centre of a.
STICTION_FN ConvexDistance plane_distance(const HullShape& plane, const HullShape& b) {
  const Vec3<double> n = plane.z, between = b.centre - plane.centre;
  const Vec3<double> lowest = between + core_support(b, -n) - b.radius() * n;
  const double distance = dot(n, lowest);
  return {n, distance, lowest - distance * n, lowest};
}

// Returns the distance of two shapes; beyond `reach` a lower bound.
STICTION_RARE ConvexDistance shape_distance(const HullShape& a, const HullShape& b, double reach) {
  if (a.type == GeomType::plane) return plane_distance(a, b);
  if (b.type != GeomType::plane) return convex_distance(a, b, reach);
  const ConvexDistance d = plane_distance(b, a);
  const Vec3<double> between = b.centre - a.centre;
  return {-d.normal, d.distance, between + d.point_b, between + d.point_a};
}

// Geom g as a placed shape in each lane.
template <class W>
struct PlacedGeom {
  int geom;
  GeomShape<W> shape;
  PlacedFrame<W> frame;
};
template <class S>
STICTION_FN PlacedGeom<Wide<S>> placed_geom(const ModelView& m, const EnvView<S>& e, int g) {
  return {g, geom_shape(e, g), frame_of_geom(m, e, g)};
}
template <class W>
STICTION_FN HullShape hull_shape(const ModelView& m, const PlacedGeom<W>& s, int lane) {
  const auto at = [&](const Vec3<W>& v) { return get_lane(v, lane); };
  const auto type = static_cast<GeomType>(m.geom_type[s.geom]);
  const Mat3<W>& axes = s.frame.axes;
  return {{type, at(s.frame.pos), at(axes.x), at(axes.y), at(axes.z), at(s.shape.size)},
          type == GeomType::mesh
              ? chosen_hull(m, get_lane(s.shape.mesh, lane), m.geom_dataid[s.geom])
              : HullRef{}};
}

// Updates `nearest` in the lanes where the two geoms are nearer; the first pair wins a tie.
template <class W>
STICTION_OUTLINE void meet(const ModelView& m, const PlacedGeom<W>& a, const PlacedGeom<W>& b,
                           NearestPoints<W>& nearest) {
  per_lane<W>([&](int lane) {
    const double reach = get_lane(nearest.distance, lane);
    const HullShape one = hull_shape(m, a, lane), other = hull_shape(m, b, lane);
    const ConvexDistance d = shape_distance(one, other, reach);
    if (!(d.distance < reach)) return;
    set_lane(nearest.distance, lane, d.distance);
    set_lane(nearest.from, lane, one.centre + d.point_a);
    set_lane(nearest.to, lane, one.centre + d.point_b);
  });
}

STICTION_FN bool is_plane(const ModelView& m, int g) {
  return static_cast<GeomType>(m.geom_type[g]) == GeomType::plane;
}
// Returns whether geom g belongs to the object and is a convex shape: no height field, no mesh without vertices.
STICTION_FN bool is_of(const ModelView& m, int objtype, int id, int g) {
  const auto type = static_cast<GeomType>(m.geom_type[g]);
  if (type == GeomType::hfield) return false;
  if (type == GeomType::mesh && m.mesh_vertnum[m.geom_dataid[g]] == 0) return false;
  return static_cast<ObjectType>(objtype) == ObjectType::geom ? g == id : m.geom_bodyid[g] == id;
}

// Nearest points of sensor i; beyond its cutoff both points are 0 and the distance is the cutoff.
template <class S>
STICTION_FN NearestPoints<Wide<S>> nearest_points(const ModelView& m, const EnvView<S>& e, int i) {
  using W = Wide<S>;
  NearestPoints<W> nearest = {W(m.sensor_reach[i]), zero3<W>(), zero3<W>()};
  for (int g1 = 0; g1 < m.ngeom; ++g1) {
    if (!is_of(m, m.sensor_objtype[i], m.sensor_objid[i], g1)) continue;
    const PlacedGeom<W> a = placed_geom(m, e, g1);
    for (int g2 = 0; g2 < m.ngeom; ++g2) {
      if (!is_of(m, m.sensor_reftype[i], m.sensor_refid[i], g2)) continue;
      if (!is_plane(m, g1) || !is_plane(m, g2)) meet(m, a, placed_geom(m, e, g2), nearest);
    }
  }
  return nearest;
}

STICTION_PHYSICS_END

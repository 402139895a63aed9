// The faces of a height field, which a convex shape touches as planes. In the frame of the field;
// src/reference/geometry.h, "Height field".
#pragma once

#include "physics/collide_convex.h"
#include "physics/collide_plane.h"
#include "physics/hfield.h"
#include "physics/hfield_points.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kLongWay = 3;  // over the shortest way out of the ground

// Whether p, in the plane of the face, is in the face or at most so far beside it: `valley` where the surface
// bends up there.
STICTION_FN bool is_over(const Hfield& h, const HfieldFace& f, const Vec3<double>& p,
                         double valley) {
  const double round_off = 1e-9 * (h.dx + h.dy);
  for (int c = 0; c < 3; ++c) {
    const Vec3<double> from = f.corner[c], side = f.corner[(c + 1) % 3] - from;
    const double inside = dot(f.normal, cross(side, p - from)) / norm(side);
    if (inside >= -round_off) continue;
    if (inside < -valley) return false;
    // the node beyond the edge from node a to node b, c the third: a + b - c
    const int i = f.node[c][0] + f.node[(c + 1) % 3][0] - f.node[(c + 2) % 3][0];
    const int j = f.node[c][1] + f.node[(c + 1) % 3][1] - f.node[(c + 2) % 3][1];
    const Vec3<double> way = h.way_to_node(from, i, j);
    if (!(dot(f.normal, way) > 1e-9 * norm(way))) return false;
  }
  return true;
}

// Whether some of the surface is nearer to p than that.
STICTION_OUTLINE inline bool is_near_surface(const Hfield& h, const Vec3<double>& p, double room) {
  const int i1 = h.column(p.x + room), j1 = h.row(p.y + room);
  for (int j = h.row(p.y - room); j <= j1; ++j)
    for (int i = h.column(p.x - room); i <= i1; ++i)
      for (int which = 0; which < 2; ++which) {
        const HfieldFace f = face_of(h, i, j, which);
        const Vec3<double> u = f.corner[0] - p, v = f.corner[1] - p, w = f.corner[2] - p;
        double weight[3];
        triangle_foot(u, v, w, weight);
        if (norm2(weight[0] * u + (weight[1] * v + weight[2] * w)) < room * room) return true;
      }
  return false;
}

// The points with which the shape would touch the plane of the face, where they are over it.
STICTION_OUTLINE inline void face_points(const Hfield& h, const HfieldFace& f, const HullShape& b,
                                         HfieldPoints& points) {
  const Vec3<double> n = f.normal;
  const double lowest = dot(n, b.centre + core_support(b, -n) - f.corner[0]) - b.radius();
  if (lowest > points.reach) return;
  // k of the shape's own points, or -1
  const auto offer = [&](int k, const Vec3<double>& p, double distance) {
    if (distance > points.reach) return;
    const Vec3<double> foot = p - distance * n, core = p + b.radius() * n;
    const HfieldPoint found{{foot, p, distance}, n};
    const double away = points.away(found);
    if (!is_over(h, f, foot, vmax(-away, 0.0))) return;
    // what is behind a face is below the surface, unless it is beyond the far side of a ridge
    if (vabs(away) > 1e-9 * points.extent && (away < 0) != (core.z < h.height(core.x, core.y)))
      return;
    if (away < 0 && is_near_surface(h, core, -away / kLongWay)) return;
    if (k < 0)
      points.add(found);
    else
      points.add_own(k, found);
  };
  if (b.type == GeomType::mesh) {
    HullShape plane{};
    plane.type = GeomType::plane, plane.centre = f.corner[0], plane.z = n;
    LaneContact slot[4];
    const LaneContact deepest = plane_corners(plane, b, slot);
    for (int k = 0; k < 4; ++k)  // of the corners, not of what repeats the first
      if (k == 0 || norm2(slot[k].point_a - slot[0].point_a) > 0)
        offer(k, f.corner[0] + slot[k].point_b, slot[k].distance);
    offer(-1, f.corner[0] + deepest.point_b, deepest.distance);
    return;
  }
  const Shape<double> plane{zero3<double>(), f.corner[0], {n, n, n}};
  const Shape<double> shape{b.size, b.centre, {b.x, b.y, b.z}};
  const auto out = [&](int k, const Witness<double>& w) { offer(k, w.point2, w.distance); };
  switch (b.type) {
    case GeomType::sphere: return collide_plane_sphere(plane, shape, out);
    case GeomType::capsule: return collide_plane_capsule(plane, shape, out);
    case GeomType::ellipsoid: return collide_plane_ellipsoid(plane, shape, out);
    case GeomType::cylinder: return collide_plane_cylinder(plane, shape, out);
    default: return collide_plane_box(plane, shape, out);
  }
}

STICTION_PHYSICS_END

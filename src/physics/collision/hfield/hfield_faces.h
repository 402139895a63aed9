// The faces of a height field, each of which a convex shape touches like a plane. In the frame of the field;
// src/reference/collision/geometry.h, "Height field".
#pragma once

#include "physics/collision/collide_plane.h"
#include "physics/collision/convex/collide_convex.h"
#include "physics/collision/hfield.h"
#include "physics/collision/hfield/hfield_points.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kLongWay = 3;  // times the shortest way out of the ground

// Returns whether p, in the plane of the face, is in the face or at most `valley` beside it at edges where the surface
// is concave.
STICTION_FN bool is_over(const Hfield& h, const HfieldFace& f, const Vec3<double>& p,
                         double valley) {
  const double round_off = 1e-9 * (h.dx + h.dy);
  // seen from above, p is beside a side by no more than in the plane
  for (int c = 0; c < 3; ++c) {
    const Vec3<double> from = f.corner[c], side = f.corner[(c + 1) % 3] - from;
    const double beside = side.y * (p.x - from.x) - side.x * (p.y - from.y);
    if (beside > (valley + 2 * round_off) * (vabs(side.x) + vabs(side.y))) return false;
  }
  for (int c = 0; c < 3; ++c) {
    const Vec3<double> from = f.corner[c], side = f.corner[(c + 1) % 3] - from;
    const double inside = dot(f.normal, cross(side, p - from)) / norm(side);
    if (inside >= -round_off) continue;
    if (inside < -valley) return false;
    // the node opposite to the edge from node a to node b, c the third node of the face: a + b - c
    const int i = f.node[c][0] + f.node[(c + 1) % 3][0] - f.node[(c + 2) % 3][0];
    const int j = f.node[c][1] + f.node[(c + 1) % 3][1] - f.node[(c + 2) % 3][1];
    const Vec3<double> way = h.way_to_node(from, i, j);
    if (!(dot(f.normal, way) > 1e-9 * norm(way))) return false;
  }
  return true;
}

// Vector from p to the nearest point of the surface closer than `room`, and its length; `room` if there is none.
struct WayToSurface {
  Vec3<double> way;
  double length;
};
STICTION_OUTLINE inline WayToSurface nearest_surface(const Hfield& h, const Vec3<double>& p,
                                                     double room) {
  WayToSurface nearest{zero3<double>(), room};
  const int i1 = h.column(p.x + room), j1 = h.row(p.y + room);
  for (int j = h.row(p.y - room); j <= j1; ++j)
    for (int i = h.column(p.x - room); i <= i1; ++i)
      for (int which = 0; which < 2; ++which) {
        const HfieldFace f = face_of(h, i, j, which);
        const Vec3<double> u = f.corner[0] - p, v = f.corner[1] - p, w = f.corner[2] - p;
        double weight[3];
        triangle_foot(u, v, w, weight);
        const Vec3<double> way = weight[0] * u + (weight[1] * v + weight[2] * w);
        if (norm2(way) < nearest.length * nearest.length) nearest = {way, norm(way)};
      }
  return nearest;
}

STICTION_FN Vec3<double> box_corner(const HullShape& b, int k) {
  return b.centre +
         b.global({(k & 1) != 0 ? b.size.x : -b.size.x, (k & 2) != 0 ? b.size.y : -b.size.y,
                   (k & 4) != 0 ? b.size.z : -b.size.z});
}

// Bounds the cells whose faces a box corner may touch: a corner above the ground has its foot in the face, within
// reach. A corner V below is at most kLongWay V from the plane, its foot as far beside the sides of the face; that is
// 1 + (l + d)/s times as far beside the cell; s, l: sides of the cell, d: its diagonal.
STICTION_FN void place_corners(const Hfield& h, const HullShape& b, HfieldPoints& points) {
  points.placed = true;
  if (b.type != GeomType::box) return;
  const double wide = vmax(h.dx, h.dy) + vsqrt(h.dx * h.dx + h.dy * h.dy);
  const double beside = kLongWay * (2 + wide / vmin(h.dx, h.dy));
  for (int k = 0; k < 8; ++k) {
    const Vec3<double> p = box_corner(b, k);
    const double low = h.height(p.x, p.y) - p.z;
    const double room = (1 + 1e-6) * vmax(points.reach, beside * low);
    points.corner[k] = {h.column(p.x - room), h.column(p.x + room), h.row(p.y - room),
                        h.row(p.y + room)};
  }
}

// A box corner, or the centre of a sphere or of a capsule's end, that is below the ground but over no face touches the
// nearest point of the surface: the bottom of a valley so steep that its feet are far beside the faces.
STICTION_FN void valley_points(const Hfield& h, const HullShape& b, HfieldPoints& points) {
  const bool round = b.type == GeomType::sphere || b.type == GeomType::capsule;
  if (!round && b.type != GeomType::box) return;
  for (int k = 0; k < points.own; ++k) {
    if (points.filled[k]) continue;
    const double along = b.type == GeomType::capsule ? (k == 0 ? -b.size.y : b.size.y) : 0.0;
    const Vec3<double> p = round ? b.centre + along * b.z : box_corner(b, k);
    const double below = h.height(p.x, p.y) - p.z;
    if (!(below > 0)) continue;
    const WayToSurface out = nearest_surface(h, p, (1 + 1e-6) * below);
    if (!(out.length > 1e-9 * points.extent)) continue;
    const Vec3<double> n = (1 / out.length) * out.way;
    points.slot[k] = {{p + out.way, p - b.radius() * n, -out.length - b.radius()}, n};
    points.filled[k] = true;
  }
}

// Adds the points at which the shape would touch the plane of the face, if they are over the face.
STICTION_OUTLINE inline void face_points(const Hfield& h, const HfieldFace& f, const HullShape& b,
                                         HfieldPoints& points) {
  if (b.type == GeomType::box) {
    bool any = false;
    for (int k = 0; k < 8; ++k) any = any || points.corner[k].has(f.node[0][0], f.node[0][1]);
    if (!any) return;
  }
  const Vec3<double> n = f.normal;
  // k: index among the shape's own points, or -1
  const auto offer = [&](int k, const Vec3<double>& p, double distance) {
    if (distance > points.reach) return;
    const Vec3<double> foot = p - distance * n, core = p + b.radius() * n;
    const HfieldPoint found{{foot, p, distance}, n};
    const double away = points.away(found);
    if (!is_over(h, f, foot, vmax(-away, 0.0))) return;
    // a point behind a face is below the surface, unless the face belongs to the far side of a ridge
    if (vabs(away) > 1e-9 * points.extent && (away < 0) != (core.z < h.height(core.x, core.y)))
      return;
    const double shortest = -away / kLongWay;
    if (away < 0 && nearest_surface(h, core, shortest).length < shortest) return;
    if (k < 0)
      points.add(found);
    else
      points.add_own(k, found);
  };
  if (b.type == GeomType::mesh) {
    if (dot(n, b.centre + core_support(b, -n) - f.corner[0]) > points.reach) return;
    HullShape plane{};
    plane.type = GeomType::plane, plane.centre = f.corner[0], plane.z = n;
    LaneContact slot[4];
    const LaneContact deepest = plane_corners(plane, b, slot);
    for (int k = 0; k < 4; ++k) {
      bool repeats = false;  // repeats another slot, out of reach
      for (int j = 0; j < 4; ++j)
        repeats = repeats || (norm2(slot[k].point_a - slot[j].point_a) <= 0 &&
                              slot[j].distance < slot[k].distance);
      if (!repeats) offer(k, f.corner[0] + slot[k].point_b, slot[k].distance);
    }
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
    default: {
      const int i = f.node[0][0], j = f.node[0][1];
      return collide_plane_box(plane, shape, out,
                               [&](int k) { return points.corner[k].has(i, j); });
    }
  }
}

STICTION_PHYSICS_END

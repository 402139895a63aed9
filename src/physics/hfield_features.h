// What of a height field a convex shape touches: a face, as a plane, or an edge that bends down, as a line. In the frame
// of the field; src/reference/geometry.h, "Height field".
#pragma once

#include "physics/collide_convex.h"
#include "physics/collide_plane.h"
#include "physics/collide_round.h"
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

// The edge as a shape, with a radius of zero.
STICTION_FN HullShape bar_of(const HfieldEdge& e) {
  const Vec3<double> way = e.to - e.from;
  const double length = norm(way);
  HullShape s{};
  s.type = GeomType::capsule;
  s.centre = e.from + 0.5 * way;
  s.z = (1 / length) * way;
  const Vec3<double> aside = cross(s.z, least_axis(s.z));
  s.x = (1 / norm(aside)) * aside, s.y = cross(s.z, s.x);
  s.size = {0.0, 0.5 * length, 0.0};
  return s;
}

// The points of an edge and what is nearest to it along d: where they are over a face or cap of the shape, or
// along its side, the ends of that part, else the point that touches. Returns how many.
STICTION_FN int bar_points(const HullShape& bar, const HullShape& b, const ConvexDistance& d,
                           LaneContact* slot) {
  const Vec3<double> n = d.normal, between = b.centre - bar.centre;
  const ContactList list{n, d.distance, slot};
  slot[0] = touching_point(d);
  if (b.type == GeomType::sphere || b.type == GeomType::ellipsoid) return 1;
  const SurfaceLine line{zero3<double>(), bar.z, bar.size.y, dot(bar.z, d.point_a)};
  const auto on_a = [&](int k, const Vec3<double>& p, double x) { list.on_a(k, p, x); };
  if (b.type == GeomType::mesh) {
    line_points(line, polygon_of(b, between, -n), n, d.distance, on_a);
  } else if (b.type == GeomType::box || shows_cap(b, n)) {
    line_points(line, region_of(b, between, -n), n, d.distance, on_a);
  } else {
    crossing_points(list, line, bar, b, between);
  }
  const int nearest = slot[1].distance < slot[0].distance ? 1 : 0;
  if (slot[nearest].distance > d.distance + 1e-9 * (bar.size.y + core_extent(b)))
    slot[nearest] = touching_point(d);
  return 2;
}

// The part of a bar's points that is within `half` of its middle, at heights between theirs; returns how many points
// are left.
STICTION_FN int clipped(const HullShape& bar, double half, const Vec3<double>& n, int count,
                        LaneContact* slot) {
  const double t0 = dot(bar.z, slot[0].point_a), t1 = dot(bar.z, slot[count - 1].point_a);
  const double low = vmin(t0, t1), high = vmax(t0, t1);
  if (high < -half || low > half) return 0;
  const double d0 = slot[0].distance,
               slope = high > low ? (slot[count - 1].distance - d0) / (t1 - t0) : 0.0;
  for (int k = 0; k < count; ++k) {
    const double t = clamp(k == 0 ? t0 : t1, -half, half), distance = d0 + slope * (t - t0);
    slot[k] = {t * bar.z, t * bar.z + distance * n, distance};
  }
  return count;
}

// How far an edge is from the shape. Of balls and capsules in closed form; of others first a bound, which is returned
// beyond reach: of a cylinder that of the capsule around it, else along the line between the edge and the centre.
// Distance 0: the edge is in the shape, whose depth is not sought.
STICTION_FN ConvexDistance bar_distance(const HullShape& bar, const HullShape& b, double reach) {
  const Vec3<double> between = b.centre - bar.centre;
  const double t = clamp(dot(bar.z, between), -bar.size.y, bar.size.y);
  const Vec3<double> way = between - t * bar.z;
  const double length = norm(way);
  if (b.type == GeomType::sphere) {
    const Vec3<double> n = length > 1e-12 * bar.size.y ? (1 / length) * way : bar.x;
    return {n, length - b.size.x, t * bar.z, between - b.size.x * n};
  }
  if (b.type == GeomType::capsule || b.type == GeomType::cylinder) {
    const auto capsule = [](const HullShape& s, const Vec3<double>& pos) -> Shape<double> {
      return {s.size, pos, {s.x, s.y, s.z}};
    };
    ConvexDistance d{};
    collide_capsule_capsule<double>(capsule(bar, zero3<double>()), capsule(b, between),
                                    [&](int, const Witness<double>& w) {
                                      d = {w.normal, w.distance, w.point1, w.point2};
                                    });
    if (b.type == GeomType::capsule || d.distance > reach) return d;
  } else if (length > core_extent(b)) {
    const Vec3<double> n = (1 / length) * way;
    const double apart = dot(n, between + core_support(b, -n)) - bar.size.y * vabs(dot(n, bar.z));
    if (apart > reach) return {n, apart, zero3<double>(), zero3<double>()};
  }
  const ConvexPair<HullShape> pair{bar, b, between, bar.size.y + core_extent(b) + norm(between)};
  ConvexDistance d = nearest_points_apart(pair, reach);
  if (d.distance > 0 && d.distance <= reach) settle_on(pair, b, d, true);
  return d;
}

// What touches an edge (i, j), k that bends down: as a capsule without a radius, with a normal that is between
// those of the faces beside it, or of those around its end. In overlap as if the edge were longer than the shape: there
// is no way out along it.
STICTION_OUTLINE inline void ridge_points(const Hfield& h, int i, int j, int k, const HfieldEdge& e,
                                          const HullShape& b, HfieldPoints& points) {
  HullShape bar = bar_of(e);
  const double half = bar.size.y;
  const auto offer = [&](const LaneContact& at, const Vec3<double>& n) {
    if (at.distance <= points.reach)
      points.add({{bar.centre + at.point_a, bar.centre + at.point_b, at.distance}, n});
  };
  ConvexDistance d = bar_distance(bar, b, points.reach);
  if (d.distance > points.reach) return;
  const bool overlaps = b.radius() == 0 && d.distance == 0;
  ConvexDistance across = d;
  if (overlaps) {
    bar.size.y = half + 2 * points.extent;
    across = convex_distance(bar, b, points.reach);
  }
  if (falls_away(across.normal, e.beside[0]) && falls_away(across.normal, e.beside[1]) &&
      vabs(dot(across.normal, bar.z)) <= 1e-6) {
    LaneContact slot[2];
    int count = bar_points(bar, b, across, slot);
    if (overlaps) count = clipped(bar, half, across.normal, count, slot);
    for (int p = 0; p < count; ++p) offer(slot[p], across.normal);
    return;
  }
  bar.size.y = half;
  if (overlaps) d = convex_distance(bar, b, points.reach);
  int di, dj;
  neighbour(k, di, dj);
  const double along = dot(bar.z, d.point_a);
  const bool end = along > 0;
  if (vabs(along) < half * (1 - 1e-9)) return;
  if (is_peak(h, end ? i + di : i, end ? j + dj : j, d.normal)) offer(touching_point(d), d.normal);
}

STICTION_PHYSICS_END

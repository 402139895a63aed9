// Ridges of a height field: convex edges, which a convex shape touches like lines, and their ends, like points. In the
// frame of the field; src/reference/collision/geometry.h, "Height field".
#pragma once

#include "physics/collision/collide_round.h"
#include "physics/collision/convex/collide_convex.h"
#include "physics/collision/hfield.h"
#include "physics/collision/hfield/hfield_line.h"
#include "physics/collision/hfield/hfield_points.h"

STICTION_PHYSICS_BEGIN

// Returns the edge as a capsule of radius zero; x and y are only needed by searches, if `turned`.
STICTION_FN HullShape bar_of(const HfieldEdge& e, bool turned) {
  const Vec3<double> way = e.to - e.from;
  const double length = norm(way);
  HullShape s{};
  s.type = GeomType::capsule;
  s.centre = e.from + 0.5 * way;
  s.z = (1 / length) * way;
  s.size = {0.0, 0.5 * length, 0.0};
  if (!turned) return s;
  const Vec3<double> aside = cross(s.z, least_axis(s.z));
  s.x = (1 / norm(aside)) * aside, s.y = cross(s.z, s.x);
  return s;
}

// Finds the points of an edge and a shape nearest to it along d: over a face or cap of the shape, or along its
// side, the ends of that part, else the touching point. Returns their number.
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

// Clips the points of a bar to `half` on either side of its midpoint, interpolating heights; returns how many
// points remain.
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

// Distance of an edge from the shape, in closed form for balls and capsules. For others first a bound along the line
// between edge and centre, which is returned if beyond reach. Distance 0: the edge is inside, its depth unknown.
STICTION_FN ConvexDistance bar_distance(const HullShape& bar, const HullShape& b, double reach) {
  const Vec3<double> between = b.centre - bar.centre;
  if (b.type == GeomType::capsule) {
    const auto capsule = [](const HullShape& s, const Vec3<double>& pos) -> Shape<double> {
      return {s.size, pos, {s.x, s.y, s.z}};
    };
    const Witness<double> w =
        nearest_of_capsules<double>(capsule(bar, zero3<double>()), capsule(b, between));
    return {w.normal, w.distance, w.point1, w.point2};
  }
  const double t = clamp(dot(bar.z, between), -bar.size.y, bar.size.y);
  const Vec3<double> way = between - t * bar.z;
  const double length = norm(way);
  if (b.type == GeomType::sphere) {
    const Vec3<double> n = length > 1e-12 * bar.size.y ? (1 / length) * way : unit3<double>(2);
    return {n, length - b.size.x, t * bar.z, between - b.size.x * n};
  }
  if (length > core_extent(b)) {
    const Vec3<double> n = (1 / length) * way;
    const double apart = dot(n, between + core_support(b, -n)) - bar.size.y * vabs(dot(n, bar.z));
    if (apart > reach) return {n, apart, zero3<double>(), zero3<double>()};
  }
  const ConvexPair<HullShape> pair{bar, b, between, bar.size.y + core_extent(b) + norm(between)};
  ConvexDistance d = nearest_points_apart(pair, reach);
  if (d.distance > 0 && d.distance <= reach) settle_on(pair, b, d, true);
  return d;
}

// Distance perpendicular to the edge: that of its line if the nearest point lies in the edge, else beyond reach. In
// overlap the edge is extended as far as needed, since there is no way out along it.
STICTION_FN ConvexDistance ridge_distance(HullShape& bar, const HullShape& b, double reach,
                                          double extent, bool& overlaps) {
  const Vec3<double> between = b.centre - bar.centre, u = bar.z;
  const double half = bar.size.y;
  ConvexDistance d{u, reach + extent, zero3<double>(), zero3<double>()};
  if (b.type == GeomType::box) {
    const double gap = segment_box_gap(u, half, between, b, reach);
    if (gap > reach) return d;
    d = line_box_distance(u, between, b);
    overlaps = gap < 0;
  } else if (b.type == GeomType::cylinder) {
    const double room = norm(cross(u, between)) - reach;  // of the line from the ball around it
    if (room > 0 && room * room > b.size.x * b.size.x + b.size.y * b.size.y) return d;
    d = line_cylinder_distance(u, between, b);
    overlaps = d.distance < 0 && is_in_cylinder(u, half, between, b);
  } else {
    d = bar_distance(bar, b, reach);
    overlaps = b.radius() == 0 && d.distance == 0;
    if (!overlaps) return d;
    bar.size.y = half + 2 * extent;
    return convex_distance(bar, b, reach);
  }
  if (overlaps) {
    bar.size.y = half + 2 * extent;
    return d;
  }
  const double t = clamp(dot(u, d.point_a), -half, half);
  const ConvexDistance at = point_distance(bar.centre + t * u, b, reach);
  if (at.distance > d.distance + 1e-9 * extent) d.distance = reach + extent;
  d.point_a = t * u, d.point_b = d.point_a + d.distance * d.normal;
  return d;
}

// Adds the points of a convex edge and the shape: the edge is a capsule without a radius, with a normal between those
// of its two faces.
STICTION_OUTLINE inline void ridge_points(const HfieldEdge& e, const HullShape& b,
                                          HfieldPoints& points) {
  const bool closed =
      b.type == GeomType::sphere || b.type == GeomType::box || b.type == GeomType::cylinder;
  HullShape bar = bar_of(e, !closed);
  const double half = bar.size.y, slope = peak_slope(b.type);
  bool overlaps = false;
  const ConvexDistance d = ridge_distance(bar, b, points.reach, points.extent, overlaps);
  if (d.distance > points.reach || vabs(dot(d.normal, bar.z)) > 1e-6 ||
      !falls_away(d.normal, e.beside[0], slope) || !falls_away(d.normal, e.beside[1], slope))
    return;
  const bool spare = !falls_away(d.normal, e.beside[0], 0) || !falls_away(d.normal, e.beside[1], 0);
  LaneContact slot[2];
  int count = bar_points(bar, b, d, slot);
  if (overlaps) count = clipped(bar, half, d.normal, count, slot);
  for (int p = 0; p < count; ++p)
    if (slot[p].distance <= points.reach)
      points.add({{bar.centre + slot[p].point_a, bar.centre + slot[p].point_b, slot[p].distance},
                  d.normal,
                  false,
                  spare});
}

// Adds the point of node (i, j), if the surface around it descends along the normal on all sides.
STICTION_OUTLINE inline void peak_points(const Hfield& h, int i, int j, const HullShape& b,
                                         HfieldPoints& points) {
  const double slope = peak_slope(b.type);
  if (!may_be_peak(h, i, j, slope)) return;
  const ConvexDistance d = point_distance(h.node(i, j), b, points.reach);
  if (d.distance > points.reach || !is_peak(h, i, j, d.normal, slope)) return;
  const bool flat = slope > 0, spare = flat && !is_peak(h, i, j, d.normal, 0);
  points.add({{d.point_a, d.point_b, d.distance}, d.normal, flat, spare});
}

STICTION_PHYSICS_END

// Convex shapes against a height field, lane by lane, in the frame of the field, in double.
#pragma once

#include "physics/hfield_faces.h"
#include "physics/hfield_ridges.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kIdle = 1e6;  // m, least distance of an empty slot where any may matter

// The cells over which the shape is or comes within reach.
struct HfieldWindow {
  int i0, i1, j0, j1;
  double lowest;  // of the shape
  bool empty;
};
STICTION_FN HfieldWindow window_of(const Hfield& h, const HullShape& b, double reach) {
  const double room = b.radius() + reach;
  const auto most = [&](int k, double sign) {
    return coordinate(core_support(b, sign * unit3<double>(k)), k);
  };
  const double x0 = b.centre.x + most(0, -1) - room, x1 = b.centre.x + most(0, 1) + room;
  const double y0 = b.centre.y + most(1, -1) - room, y1 = b.centre.y + most(1, 1) + room;
  return {h.column(x0),
          h.column(x1),
          h.row(y0),
          h.row(y1),
          b.centre.z + most(2, -1) - room,
          x0 > h.half_x || x1 < -h.half_x || y0 > h.half_y || y1 < -h.half_y};
}

// At least how far the shape is from a box of these half sizes about p, with the axes of the field: along the axes of the
// shape, of round ones also towards p.
STICTION_FN double away_from(const HullShape& b, const Vec3<double>& p, const Vec3<double>& half) {
  const Vec3<double> q = b.local(p - b.centre);
  const auto reach_of = [&](const Vec3<double>& n) { return dot(abs3(n), half); };
  switch (b.type) {
    case GeomType::sphere: return norm(away_from_box(p - b.centre, half)) - b.size.x;
    case GeomType::capsule:
    case GeomType::cylinder: {
      const double cap = b.size.y + b.radius(), beyond = vabs(q.z) - cap - reach_of(b.z);
      const double aside = vsqrt(q.x * q.x + q.y * q.y);
      if (!(aside > b.size.x)) return beyond;
      const Vec3<double> n = (q.x / aside) * b.x + (q.y / aside) * b.y;
      return vmax(beyond, aside - b.size.x - reach_of(n));
    }
    default:
      return vmax(vmax(vabs(q.x) - b.size.x - reach_of(b.x), vabs(q.y) - b.size.y - reach_of(b.y)),
                  vabs(q.z) - b.size.z - reach_of(b.z));
  }
}

// Half a cell: a shape is deep if its lowest point is so far below the surface.
STICTION_FN double shallow(const Hfield& h) {
  return 0.5 * vmin(h.dx, h.dy);
}
STICTION_FN bool is_deep(const Hfield& h, const HullShape& b) {
  const Vec3<double> p = b.centre + core_support(b, -unit3<double>(2));
  return p.z - b.radius() < h.height(p.x, p.y) - shallow(h);
}

// Whether a shape that is not deep is within reach of the box around the four corners of a cell, which is wider and lower
// by what such a shape may be in the ground.
STICTION_FN bool may_touch_cell(const Hfield& h, int i, int j, const HullShape& b,
                                const HfieldWindow& w, double reach) {
  const Vec3<double> p = h.node(i, j), q = h.node(i + 1, j + 1);
  const double r = h.node(i + 1, j).z, s = h.node(i, j + 1).z;
  const double top = vmax(vmax(p.z, q.z), vmax(r, s)), low = vmin(vmin(p.z, q.z), vmin(r, s));
  if (top < w.lowest) return false;
  const double more = vmax(shallow(h) - reach, 0.0);
  const Vec3<double> centre = {0.5 * (p.x + q.x), 0.5 * (p.y + q.y), 0.5 * (low - more + top)};
  const Vec3<double> half = {0.5 * h.dx + more, 0.5 * h.dy + more, 0.5 * (top - low + more)};
  return away_from(b, centre, half) <= reach;
}

// The points of the pair; false: none is within reach.
STICTION_OUTLINE inline bool hfield_points(const Hfield& h, const HullShape& b,
                                           HfieldPoints& points) {
  points.own = contact_points(GeomType::plane, b.type);
  points.count = 0, points.overflow = false;
  const int slots = points.own + kHfieldMore;
  for (int k = 0; k < slots; ++k) points.filled[k] = false;
  const HfieldWindow w = window_of(h, b, points.reach);
  if (w.empty) return false;
  const bool deep = is_deep(h, b);
  // edges on the upper sides of the last cells belong to nodes beyond them
  for (int j = w.j0; j <= w.j1 + 1; ++j) {
    for (int i = w.i0; i <= w.i1 + 1; ++i) {
      const int ci = i < w.i1 ? i : w.i1, cj = j < w.j1 ? j : w.j1;
      if (!deep && !may_touch_cell(h, ci, cj, b, w, points.reach)) continue;
      for (int k = 0; k < 3; ++k) {
        int di, dj;
        neighbour(k, di, dj);
        if (i + di > w.i1 + 1 || j + dj > w.j1 + 1) continue;
        const HfieldEdge e = edge_of(h, i, j, k);
        if (vmax(e.from.z, e.to.z) >= w.lowest && is_ridge(e)) ridge_points(e, b, points);
      }
      if (h.node(i, j).z >= w.lowest) peak_points(h, i, j, b, points);
      if (i > w.i1 || j > w.j1) continue;
      for (int which = 0; which < 2; ++which) face_points(h, face_of(h, i, j, which), b, points);
    }
  }
  drop_known(points);
  choose_points(points);
  bool any = false;
  for (int k = 0; k < slots; ++k) any = any || points.filled[k];
  return any;
}

// Where more points of a lane touch than there are slots: 1.
template <class W>
struct HfieldLimit : SearchLimit<W> {
  W overflow;
};

// contact_points(hfield, type) witnesses, each with a normal of its own; a slot without a point is beyond reach.
template <class W, class Out>
STICTION_RARE void collide_hfield(const ShapeKind<W>& kind_a, const ShapeKind<W>& kind_b,
                                  const Shape<W>& a, const Shape<W>& b, const Mask<W>& near,
                                  HfieldLimit<W>& limit, const Out& out) {
  const int count = contact_points(GeomType::hfield, kind_b.type);
  const W apart = norm(b.pos - a.pos) + norm(b.size);
  Vec3<W> point_a[kHfieldPoints], normal[kHfieldPoints];
  W distance[kHfieldPoints];
  for (int k = 0; k < count; ++k) point_a[k] = zero3<W>(), normal[k] = a.rot.z, distance[k] = apart;
  per_lane<W>([&](int lane) {
    if (!get_lane(near, lane)) return;
    const auto at = [&](const Vec3<W>& v) { return get_lane(v, lane); };
    const Vec3<double> x = at(a.rot.x), y = at(a.rot.y), z = at(a.rot.z);
    const auto local = [&](const Vec3<double>& v) -> Vec3<double> {
      return {dot(x, v), dot(y, v), dot(z, v)};
    };
    const auto global = [&](const Vec3<double>& v) { return v.x * x + v.y * y + v.z * z; };
    const HullShape shape{{kind_b.type, local(at(b.pos) - at(a.pos)), local(at(b.rot.x)),
                           local(at(b.rot.y)), local(at(b.rot.z)), at(b.size)},
                          kind_b.hull(lane)};
    HfieldPoints points;
    points.radius = shape.radius();
    points.extent = core_extent(shape) + points.radius;
    // the choice among points within the band depends on no others
    const double reach = get_lane(limit.reach, lane);
    points.reach = reach + points.band();
    if (!hfield_points(hfield_of(kind_a.field), shape, points)) {
      set_lane(limit.beyond, lane, 1.0);
      return;
    }
    if (points.overflow) set_lane(limit.overflow, lane, 1.0);
    for (int k = 0; k < count; ++k) {
      if (points.filled[k]) {
        set_lane(point_a[k], lane, global(points.slot[k].at.point_a));
        set_lane(normal[k], lane, global(points.slot[k].normal));
        set_lane(distance[k], lane, points.slot[k].at.distance);
      } else {
        set_lane(point_a[k], lane, global(shape.centre));
        set_lane(distance[k], lane, vmin(2 * reach, kIdle) + points.extent);
      }
    }
  });
  for (int k = 0; k < count; ++k) {
    const Vec3<W> p = a.pos + point_a[k];
    out(k, {p, p + distance[k] * normal[k], normal[k], distance[k]});
  }
}

STICTION_PHYSICS_END

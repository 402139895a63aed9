// Convex shapes against a height field, lane by lane, in the frame of the field, in double.
#pragma once

#include <limits>

#include "physics/collision/hfield/hfield_faces.h"
#include "physics/collision/hfield/hfield_filter.h"
#include "physics/collision/hfield/hfield_ridges.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kIdle = 1e6;  // m, least distance of an empty slot where any may matter

// The cells that the shape covers or comes within reach of.
struct HfieldWindow {
  int i0, i1, j0, j1;
  int i_end,
      j_end;  // last nodes: those on the upper sides of the last cells where the field ends there
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
  const int i1 = h.column(x1), j1 = h.row(y1);
  const double round_off = 1e-9 * (h.dx + h.dy);
  return {h.column(x0),
          i1,
          h.row(y0),
          j1,
          (i1 + 1) * h.dx - h.half_x <= x1 + round_off ? i1 + 1 : i1,
          (j1 + 1) * h.dy - h.half_y <= y1 + round_off ? j1 + 1 : j1,
          b.centre.z + most(2, -1) - room,
          x0 > h.half_x || x1 < -h.half_x || y0 > h.half_y || y1 < -h.half_y};
}

// A shape is deep if its lowest point is farther below the surface than `shallow`.
STICTION_FN bool is_deep(const Hfield& h, const HullShape& b) {
  const Vec3<double> p = b.centre + core_support(b, -unit3<double>(2));
  return p.z - b.radius() < h.height(p.x, p.y) - shallow(h);
}

// Adds the points of the edges, nodes and faces that the filter has passed.
template <class W>
STICTION_FN void node_points(const Hfield& h, const HfieldWindow& w, const HullShape& b,
                             const HfieldFilter<W>& filter, const HfieldNodes<W>& nodes,
                             HfieldPoints& points) {
  const W found = filter.bits(h, nodes);
  for (int lane = 0; lane < nodes.count; ++lane) {
    const int bits = static_cast<int>(get_lane(found, lane));
    if (bits == 0) continue;
    const int i = nodes.i[lane], j = nodes.j[lane];
    for (int k = 0; k < 3; ++k) {
      int di, dj;
      neighbour(k, di, dj);
      if ((bits & 1 << k) == 0 || i + di > w.i1 + 1 || j + dj > w.j1 + 1) continue;
      const HfieldEdge e = edge_of(h, i, j, k);
      if (is_ridge(e)) ridge_points(e, b, points);
    }
    if ((bits & kNodeBit) != 0) peak_points(h, i, j, b, points);
    if (bits >= kFaceBit && !points.placed) place_corners(h, b, points);
    for (int which = 0; which < 2; ++which)
      if ((bits & kFaceBit << which) != 0) face_points(h, face_of(h, i, j, which), b, points);
  }
}

// Finds the points of the pair; returns false if none is within reach.
template <class W>
STICTION_OUTLINE inline bool hfield_points(const Hfield& h, const HullShape& b,
                                           HfieldPoints& points) {
  points.own = contact_points(GeomType::plane, b.type);
  points.count = 0, points.overflow = false;
  const int slots = points.own + kHfieldMore;
  for (int k = 0; k < slots; ++k) points.filled[k] = false;
  const HfieldWindow w = window_of(h, b, points.reach);
  if (w.empty) return false;
  const bool deep = is_deep(h, b);
  points.placed = false;
  const HfieldFilter<W> filter(h, b, points, w.lowest, deep);
  HfieldNodes<W> nodes;
  for (int j = w.j0; j <= w.j_end; ++j)
    for (int i = w.i0; i <= w.i_end; ++i) {
      nodes.add(h, i, j, i <= w.i1 && j <= w.j1);
      const bool last = i == w.i_end && j == w.j_end;
      if (nodes.count < kLanes<W> && !last) continue;
      node_points(h, w, b, filter, nodes, points);
      nodes.count = 0;
    }
  valley_points(h, b, points);
  drop_known(points);
  choose_points(points, b);
  bool any = false;
  for (int k = 0; k < slots; ++k) any = any || points.filled[k];
  return any;
}

// Cells searched on each side of a shape, however fast it moves: 128 x 128 take a millisecond.
inline constexpr double kMostCells = 64;

// overflow: 1 where more points of a lane touch than there are slots; cut: 1 where its reach exceeds kMostCells.
template <class W>
struct HfieldLimit : SearchLimit<W> {
  W overflow{}, cut{};
};

// Writes contact_points(hfield, type) witnesses, each with its own normal; slots without a point are beyond reach. Two
// fields never collide; calling contact_points here would be a comparison that ptxas miscompiles (cuda/README.md).
template <class W, class Out>
STICTION_RARE void collide_hfield(const ShapeKind<W>& kind_a, const ShapeKind<W>& kind_b,
                                  const Shape<W>& a, const Shape<W>& b, const Mask<W>& near,
                                  HfieldLimit<W>& limit, const Out& out) {
  const int count = plane_contact_points(kind_b.type) + kHfieldMore;
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
    // the choice among points within the band does not depend on points outside of it
    const Hfield h = hfield_of(kind_a.field);
    const double reach = get_lane(limit.reach, lane), most = kMostCells * vmax(h.dx, h.dy);
    // for a moving field the reach is unbounded: all of it is searched
    const bool cut = reach > most && reach < std::numeric_limits<double>::infinity();
    points.reach = (cut ? most : reach) + points.band();
    if (!hfield_points<W>(h, shape, points) && !cut) {
      set_lane(limit.beyond, lane, 1.0);
      return;
    }
    if (cut) set_lane(limit.cut, lane, 1.0);
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

// Filter: edges, nodes and faces of a height field that a convex shape may touch. Necessary conditions, branch-free for
// as many nodes side by side as a pack has lanes, here all of one environment. In the frame of the field.
#pragma once

#include "physics/collision/hfield/hfield_points.h"

STICTION_PHYSICS_BEGIN

// Nodes and the heights of their neighbours in the order of neighbour(); with none, the surface ends in a cliff.
template <class W>
struct HfieldNodes {
  int count, i[kLanes<W>], j[kLanes<W>];
  W x, y, z, around[6];
  W has_cell;  // 1: the shape covers the cell above the node

  STICTION_FN HfieldNodes() : count(0), x(0.0), y(0.0), z(0.0), has_cell(0.0) {
    for (int k = 0; k < 6; ++k) around[k] = W(0.0);
  }
  STICTION_FN void add(const Hfield& h, int column, int row, bool cell) {
    const int lane = count++;
    i[lane] = column, j[lane] = row;
    const Vec3<double> node = h.node(column, row);
    set_lane(x, lane, node.x), set_lane(y, lane, node.y), set_lane(z, lane, node.z);
    set_lane(has_cell, lane, cell ? 1.0 : 0.0);
    const double* const at = h.data + row * h.ncol + column;
    const bool inner = h.has_node(column - 1, row - 1) && h.has_node(column + 1, row + 1);
    for (int k = 0; k < 6; ++k) {
      int di, dj;
      neighbour(k, di, dj);
      const bool there = inner || h.has_node(column + di, row + dj);
      set_lane(around[k], lane,
               there ? h.scale * at[dj * h.ncol + di] : -std::numeric_limits<double>::infinity());
    }
  }
  // Returns the vector to a neighbour.
  STICTION_FN Vec3<W> way(const Hfield& h, int k) const {
    int di, dj;
    neighbour(k, di, dj);
    return {W(di * h.dx), W(dj * h.dy), around[k] - z};
  }
};

// Bits of the parts of a node that may touch the shape: its three edges, the node itself, the faces of its cell.
inline constexpr int kNodeBit = 8, kFaceBit = 16;

// The shape, with its numbers broadcast to all lanes.
template <class W>
struct HfieldFilter {
  GeomType type;
  Vec3<W> centre, axis_x, axis_y, axis_z, size;
  W reach, radius, lowest;
  double sink;  // how deep the shape may be in the ground, beyond reach
  double lift
      [3];  // twice the height by which the mean of two opposite neighbours may exceed a touching node
  bool deep;

  STICTION_FN HfieldFilter(const Hfield& h, const HullShape& b, const HfieldPoints& points,
                           double low, bool is_deep)
      : type(b.type),
        centre(wide(b.centre)),
        axis_x(wide(b.x)),
        axis_y(wide(b.y)),
        axis_z(wide(b.z)),
        size(wide(b.size)),
        reach(points.reach),
        radius(b.radius()),
        lowest(low),
        sink(vmax(shallow(h) - points.reach, 0.0)),
        deep(is_deep) {
    for (int k = 0; k < 3; ++k) {
      int di, dj;
      neighbour(k, di, dj);
      lift[k] = most_lift(h, di, dj, peak_slope(b.type));
    }
  }

  STICTION_FN static Vec3<W> wide(const Vec3<double>& v) { return {W(v.x), W(v.y), W(v.z)}; }
  STICTION_FN bool is_tube() const {
    return type == GeomType::capsule || type == GeomType::cylinder;
  }
  STICTION_FN Vec3<W> local(const Vec3<W>& v) const {
    if (type == GeomType::sphere) return v;
    return {dot(axis_x, v), dot(axis_y, v), dot(axis_z, v)};
  }

  // Whether the segment from p to p + d is farther than `reach` from the shape, bounded by balls, infinite cylinders
  // and slabs; in the frame of the shape.
  STICTION_FN Mask<W> passes_ball(const Vec3<W>& p, const Vec3<W>& d) const {
    const W zero(0.0), range = W(1 + 1e-9) * (size.x + reach), range2 = range * range;
    const W along = -dot(p, d), length2 = norm2(d), p2 = norm2(p);
    const Mask<W> before = along <= zero, beyond = along >= length2;
    return (before && p2 > range2) || (beyond && norm2(p + d) > range2) ||
           (!before && !beyond && p2 * length2 - along * along > range2 * length2);
  }
  STICTION_FN Mask<W> passes(const Vec3<W>& p, const Vec3<W>& d) const {
    if (type == GeomType::sphere) return passes_ball(p, d);
    const auto slab = [](const W& x, const W& dx, const W& room) {
      const W y = x + dx;
      return (x > room && y > room) || (x < -room && y < -room);
    };
    if (is_tube()) {
      const W zero(0.0);
      return slab(p.z, d.z, size.y + radius + reach) ||
             passes_ball({p.x, p.y, zero}, {d.x, d.y, zero});
    }
    return slab(p.x, d.x, size.x + reach) || slab(p.y, d.y, size.y + reach) ||
           slab(p.z, d.z, size.z + reach);
  }

  // Whether the surface is convex at edge k: its opposite corners, on either side of its midpoint as seen from above,
  // are not higher than its ends.
  STICTION_FN static Mask<W> bends(const HfieldNodes<W>& n, int k) {
    return n.around[k + 1] + n.around[(k + 5) % 6] <= n.z + n.around[k];
  }

  // Whether a ball is in front of the edge, and both faces descend away from it; p, d as above.
  STICTION_FN Mask<W> faces_ball(const Hfield& h, const HfieldNodes<W>& n, int k, const Vec3<W>& p,
                                 const Vec3<W>& d) const {
    const auto size1 = [](const Vec3<W>& v) { return vabs(v.x) + vabs(v.y) + vabs(v.z); };
    const W length2 = norm2(d), along = -dot(p, d), doubt = W(2e-5) * (length2 + norm2(p));
    const Vec3<W> out = -(length2 * p + along * d);
    const Mask<W> on_edge = size1(out) <= W(1e-8) * (length2 * (size1(p) + size1(d)));
    const auto rises = [&](const Vec3<W>& way) {
      return dot(out, way) > W(1e-5) * (size1(out) * size1(way));
    };
    return along >= -doubt && along <= length2 + doubt &&
           (on_edge || !(rises(n.way(h, k + 1)) || rises(n.way(h, (k + 5) % 6))));
  }

  // Whether the bounding box of the cell, enlarged sideways and downwards by `sink`, is within reach.
  STICTION_FN Mask<W> near_cell(const Hfield& h, const HfieldNodes<W>& n) const {
    const W top = vmax(vmax(n.z, n.around[1]), vmax(n.around[0], n.around[2]));
    const W low = vmin(vmin(n.z, n.around[1]), vmin(n.around[0], n.around[2]));
    const W half_x = W(0.5 * h.dx + sink), half_y = W(0.5 * h.dy + sink);
    const W half_z = W(0.5) * (top - low + W(sink));
    const Vec3<W> c = {n.x + W(0.5 * h.dx) - centre.x, n.y + W(0.5 * h.dy) - centre.y,
                       top - half_z - centre.z};
    const Vec3<W> half = {half_x, half_y, half_z};
    const auto along = [&](const Vec3<W>& m) { return vabs(dot(m, c)) - dot(abs3(m), half); };
    const Mask<W> high = top >= lowest;
    if (type == GeomType::sphere) {
      const W range = size.x + reach;
      return high && norm2(away_from_box<W>(c, half)) <= range * range;
    }
    if (is_tube()) {
      const W across(0.7071067811865476), range = size.x + reach;
      return high && along(axis_z) <= size.y + radius + reach && along(axis_x) <= range &&
             along(axis_y) <= range && along(across * (axis_x + axis_y)) <= range &&
             along(across * (axis_x - axis_y)) <= range;
    }
    return high && along(axis_x) <= size.x + reach && along(axis_y) <= size.y + reach &&
           along(axis_z) <= size.z + reach;
  }

  // Returns an upper bound of the core's extent from its centre along n.
  STICTION_FN W core_reach(const Vec3<W>& n, const W& n2) const {
    if (type == GeomType::sphere) return W(0.0);
    const Vec3<W> m = local(n);
    if (is_tube()) {
      const W cap = size.y * vabs(m.z);
      if (type == GeomType::capsule) return cap;
      return cap + size.x * vsqrt(vmax(n2 - m.z * m.z, W(0.0)));
    }
    if (type == GeomType::ellipsoid) return norm(scaled(size, m));
    return dot(size, abs3(m));
  }

  // Whether the shape may touch a face with slopes sx and sy, plane through the node: not above it, and a ball over it.
  STICTION_FN Mask<W> near_face(const Hfield& h, int which, const W& sx, const W& sy,
                                const Vec3<W>& node) const {
    const W zero(0.0), one(1.0), n2 = one + (sx * sx + sy * sy), length = vsqrt(n2);
    const Vec3<W> n = {-sx, -sy, one};
    const W height = -dot(n, node);  // of the centre, times length
    const Mask<W> near = height - core_reach(n, n2) <= W(1 + 1e-9) * ((reach + radius) * length);
    if (type != GeomType::sphere) return near;
    const W share = height / n2;
    const W valley = vmax(-share * length, zero) + W(4e-9 * (h.dx + h.dy));
    const W x = share * sx - node.x, y = share * sy - node.y, dx(h.dx), dy(h.dy);
    const W beside = x * dy - y * dx, room = valley * (dx + dy);
    if (which == 0) return near && y >= -valley && x <= dx + valley && beside >= -room;
    return near && x >= -valley && y <= dy + valley && beside <= room;
  }

  STICTION_FN W bits(const Hfield& h, const HfieldNodes<W>& n) const {
    const W zero(0.0);
    const Mask<W> cell = n.has_cell > W(0.5);
    const Mask<W> near = deep ? all_lanes<W>() : near_cell(h, n);
    W found = zero;
    if (!any_lane(near || !cell)) return found;
    const auto take = [&](const Mask<W>& m, int bit) { found = found + select(m, W(bit), zero); };
    const Vec3<W> node = {n.x - centre.x, n.y - centre.y, n.z - centre.z};
    const Vec3<W> p = local(node);
    const Mask<W> high = n.z >= lowest;
    for (int k = 0; k < 3; ++k) {
      Mask<W> may = (high || n.around[k] >= lowest) && bends(n, k);
      if (!any_lane(may)) continue;
      const Vec3<W> d = local(n.way(h, k));
      may = may && !passes(p, d);
      if (type == GeomType::sphere) may = may && faces_ball(h, n, k, p, d);
      take(may, 1 << k);
    }
    Mask<W> peak = high && !passes(p, zero3<W>());
    for (int k = 0; k < 3; ++k)
      peak = peak && n.around[k] + n.around[k + 3] <= W(2.0) * n.z + W(lift[k]);
    take(peak, kNodeBit);
    const Mask<W> with_faces = near && cell;
    if (!any_lane(with_faces)) return found;
    const W to_x(1 / h.dx), to_y(1 / h.dy);
    for (int which = 0; which < 2; ++which) {
      const W& low = n.around[which == 0 ? 0 : 2];
      const W sx = to_x * (which == 0 ? low - n.z : n.around[1] - low);
      const W sy = to_y * (which == 0 ? n.around[1] - low : low - n.z);
      take(with_faces && near_face(h, which, sx, sy, node), kFaceBit << which);
    }
    return found;
  }
};

STICTION_PHYSICS_END

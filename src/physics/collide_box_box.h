// A box against a box: the eight witnesses that src/reference/geometry.h defines. Clipping branches
// with every number, so this is scalar text in double, run lane by lane. For pairs that passed a
// cull.
#pragma once

#include "physics/lane_box.h"

STICTION_PHYSICS_BEGIN

// Unit normal from the first box to the second, and the distance of their support planes along it.
struct LaneDirection {
  Vec3<double> normal;
  double distance;
};

// Takes the direction m of a candidate axis if the boxes are farther apart along it.
STICTION_FN void consider_axis(const LaneBox& a, const LaneBox& b, const Vec3<double>& axis,
                               double tie, LaneDirection& best) {
  const double along = dot(axis, b.centre - a.centre);
  const double s = vabs(along) - a.reach(axis) - b.reach(axis);
  if (s > best.distance + tie) best = {along < 0 ? -axis : axis, s};
}

// The axes of least translation, faces first.
STICTION_FN LaneDirection least_translation(const LaneBox& a, const LaneBox& b, double tie) {
  LaneDirection best{a.axis[0], -std::numeric_limits<double>::infinity()};
  for (int k = 0; k < 3; ++k) consider_axis(a, b, a.axis[k], tie, best);
  for (int k = 0; k < 3; ++k) consider_axis(a, b, b.axis[k], tie, best);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vec3<double> w = cross(a.axis[i], b.axis[j]);
      const double length = norm(w);
      if (length > 0) consider_axis(a, b, (1 / length) * w, tie, best);
    }
  }
  return best;
}

// Where two edges are nearest inside of both, or at an end of the second.
STICTION_FN void consider_edges(const LaneBox& a, const LaneBox& b, int i, int j,
                                Vec3<double>& best) {
  const Vec3<double> e = a.axis[i], f = b.axis[j], w = cross(e, f);
  const double sine2 = norm2(w);
  const double he = a.half[i], hf = b.half[j];
  if (sine2 == 0) return;
  for (int k = 0; k < 16; ++k) {
    const Vec3<double> pe = a.edge(i, k / 4), pf = b.edge(j, k % 4), d = pf - pe;
    const double range = norm(best) + he + hf;
    if (norm2(d) > range * range) continue;
    const double s = dot(cross(d, f), w) / sine2;
    if (!(vabs(s) <= he)) continue;
    const double t = clamp(dot(f, pe + s * e - pf), -hf, hf);
    const Vec3<double> q = pf + t * f;
    const Vec3<double> gap = q - (pe + clamp(dot(e, q - pe), -he, he) * e);
    if (norm2(gap) < norm2(best)) best = gap;
  }
}

// Of unit vectors: below which cosine they count as perpendicular, far above what a tie does to an axis.
inline constexpr double kPerpendicular = 1e-6;

// Nearest points of boxes that are apart, unless they are those of the best axis. Two of them that are inside of
// edges differ by a vector across both; along it the boxes are as far apart as they are, so it is the best axis:
// of all edges only those across that axis are to be looked at.
STICTION_FN LaneDirection nearest_direction(const LaneBox& a, const LaneBox& b,
                                            const LaneDirection& axis, double tie) {
  Vec3<double> best = b.vertex(0) - a.vertex(0);
  for (int i = 0; i < 8; ++i) {
    const Vec3<double> to_b = a.onto(b.vertex(i)), to_a = -b.onto(a.vertex(i));
    if (norm2(to_b) < norm2(best)) best = to_b;
    if (norm2(to_a) < norm2(best)) best = to_a;
  }
  const Vec3<double> touch = axis.distance * axis.normal;
  if (norm(best - touch) <= 0.01 * tie) return axis;
  for (int i = 0; i < 3; ++i) {
    if (vabs(dot(a.axis[i], axis.normal)) > kPerpendicular) continue;
    for (int j = 0; j < 3; ++j)
      if (vabs(dot(b.axis[j], axis.normal)) <= kPerpendicular) consider_edges(a, b, i, j, best);
  }
  if (norm(best - touch) <= 0.01 * tie) return axis;
  const double distance = norm(best);
  return {(1 / distance) * best, distance};
}

// The face of a box that looks along n; its sides go from vertex i to i + 1 and are
// outward·x = offset seen along n.
struct LaneFace {
  Vec3<double> normal, centre, vertex[4], outward[4];
  double offset[4];
};

STICTION_FN LaneFace facing(const LaneBox& box, const Vec3<double>& n) {
  int k = 0;  // the first of the faces as close to n
  for (int i = 1; i < 3; ++i)
    if (vabs(dot(box.axis[i], n)) > vabs(dot(box.axis[k], n)) + 1e-9) k = i;
  const Vec3<double> u = box.axis[(k + 1) % 3], v = box.axis[(k + 2) % 3];
  const double hu = box.half[(k + 1) % 3], hv = box.half[(k + 2) % 3];

  LaneFace f;
  f.normal = dot(box.axis[k], n) < 0 ? -box.axis[k] : box.axis[k];
  f.centre = box.centre + box.half[k] * f.normal;
  const Vec3<double> across[4] = {-v, u, v, -u};
  for (int i = 0; i < 4; ++i) {
    const double x = i == 1 || i == 2 ? hu : -hu, y = i >= 2 ? hv : -hv;
    f.vertex[i] = f.centre + (x * u + y * v);
    const Vec3<double> w = cross(i % 2 == 0 ? u : v, n);
    f.outward[i] = (vcopysign(1.0, dot(w, across[i])) / norm(w)) * w;
    f.offset[i] = dot(f.outward[i], f.vertex[i]);
  }
  return f;
}
// Height of p above the face, along n.
STICTION_FN double height_above(const LaneFace& f, const Vec3<double>& n, const Vec3<double>& p) {
  return dot(f.normal, p - f.centre) / dot(f.normal, n);
}

// A convex polygon; side[i] is the side on which the edge from corner i to the next one lies.
struct LanePolygon {
  static constexpr int kMost = 8;
  int count;
  Vec3<double> corner[kMost];
  int side[kMost];

  STICTION_FN void add(const Vec3<double>& p, int s) {
    if (count < kMost) corner[count] = p, side[count++] = s;
  }
  STICTION_FN int next(int i) const { return i + 1 < count ? i + 1 : 0; }
};

// The part with m·x <= offset (Sutherland and Hodgman); if round-off leaves nothing, the corner
// nearest to it.
STICTION_FN void clip(LanePolygon& polygon, const Vec3<double>& m, double offset, int side) {
  LanePolygon part;
  part.count = 0;
  int nearest = 0;
  for (int i = 0; i < polygon.count; ++i) {
    const Vec3<double> now = polygon.corner[i], next = polygon.corner[polygon.next(i)];
    const double x = dot(m, now) - offset, y = dot(m, next) - offset;
    const bool inside = x <= 0;
    if (x < dot(m, polygon.corner[nearest]) - offset) nearest = i;
    if (inside) part.add(now, polygon.side[i]);
    if (inside != (y <= 0))
      part.add(now + (x / (x - y)) * (next - now), inside ? side : polygon.side[i]);
  }
  if (part.count == 0) part.add(polygon.corner[nearest], polygon.side[nearest]);
  polygon = part;
}

// By how much the first face is taken larger: half the least depth, less its variation; round-off
// at least.
STICTION_FN double blur(const LaneFace& a, const LaneFace& b, const Vec3<double>& n, double tie) {
  double highest = height_above(a, n, b.vertex[0]), lowest = highest;
  for (int i = 0; i < 4; ++i) {
    const double on_a = height_above(a, n, b.vertex[i]);
    const double on_b = -height_above(b, n, a.vertex[i]);
    highest = vmax(highest, vmax(on_a, on_b));
    lowest = vmin(lowest, vmin(on_a, on_b));
  }
  return vmax(highest - lowest < tie ? tie : 0.1 * tie, 0.5 * (lowest - 2 * highest));
}

// The contact of a side: a point of the second face, its height above the first, the distance.
struct LaneSlot {
  Vec3<double> point;
  double height, distance;
};

// A side without an edge: the corner nearest to it, deeper in by as much as it is away.
STICTION_FN LaneSlot idle_slot(const LanePolygon& polygon, const LaneFace& fa,
                               const Vec3<double>& n, const Vec3<double>& outward, double offset,
                               double tie) {
  double away = offset - dot(outward, polygon.corner[0]);
  for (int i = 1; i < polygon.count; ++i)
    away = vmin(away, offset - dot(outward, polygon.corner[i]));
  int corner = 0;  // of two corners as near, the beginning of the edge between them
  for (int i = polygon.count - 1; i >= 0; --i) {
    const int before = i > 0 ? i - 1 : polygon.count - 1;
    if (offset - dot(outward, polygon.corner[i]) <= away + tie &&
        offset - dot(outward, polygon.corner[before]) > away + tie)
      corner = i;
  }
  const Vec3<double> p = polygon.corner[corner];
  const double height = height_above(fa, n, p);
  return {p, height, vmax(away, 0.0) + vmax(height, 0.0)};
}

// The slots of two boxes in the frame of the first; returns the normal. Of boxes that are farther apart than
// `reach`, none is written.
STICTION_FN Vec3<double> box_box_slots(const LaneBox& a, const LaneBox& b, double reach,
                                       bool& beyond, LaneSlot* slots) {
  const auto most = [](double x, double y, double z) { return vmax(x, vmax(y, z)); };
  const double tie =
      1e-12 * (most(a.half[0], a.half[1], a.half[2]) + most(b.half[0], b.half[1], b.half[2]) +
               most(vabs(b.centre.x), vabs(b.centre.y), vabs(b.centre.z)));
  LaneDirection least = least_translation(a, b, tie);
  if (least.distance > tie && least.distance <= reach) least = nearest_direction(a, b, least, tie);
  beyond = least.distance > reach;
  if (beyond) return least.normal;
  const Vec3<double> n = least.normal;

  const LaneFace fa = facing(a, n), fb = facing(b, -n);
  const double grow = blur(fa, fb, n, tie);
  LanePolygon polygon;
  polygon.count = 0;
  for (int i = 0; i < 4; ++i) polygon.add(fb.vertex[i], 4 + i);
  for (int i = 0; i < 4; ++i) clip(polygon, fa.outward[i], fa.offset[i] + grow, i);

  for (int i = 0; i < 4; ++i) {
    slots[i] = idle_slot(polygon, fa, n, fa.outward[i], fa.offset[i] + grow, tie);
    slots[4 + i] = idle_slot(polygon, fa, n, fb.outward[i], fb.offset[i], tie);
  }
  double length[LanePolygon::kMost], deepest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < polygon.count; ++i) {
    const Vec3<double> p = polygon.corner[i];
    const double height = height_above(fa, n, p), distance = vmax(height, least.distance);
    slots[polygon.side[i]] = {p, height, distance};
    length[i] = norm(cross(n, polygon.corner[polygon.next(i)] - p));
    deepest = vmin(deepest, distance);
  }
  // the end of a short edge is as deep as its beginning, if nearly so anyway
  for (int k = 0; k < 2 * polygon.count; ++k) {
    const int i = k % polygon.count;
    const double begin = slots[polygon.side[i]].distance;
    LaneSlot& end = slots[polygon.side[polygon.next(i)]];
    if (length[i] < -deepest && end.height - begin < -0.1 * deepest)
      end.distance = vmin(end.distance, begin);
  }
  // no deeper than the edge is long; where that would shorten all of the deepest, in proportion
  double longest = 0;
  for (int i = 0; i < polygon.count; ++i)
    if (slots[polygon.side[i]].distance <= deepest + tie) longest = vmax(longest, length[i]);
  for (int i = 0; i < polygon.count; ++i) {
    double& distance = slots[polygon.side[i]].distance;
    const double share = length[i] < longest ? length[i] / longest : 1;
    distance = vmax(distance, longest < -deepest ? share * deepest : -length[i]);
  }
  return n;
}

// Witnesses of two boxes with axes rot and half sizes size: points on the first and the second,
// eight each, the unit normal they share (from the first to the second), and signed distances.
// W is Wide<S>; lanes do not see each other. Where not `near`, and beyond the limit, a gap between the centres.
template <class W>
STICTION_FN void collide_box_box(const Vec3<W>& pos1, const Mat3<W>& rot1, const Vec3<W>& size1,
                                 const Vec3<W>& pos2, const Mat3<W>& rot2, const Vec3<W>& size2,
                                 const Mask<W>& near, SearchLimit<W>& limit, Vec3<W>* point1,
                                 Vec3<W>* point2, Vec3<W>& normal, W* distance) {
  // both boxes in the frame of the first
  const Vec3<W> c = transposed(rot1, pos2 - pos1);
  const Mat3<W> r{transposed(rot1, rot2.x), transposed(rot1, rot2.y), transposed(rot1, rot2.z)};
  const W apart = norm(c) + norm(size1);
  normal = unit3<W>(0);
  Vec3<W> middle[8];
  for (int k = 0; k < 8; ++k) middle[k] = zero3<W>(), distance[k] = apart;
  per_lane<W>([&](int lane) {
    if (!get_lane(near, lane)) return;
    const auto at = [&](const Vec3<W>& v) { return get_lane(v, lane); };
    const Vec3<double> s1 = at(size1), s2 = at(size2);
    const LaneBox a{zero3<double>(), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {s1.x, s1.y, s1.z}};
    const LaneBox b{at(c), {at(r.x), at(r.y), at(r.z)}, {s2.x, s2.y, s2.z}};
    LaneSlot slots[8];
    bool beyond;
    const Vec3<double> n = box_box_slots(a, b, get_lane(limit.reach, lane), beyond, slots);
    if (beyond) return set_lane(limit.beyond, lane, 1.0);
    set_lane(normal, lane, n);
    for (int k = 0; k < 8; ++k) {
      set_lane(middle[k], lane, slots[k].point - (0.5 * slots[k].height) * n);
      set_lane(distance[k], lane, slots[k].distance);
    }
  });
  if (!any_lane(near && limit.beyond < W(0.5))) return;
  normal = rot1 * normal;
  for (int k = 0; k < 8; ++k) {
    const Vec3<W> p = pos1 + rot1 * middle[k], half_gap = (W(0.5) * distance[k]) * normal;
    point1[k] = p - half_gap, point2[k] = p + half_gap;
  }
}

STICTION_PHYSICS_END

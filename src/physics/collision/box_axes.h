// Separating axis test of two boxes in the frame of the first: the direction of greatest separation or least overlap,
// defined in src/reference/collision/geometry.h. Lengths that differ by less than `tie` count as equal.
#pragma once

#include "physics/collision/lane_box.h"

STICTION_PHYSICS_BEGIN

// The first box is |x| <= half1.
template <class W>
struct BoxPair {
  Vec3<W> half1, half2, centre2;
  Mat3<W> axes2;

  // Vertices: bit k of the index i is set at the upper end of axis k.
  STICTION_FN Vec3<W> vertex1(int i) const {
    return {i & 1 ? half1.x : -half1.x, i & 2 ? half1.y : -half1.y, i & 4 ? half1.z : -half1.z};
  }
  STICTION_FN Vec3<W> vertex2(int i) const {
    return centre2 + (i & 1 ? half2.x : -half2.x) * axes2.x +
           (i & 2 ? half2.y : -half2.y) * axes2.y + (i & 4 ? half2.z : -half2.z) * axes2.z;
  }
};

// Unit normal from the first box to the second, and the distance between their support planes along that normal.
template <class W>
struct BoxDirection {
  Vec3<W> normal;
  W distance;
};

// Takes the direction of an axis if the boxes are farther apart along it. `along`: offset between the centres; `reach`:
// sum of the half extents of both boxes.
template <class W>
STICTION_FN void consider_axis(const Vec3<W>& axis, const W& along, const W& reach, const W& tie,
                               BoxDirection<W>& best) {
  const W s = vabs(along) - reach;
  const Mask<W> farther = s > best.distance + tie;
  best.normal = select<W>(farther, select<W>(along < W(0.0), -axis, axis), best.normal);
  best.distance = select(farther, s, best.distance);
}

// Returns e_i × v.
template <class W>
STICTION_FN Vec3<W> cross_unit(int i, const Vec3<W>& v) {
  const W zero(0.0);
  if (i == 0) return {zero, -v.z, v.y};
  if (i == 1) return {v.z, zero, -v.x};
  return {-v.y, v.x, zero};
}

// Returns the axis of least translation, testing face normals first.
template <class W>
STICTION_FN BoxDirection<W> least_translation(const BoxPair<W>& p, const W& tie) {
  const W infinity(std::numeric_limits<double>::infinity());
  const Vec3<W> axis[3] = {p.axes2.x, p.axes2.y, p.axes2.z};
  // half extents along m
  const auto reach1 = [&](const Vec3<W>& m) { return dot(p.half1, abs3(m)); };
  const auto reach2 = [&](const Vec3<W>& m) { return dot(p.half2, abs3(transposed(p.axes2, m))); };

  BoxDirection<W> best{unit3<W>(0), -infinity};
  STICTION_ROLLED
  for (int k = 0; k < 3; ++k) {
    const W extent = p.half2.x * vabs(coordinate(axis[0], k)) +
                     p.half2.y * vabs(coordinate(axis[1], k)) +
                     p.half2.z * vabs(coordinate(axis[2], k));
    consider_axis(unit3<W>(k), coordinate(p.centre2, k), coordinate(p.half1, k) + extent, tie,
                  best);
  }
  STICTION_ROLLED
  for (int k = 0; k < 3; ++k)
    consider_axis(axis[k], dot(axis[k], p.centre2), reach1(axis[k]) + coordinate(p.half2, k), tie,
                  best);
  STICTION_ROLLED
  for (int i = 0; i < 3; ++i) {
    STICTION_ROLLED
    for (int j = 0; j < 3; ++j) {
      const Vec3<W> w = cross_unit(i, axis[j]);
      const W length = norm(w);
      const Mask<W> crossed = length > W(0.0);
      const Vec3<W> m = (W(1.0) / divisor<W>(crossed, length)) * w;
      consider_axis(m, dot(m, p.centre2), select(crossed, reach1(m) + reach2(m), infinity), tie,
                    best);
    }
  }
  return best;
}

// Candidate gaps between edges whose nearest points are both interior, or one an end of the second edge.
STICTION_FN void consider_edges(const LaneBox& a, const LaneBox& b, int i, int j,
                                Vec3<double>& best) {
  const Vec3<double> e = a.axis[i], f = b.axis[j], w = cross(e, f);
  const double sine2 = norm2(w);
  const double he = a.half[i], hf = b.half[j];
  if (sine2 == 0) return;
  STICTION_ROLLED
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

// Cosine of unit vectors below which they count as perpendicular, far above the effect of a tie on an axis.
inline constexpr double kPerpendicular = 1e-6;

// Nearest points interior to two edges differ by a vector perpendicular to both; the separation along it equals the
// distance of the boxes, so it is the best axis: only edges perpendicular to that axis need be tested.
template <class W>
STICTION_FN void nearest_edges(const BoxPair<W>& p, const Vec3<W>& normal, const Mask<W>& lanes,
                               Vec3<W>& best) {
  per_lane<W>([&](int lane) {
    if (!get_lane(lanes, lane)) return;
    const auto at = [&](const Vec3<W>& v) { return get_lane(v, lane); };
    const Vec3<double> h1 = at(p.half1), h2 = at(p.half2), n = at(normal);
    const LaneBox a{zero3<double>(), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {h1.x, h1.y, h1.z}};
    const LaneBox b{
        at(p.centre2), {at(p.axes2.x), at(p.axes2.y), at(p.axes2.z)}, {h2.x, h2.y, h2.z}};
    Vec3<double> gap = at(best);
    STICTION_ROLLED
    for (int i = 0; i < 3; ++i) {
      if (vabs(dot(a.axis[i], n)) > kPerpendicular) continue;
      STICTION_ROLLED
      for (int j = 0; j < 3; ++j)
        if (vabs(dot(b.axis[j], n)) <= kPerpendicular) consider_edges(a, b, i, j, gap);
    }
    set_lane(best, lane, gap);
  });
}

// In lanes that are `apart`: the direction of the nearest points, unless those are the ones of the best axis.
template <class W>
STICTION_FN BoxDirection<W> nearest_direction(const BoxPair<W>& p, const BoxDirection<W>& axis,
                                              const Mask<W>& apart, const W& tie) {
  Vec3<W> best = p.vertex2(0) - p.vertex1(0);
  W least = norm2(best);
  const auto consider = [&](const Vec3<W>& d) {
    const W length2 = norm2(d);
    const Mask<W> nearer = length2 < least;
    best = select<W>(nearer, d, best);
    least = select(nearer, length2, least);
  };
  STICTION_ROLLED
  for (int i = 0; i < 8; ++i) {
    consider(away_from_box(p.vertex2(i), p.half1));
    const Vec3<W> q = transposed(p.axes2, p.vertex1(i) - p.centre2);
    consider(-(p.axes2 * away_from_box(q, p.half2)));
  }
  const auto of_axis = [&] { return norm(best - axis.distance * axis.normal) <= W(0.01) * tie; };
  const Mask<W> open = apart && !of_axis();
  if (any_lane(open)) nearest_edges(p, axis.normal, open, best);
  const Mask<W> other = open && !of_axis();
  const W distance = norm(best);
  return {select<W>(other, (W(1.0) / divisor<W>(other, distance)) * best, axis.normal),
          select(other, distance, axis.distance)};
}

STICTION_PHYSICS_END

// The faces with which two boxes face each other, and the polygon of their overlap, seen along the normal.
#pragma once

#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// Tolerance below which cosines count as equal: far above round-off, far below what matters.
inline constexpr double kAsClose = 1e-9;

// The face of a box that faces along n. Its sides run from vertex i to i + 1 and are outward·x = offset, seen along n;
// sides 2 and 3 face opposite to sides 0 and 1.
template <class W>
struct BoxFace {
  Vec3<W> normal, centre, vertex[4], outward[2];
  W slope;  // 1 / normal·n
  W turn;  // 1 if the vertices are ordered counterclockwise about the axis along the normal, -1 if about its opposite
  W offset[4];

  // Returns the height of x above the face along n.
  STICTION_FN W height(const Vec3<W>& x) const { return dot(normal, x - centre) * slope; }
  // Returns how far x is beyond each side when all sides are moved outwards by `grow`.
  STICTION_FN void beyond(const Vec3<W>& x, const W& grow, W* out) const {
    STICTION_ROLLED
    for (int i = 0; i < 2; ++i) {
      const W along = dot(outward[i], x);
      out[i] = along - (offset[i] + grow);
      out[i + 2] = -along - (offset[i + 2] + grow);
    }
  }
};

// Finds the face closest to n, the first one if tied. Not returned by value: nvcc 13.0 gave the copy the memory of an
// array that was still in use (cuda/README.md, "What nvcc got wrong").
template <class W>
STICTION_FN void facing_face(const Vec3<W>& centre, const Mat3<W>& axes, const Vec3<W>& half,
                             const Vec3<W>& n, BoxFace<W>& f) {
  const Vec3<W> m = transposed(axes, n), cosine = abs3(m);
  const Mask<W> second = cosine.y > cosine.x + W(kAsClose);
  const Mask<W> third = cosine.z > select(second, cosine.y, cosine.x) + W(kAsClose);
  const auto of = [&](const W& x, const W& y, const W& z) {
    return select(third, z, select(second, y, x));
  };
  const auto of3 = [&](const Vec3<W>& x, const Vec3<W>& y, const Vec3<W>& z) {
    return select<W>(third, z, select<W>(second, y, x));
  };
  const Vec3<W> axis = of3(axes.x, axes.y, axes.z), u = of3(axes.y, axes.z, axes.x),
                v = of3(axes.z, axes.x, axes.y);
  const Vec3<W> hu = of(half.y, half.z, half.x) * u, hv = of(half.z, half.x, half.y) * v;
  const W along = of(m.x, m.y, m.z);

  f.turn = select(along < W(0.0), W(-1.0), W(1.0));
  f.normal = f.turn * axis;
  f.centre = centre + of(half.x, half.y, half.z) * f.normal;
  f.slope = W(1.0) / vabs(along);
  f.vertex[0] = f.centre - (hu + hv), f.vertex[1] = f.centre + (hu - hv);
  f.vertex[2] = f.centre + (hu + hv), f.vertex[3] = f.centre - (hu - hv);
  // (u × n)·(-v) = (v × n)·u = axis·n
  const Vec3<W> side[2] = {cross(u, n), cross(v, n)};
  STICTION_ROLLED
  for (int i = 0; i < 2; ++i) {
    f.outward[i] = (f.turn / norm(side[i])) * side[i];
    f.offset[i] = dot(f.outward[i], f.vertex[i]);
    f.offset[i + 2] = -dot(f.outward[i], f.vertex[i + 2]);
  }
}

// Returns by how much the first face is enlarged: half the least depth minus its variation; at least round-off.
template <class W>
STICTION_FN W blur(const BoxFace<W>& first, const BoxFace<W>& second, const W& tie) {
  W highest = first.height(second.vertex[0]), lowest = highest;
  STICTION_ROLLED
  for (int i = 0; i < 4; ++i) {
    const W on_first = first.height(second.vertex[i]), on_second = second.height(first.vertex[i]);
    highest = vmax(highest, vmax(on_first, on_second));
    lowest = vmin(lowest, vmin(on_first, on_second));
  }
  const W least = select(highest - lowest < tie, tie, W(0.1) * tie);
  return vmax(least, W(0.5) * (lowest - W(2.0) * highest));
}

// An edge of the polygon: the part of a side of one face over the other face, in the second face's orientation.
template <class W>
struct OverlapEdge {
  Vec3<W> begin, end;
  Mask<W> used;
};

// from + t along, first <= t <= last: the part of a side, 0 <= t <= 1, over the other face (Liang–Barsky clipping).
template <class W>
struct Chord {
  Vec3<W> from, along;
  W first, last;
  W crossing[4];                  // parameter where the line crosses the other face's sides, ...
  Mask<W> inward[4], outward[4];  // ... and whether it crosses to their inner or outer side

  // Clips at side j: x, y are how far t = 0, t = 1 are beyond it. Of two collinear sides only that of the second face
  // counts as inside the other face.
  STICTION_FN void cut(int j, const W& x, const W& y, bool of_second) {
    const W zero(0.0), fall = x - y;
    inward[j] = fall > zero, outward[j] = fall < zero;
    crossing[j] = x / divisor<W>(inward[j] || outward[j], fall);
    first = select(inward[j], vmax(first, crossing[j]), first);
    last = select(outward[j], vmin(last, crossing[j]),
                  select(!inward[j] && (of_second ? x > zero : x >= zero), W(-1.0), last));
  }
  STICTION_FN Vec3<W> at(const W& t) const { return from + clamp(t, W(0.0), W(1.0)) * along; }
};

// Edges 0 to 3 lie on the sides of the first face, moved outwards by `grow`, 4 to 7 on those of the second. The polygon
// is in the plane of the second face.
template <class W>
STICTION_FN void overlap(const BoxFace<W>& first, const BoxFace<W>& second, const Vec3<W>& n,
                         const W& grow, OverlapEdge<W>* edge) {
  const W zero(0.0), one(1.0);
  // moving two sides outwards by g moves their common corner by g (m + m') / (1 + m·m')
  const Vec3<W>&m0 = first.outward[0], &m1 = first.outward[1];
  const W skew = dot(m0, m1);
  const Vec3<W> ahead = (grow / (one + skew)) * (m0 + m1),
                aside = (grow / (one - skew)) * (m0 - m1);
  Vec3<W> corner[4] = {first.vertex[0] + aside, first.vertex[1] + ahead, first.vertex[2] - aside,
                       first.vertex[3] - ahead};
  W over_second[4][4], over_first[4][4];  // how far corner i is beyond side j
  STICTION_ROLLED
  for (int i = 0; i < 4; ++i) {
    corner[i] = corner[i] + second.height(corner[i]) * n;
    second.beyond(corner[i], zero, over_second[i]);
    first.beyond(second.vertex[i], grow, over_first[i]);
  }
  const Mask<W> same_turn = first.turn != second.turn;  // the faces face each other
  Chord<W> chord[8];
  STICTION_ROLLED
  for (int i = 0; i < 4; ++i) {
    const int next = (i + 1) % 4;
    Chord<W>&a = chord[i], &b = chord[4 + i];
    a.from = corner[i], a.along = corner[next] - corner[i];
    b.from = second.vertex[i], b.along = second.vertex[next] - second.vertex[i];
    a.first = b.first = zero, a.last = b.last = one;
    STICTION_ROLLED
    for (int j = 0; j < 4; ++j) {
      a.cut(j, over_second[i][j], over_second[next][j], false);
      b.cut(j, over_first[i][j], over_first[next][j], true);
    }
    edge[i].used = a.first <= a.last, edge[4 + i].used = b.first <= b.last;
  }
  Mask<W> none = all_lanes<W>();
  STICTION_ROLLED
  for (int k = 0; k < 8; ++k) none = none && !edge[k].used;
  if (any_lane(none)) {  // round-off left no edge: take the side that misses by least
    W least(std::numeric_limits<double>::infinity());
    const auto missing = [&](int k) {
      return (chord[k].first - chord[k].last) * norm(chord[k].along);
    };
    STICTION_ROLLED
    for (int k = 0; k < 8; ++k) least = vmin(least, missing(k));
    STICTION_ROLLED
    for (int k = 0; k < 8; ++k) {
      edge[k].used = edge[k].used || (none && missing(k) <= least);
      none = none && !edge[k].used;
    }
  }
  STICTION_ROLLED
  for (int k = 4; k < 8; ++k)
    edge[k].begin = chord[k].at(chord[k].first), edge[k].end = chord[k].at(chord[k].last);
  STICTION_ROLLED
  for (int k = 0; k < 4; ++k) {
    const Chord<W>& c = chord[k];
    Vec3<W> low = c.at(c.first), high = c.at(c.last);
    // corners where sides cross use the points of the second face's edges: for nearly parallel sides two would differ
    STICTION_ROLLED
    for (int j = 0; j < 4; ++j) {
      const OverlapEdge<W>& other = edge[4 + j];
      const Mask<W> enters = other.used && c.inward[j] && c.crossing[j] == c.first;
      const Mask<W> leaves = other.used && c.outward[j] && c.crossing[j] == c.last;
      low = select<W>(enters, select<W>(same_turn, other.end, other.begin), low);
      high = select<W>(leaves, select<W>(same_turn, other.begin, other.end), high);
    }
    edge[k].begin = select<W>(same_turn, low, high), edge[k].end = select<W>(same_turn, high, low);
  }
}

STICTION_PHYSICS_END

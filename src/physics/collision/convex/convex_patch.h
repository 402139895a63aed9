// The part of a hull near a plane: up to four of its vertices, in slots.
// src/reference/collision/geometry.h, "Mesh against a plane". Scalar code in double.
#pragma once

#include "physics/collision/convex/convex_region.h"

STICTION_PHYSICS_BEGIN

// Points that are closer than this fraction of the extent count as one.
inline constexpr double kSame = 1e-6;
// How much higher than a lower vertex another may be, per unit of length by which it is farther out; the second is for
// slots that the first leaves free.
inline constexpr double kPatchSlope = 0.02, kTiltedSlope = 0.5;
// A point lies between two vertices that are about equally far: their distances differ by less than this fraction of
// kPatchSlope times their edge. Less than the cosine of 82.5 degrees, so that flat polygons keep their corners.
inline constexpr double kBetween = 0.1;
// A direction beyond an edge leans along it by this much: of two equally far vertices one is chosen despite round-off.
inline constexpr double kAslant = 0.02;
// The direction d_0 is at this angle from the x axis: 52.5 degrees.
inline constexpr double kSlotCosine = 0.6087614290087207, kSlotSine = 0.7933533402912352;

// The four directions d_k = u, v, -u, -v, and the coordinate along d_k from the coordinates a, b along u and v.
struct FourWays {
  Vec3<double> u, v;
  STICTION_FN static double along(int k, double a, double b) {
    return k == 0 ? a : k == 1 ? b : k == 2 ? -a : -b;
  }
  STICTION_FN Vec3<double> way(int k) const { return k == 0 ? u : k == 1 ? v : k == 2 ? -u : -v; }
};
STICTION_FN FourWays four_ways(const Vec3<double>& n, const Vec3<double>& x,
                               const Vec3<double>& y) {
  const double cosine = kSlotCosine, sine = kSlotSine;
  const Vec3<double> u = cosine * x + sine * y, v = cosine * y - sine * x;
  return {u - dot(n, u) * n, v - dot(n, v) * n};
}

// A point that may get a slot: of a hull a vertex and the point that replaces it, of an overlap a point with its gap.
struct SlotPoint {
  Vec3<double> p;
  int vertex = 0;
  Vec3<double> between = {0, 0, 0};
  double gap = 0;
};

// Up to four different points, each in a slot, and their slots in order around the normal.
struct FourPoints {
  SlotPoint at[4];
  int ring[4];
  int count = 0;
  bool has[4] = {false, false, false, false};

  STICTION_FN const SlotPoint& around(int i) const { return at[ring[i < count ? i : i - count]]; }
  STICTION_FN bool knows(const Vec3<double>& p, double same) const {
    bool known = false;
    for (int i = 0; i < count; ++i) known = known || norm(around(i).p - p) <= same;
    return known;
  }
  // Puts a point into a slot, and the slot into the ring at `place`.
  STICTION_FN void put(int slot, const SlotPoint& point, int place) {
    for (int i = count; i > place; --i) ring[i] = ring[i - 1];
    ring[place] = slot, ++count;
    at[slot] = point, has[slot] = true;
  }
  // Puts a point found along direction k. A point found along several belongs to the one along which it is farthest: a
  // face's corner keeps its slot when others are too high to be found. Keeps the replacing point that moves it least.
  STICTION_FN void put_along(int k, const SlotPoint& point, const FourWays& ways, double same) {
    for (int i = 0; i < count; ++i) {
      const int j = ring[i];
      if (norm(at[j].p - point.p) > same) continue;
      const Vec3<double> before = at[j].between;
      const bool less = norm(point.between - point.p) < norm(before - at[j].p);
      const bool farther = dot(ways.way(k), point.p) > dot(ways.way(j), point.p);
      if (farther) ring[i] = k, has[j] = false, at[k] = point, has[k] = true;
      at[farther ? k : j].between = less ? point.between : before;
      return;
    }
    put(k, point, count);
  }
  // Returns whether p is in the polygon of the points, or on its border, seen along `up`.
  STICTION_FN bool cover(const Vec3<double>& p, const Vec3<double>& up, double same) const {
    for (int i = 0; i < count; ++i) {
      const Vec3<double> from = around(i).p, side = around(i + 1).p - from;
      const Vec3<double> out = cross(side, up), way = p - from;
      if (dot(out, way) > same * norm(out)) return false;
      if (count == 2 && dot(side, way) < 0) return false;
    }
    return count > 1;
  }
  STICTION_FN int free_slot() const { return !has[0] ? 0 : !has[1] ? 1 : !has[2] ? 2 : 3; }
};

// Gives free slots to the points that are farthest beyond the edges of the polygon of the points, until none is beyond;
// `up`: normal about which they are counterclockwise. find(out, p, q, point) sets the point farthest along `out`, a
// unit vector away from the edge from p to q, and returns by how much it is farther than both.
template <class Find>
STICTION_FN void fill_beyond_edges(FourPoints& points, const Vec3<double>& up, double same,
                                   const Find& find) {
  while (points.count == 2 || points.count == 3) {
    SlotPoint best{};
    double most = same;
    int place = 0;
    for (int i = 0; i < points.count; ++i) {
      const Vec3<double> p = points.around(i).p, q = points.around(i + 1).p;
      const Vec3<double> side = q - p, flat = side - dot(up, side) * up;
      const double length = norm(flat), aslant = kAslant;
      if (!(length > same)) continue;
      const Vec3<double> along = (1 / length) * flat;
      SlotPoint found;
      const double beyond = find(cross(along, up) + aslant * along, p, q, found);
      if (beyond > most && !points.knows(found.p, same)) best = found, most = beyond, place = i + 1;
    }
    if (place == 0) return;
    points.put(points.free_slot(), best, place);
  }
}

// The axes that define the slots of a hull seen along m: the two that follow the axis of its frame that is closest to
// m, so that x × y points along m.
struct SlotAxes {
  Vec3<double> x, y;
};
STICTION_FN SlotAxes slot_axes(const Vec3<double>& m) {
  const Vec3<double> size = abs3(m);
  int k = size.y > size.x + 1e-9 ? 1 : 0;
  if (size.z > (k == 0 ? size.x : size.y) + 1e-9) k = 2;
  const Vec3<double> y = unit3<double>((k + 2) % 3);
  return {unit3<double>((k + 1) % 3), coordinate(m, k) < 0 ? -y : y};
}

// Returns the vertex farthest along d, a unit vector plus a part across it, and the point that replaces it: the mean of
// the vertex and its neighbours, with weights that vanish for those farther behind, so the point is continuous in d.
STICTION_FN SlotPoint farthest_point(const HullRef& hull, const Vec3<double>& d) {
  const int v = farthest_vertex(hull, d);
  const Vec3<double> top = hull.vertex(v);
  const double room = kBetween * kPatchSlope;
  Vec3<double> sum = top;
  double weights = 1;
  hull.beside(v, [&](int i) {
    const Vec3<double> p = hull.vertex(i), back = top - p;
    const double weight = 1 - dot(d, back) / (room * norm(back));
    if (weight > 0) sum = sum + weight * p, weights += weight;
  });
  return {top, v, weights > 1 ? (1 / weights) * sum : top, 0};
}

// Finds the points farthest along m + kPatchSlope d, m a unit vector in the frame of the mesh: d is each of the four
// directions, then away from the edges between the vertices found. `between`: the points of all four directions.
STICTION_OUTLINE inline FourPoints hull_patch(const HullRef& hull, const Vec3<double>& m,
                                              const FourWays& ways, double extent,
                                              Vec3<double>* between) {
  const double share_of_one = kSame, same = share_of_one * extent, slope = kPatchSlope;
  FourPoints points;
  for (int k = 0; k < 4; ++k) {
    const SlotPoint found = farthest_point(hull, m + slope * ways.way(k));
    between[k] = found.between;
    points.put_along(k, found, ways, same);
  }
  fill_beyond_edges(
      points, m, same,
      [&](const Vec3<double>& out, const Vec3<double>& p, const Vec3<double>& q, SlotPoint& found) {
        const Vec3<double> d = m + slope * out;
        found = farthest_point(hull, d);
        return (dot(d, found.p) - vmax(dot(d, p), dot(d, q))) / slope;
      });
  return points;
}

STICTION_PHYSICS_END

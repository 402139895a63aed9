// The candidate points of a shape on a height field, and the choice of those that get a slot.
#pragma once

#include "physics/collision/convex/convex_points.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kHfieldPoints = 12;  // greatest number of slots
inline constexpr double kBand = 0.05;     // times the extent: points as near compete by position
inline constexpr double kSlope = 20;
inline constexpr double kSteep = 250, kLean = 50;  // as kSlope, for the choice by direction
// Allowed rise of the surface from a touching node, along the normal of a flat side: a side rocking that much keeps it.
inline constexpr double kPeakSlope = 0.02;
STICTION_FN double peak_slope(GeomType type) {
  const double slope = kPeakSlope;
  return type == GeomType::box || type == GeomType::cylinder || type == GeomType::mesh ? slope : 0;
}
inline constexpr int kHfieldGathered = 24;  // candidates for the kHfieldMore slots

struct HfieldPoint {
  LaneContact at;
  Vec3<double> normal;
  // `node`: of a node and a flat side; `spare`: another point is lower, so nothing is lost without this one.
  bool node = false, spare = false;
};

// The cells whose faces may touch a corner of a box.
struct CornerCells {
  int i0, i1, j0, j1;
  STICTION_FN bool has(int i, int j) const { return i >= i0 && i <= i1 && j >= j0 && j <= j1; }
};

// The candidate points of one pair.
struct HfieldPoints {
  double extent, radius;  // of the shape, of the ball around its core
  double reach;           // distance up to which points are gathered
  int own;                // slots of the shape's own points
  bool placed;            // corner[]
  CornerCells corner[8];  // of a box
  HfieldPoint slot[kHfieldPoints];
  bool filled[kHfieldPoints];
  HfieldPoint more[kHfieldGathered];
  int count;
  bool overflow;

  STICTION_FN double band() const { return kBand * extent; }
  // Returns the distance from the face to a point of the shape, or to the centre of the ball around it.
  STICTION_FN double away(const HfieldPoint& p) const { return p.at.distance + radius; }
  STICTION_FN bool same(const HfieldPoint& a, const HfieldPoint& b) const {
    return norm(a.normal - b.normal) <= 1e-5 && norm(a.at.point_a - b.at.point_a) <= 1e-6 * extent;
  }
  // Returns whether `end`, the end of a ridge, repeats the point of a node along nearly the same normal.
  STICTION_FN bool repeats(const HfieldPoint& end, const HfieldPoint& p) const {
    return !end.node && p.node && norm(end.normal - p.normal) <= 2 * kPeakSlope &&
           norm(end.at.point_a - p.at.point_a) <= 1e-6 * extent;
  }
  STICTION_FN void drop_ends(const HfieldPoint& node) {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      if (repeats(more[i], node)) continue;
      if (kept != i) more[kept] = more[i];
      ++kept;
    }
    count = kept;
  }
  STICTION_FN void lose(const HfieldPoint& p) {
    overflow = overflow || (p.at.distance < 0 && !p.spare);
  }
  STICTION_FN void add(const HfieldPoint& p) {
    int farthest = 0;
    for (int i = 0; i < count; ++i)
      if (repeats(p, more[i])) return;
    if (p.node) drop_ends(p);
    for (int i = 0; i < count; ++i) {
      if (same(more[i], p)) {
        const bool spare = more[i].spare && p.spare;
        if (p.at.distance < more[i].at.distance) more[i] = p;
        more[i].spare = spare;
        return;
      }
      if (more[i].at.distance > more[farthest].at.distance) farthest = i;
    }
    if (count < kHfieldGathered) {
      more[count++] = p;
      return;
    }
    const bool nearer = p.at.distance < more[farthest].at.distance;
    lose(nearer ? more[farthest] : p);
    if (nearer) more[farthest] = p;
  }
  // Adds the shape's own point k, which belongs to the nearest of the faces that it is over or under.
  STICTION_FN void add_own(int k, const HfieldPoint& p) {
    if (!filled[k]) {
      slot[k] = p, filled[k] = true;
      return;
    }
    const bool nearer = vabs(away(p)) < vabs(away(slot[k]));
    if (!same(slot[k], p)) add(nearer ? slot[k] : p);
    if (nearer) slot[k] = p;
  }
};

// Drops points that repeat one of the shape's own.
STICTION_FN void drop_known(HfieldPoints& points) {
  int kept = 0;
  for (int i = 0; i < points.count; ++i) {
    const HfieldPoint p = points.more[i];
    bool known = false;
    for (int k = 0; k < points.own; ++k)
      known = known || (points.filled[k] && points.same(points.slot[k], p));
    if (!known) points.more[kept++] = p;
  }
  points.count = kept;
}

// Allocates free slots: first those without a point of the shape, then those whose own point is high.
struct FreeSlots {
  HfieldPoints& points;
  double high;  // m, above this distance a point gives up its slot
  int next = 0;

  STICTION_FN bool is_free(int slot) const {
    return !points.filled[slot] || (slot < points.own && points.slot[slot].at.distance > high);
  }
  STICTION_FN bool take(int slot, const HfieldPoint& p) {
    if (!is_free(slot)) return false;
    points.slot[slot] = p, points.filled[slot] = true;
    return true;
  }
  STICTION_FN int count() const {
    int n = 0;
    for (int slot = 0; slot < points.own + kHfieldMore; ++slot) n += is_free(slot) ? 1 : 0;
    return n;
  }
  // Returns false if no slot is free. A point that is itself high gets no slot of the second kind.
  STICTION_FN bool put(const HfieldPoint& p) {
    const int slots = kHfieldMore + (p.at.distance > high ? 0 : points.own);
    for (; next < slots; ++next) {
      const int slot = next < kHfieldMore ? points.own + next : next - kHfieldMore;
      if (take(slot, p)) return true;
    }
    return false;
  }
};

// Returns the nearest point not chosen yet; -1: none is left.
STICTION_FN int nearest_left(const HfieldPoints& points, const bool* chosen) {
  int best = -1;
  for (int i = 0; i < points.count; ++i)
    if (!chosen[i] && (best < 0 || points.more[i].at.distance < points.more[best].at.distance))
      best = i;
  return best;
}

// Round shapes: chooses kHfieldMore points: the nearest, then repeatedly the one farthest from those chosen minus
// kSlope times its height; points higher than the band come last, nearest first. Then the nearest of the rest.
STICTION_FN void choose_by_distance(HfieldPoints& points, FreeSlots& free, bool* chosen) {
  double apart[kHfieldGathered];
  for (int i = 0; i < points.count; ++i) apart[i] = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kHfieldMore; ++k) {
    int best = -1;
    double most = 0;
    for (int i = 0; i < points.count; ++i) {
      if (chosen[i]) continue;
      const double distance = points.more[i].at.distance;
      const double score = k == 0 ? -distance
                           : distance > free.high
                               ? -distance
                               : apart[i] - kSlope * (distance - free.high) + 2 * points.extent;
      if (best < 0 || score > most) best = i, most = score;
    }
    if (best < 0) return;
    chosen[best] = true;
    const HfieldPoint& p = points.more[best];
    free.put(p);
    for (int i = 0; i < points.count; ++i) {
      const HfieldPoint& q = points.more[i];
      apart[i] = vmin(
          apart[i], norm(q.at.point_a - p.at.point_a) + points.extent * norm(q.normal - p.normal));
    }
  }
}

// Flat sides: chooses the points farthest along four directions of the shape, minus kSteep times their height: these
// hold it at rest whatever small motions it makes. Then the same between these directions, and with kLean for points
// that the side would touch if it leaned by 1/kLean.
STICTION_FN void choose_by_direction(HfieldPoints& points, const HullShape& b, FreeSlots& free,
                                     bool* chosen) {
  const double steep = kSteep, lean = kLean, half = 0.7071067811865476;
  const SlotAxes axes = slot_axes(b.local(-unit3<double>(2)));
  const Vec3<double> x = b.global(axes.x), y = b.global(axes.y);
  const FourWays ways = four_ways(unit3<double>(2), x, y),
                 between = {half * (ways.u + ways.v), half * (ways.v - ways.u)};
  for (int k = 0; k < 12; ++k) {
    const Vec3<double> way = (k / 4 == 1 ? between : ways).way(k % 4);
    const double slope = k < 8 ? steep : lean;
    int best = -1;
    double most = 0;
    for (int i = 0; i < points.count; ++i) {
      const LaneContact& at = points.more[i].at;
      const double score = dot(way, at.point_a - b.centre) - slope * at.distance;
      if (!(at.distance > free.high) && (best < 0 || score > most)) best = i, most = score;
    }
    if (best < 0) return;
    if (chosen[best]) continue;
    chosen[best] = true;
    if (k >= 4 || !free.take(points.own + k, points.more[best])) free.put(points.more[best]);
  }
}

STICTION_FN void choose_points(HfieldPoints& points, const HullShape& b) {
  bool chosen[kHfieldGathered];
  for (int i = 0; i < points.count; ++i) chosen[i] = false;
  const int nearest = nearest_left(points, chosen);
  if (nearest < 0) return;
  FreeSlots free{points, vmax(points.more[nearest].at.distance, 0.0) + points.band()};
  const bool flat = peak_slope(b.type) > 0;
  if (flat)
    choose_by_direction(points, b, free, chosen);
  else
    choose_by_distance(points, free, chosen);
  // the nearest of the rest; overlaps of a flat side all or none, so that small motions change nothing
  int overlapping = 0;
  double lowest = std::numeric_limits<double>::infinity();  // of the chosen points
  for (int i = 0; i < points.count; ++i) {
    const double distance = points.more[i].at.distance;
    if (chosen[i]) lowest = vmin(lowest, distance);
    if (!chosen[i] && distance < 0) ++overlapping;
  }
  const bool all_fit = overlapping <= free.count();
  for (int i = nearest_left(points, chosen); i >= 0; i = nearest_left(points, chosen)) {
    const HfieldPoint& p = points.more[i];
    chosen[i] = true;
    const bool wanted = !flat || (p.at.distance < 0 ? all_fit : p.at.distance > free.high);
    // on a flat side the farthest points support the others, except for a point lower than all of them
    if (!(wanted && free.put(p)) && (!flat || p.at.distance < lowest - 1e-6 * points.extent))
      points.lose(p);
  }
}

STICTION_PHYSICS_END

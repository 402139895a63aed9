// The points of a shape on a height field while they are gathered, and the choice of those that get a slot.
#pragma once

#include "physics/collision/convex/convex_points.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kHfieldPoints = 12;  // most slots
inline constexpr double kBand = 0.05;     // of the extent: as near, points compete by place
inline constexpr double kSlope = 20;
inline constexpr double kSteep = 250, kLean = 50;  // the same of directions
// Of the surface up from a node that touches, along the normal of a flat side. A side that rocks by as much keeps its nodes.
inline constexpr double kPeakSlope = 0.02;
STICTION_FN double peak_slope(GeomType type) {
  const double slope = kPeakSlope;
  return type == GeomType::box || type == GeomType::cylinder || type == GeomType::mesh ? slope : 0;
}
inline constexpr int kHfieldGathered = 24;  // points that compete for the slots of kHfieldMore

struct HfieldPoint {
  LaneContact at;
  Vec3<double> normal;
  // Of a node and a flat side; `spare`: another one is lower, so nothing is lost without it.
  bool node = false, spare = false;
};

// The cells whose faces may be near a corner of a box.
struct CornerCells {
  int i0, i1, j0, j1;
  STICTION_FN bool has(int i, int j) const { return i >= i0 && i <= i1 && j >= j0 && j <= j1; }
};

// The points of one pair while they are gathered.
struct HfieldPoints {
  double extent, radius;  // of the shape, of the ball around its core
  double reach;           // points as far are gathered
  int own;                // slots of the shape's own points
  bool placed;            // corner[]
  CornerCells corner[8];  // of a box
  HfieldPoint slot[kHfieldPoints];
  bool filled[kHfieldPoints];
  HfieldPoint more[kHfieldGathered];
  int count;
  bool overflow;

  STICTION_FN double band() const { return kBand * extent; }
  // Of a point of the shape, or of the centre of the ball around it, from the face.
  STICTION_FN double away(const HfieldPoint& p) const { return p.at.distance + radius; }
  STICTION_FN bool same(const HfieldPoint& a, const HfieldPoint& b) const {
    return norm(a.normal - b.normal) <= 1e-5 && norm(a.at.point_a - b.at.point_a) <= 1e-6 * extent;
  }
  // The end of a ridge at a node that touches by itself, along much the same normal.
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
  // The shape's own point k belongs to the nearest of the faces that it is over or under.
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

// Drops what the shape's own points say already.
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

// The slots that are free, in their order: those of no point of the shape, then those of its own that are high.
struct FreeSlots {
  HfieldPoints& points;
  double high;  // m, above it a point gives its slot away
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
  // false: there is none. What is high itself gets none of those.
  STICTION_FN bool put(const HfieldPoint& p) {
    const int slots = kHfieldMore + (p.at.distance > high ? 0 : points.own);
    for (; next < slots; ++next) {
      const int slot = next < kHfieldMore ? points.own + next : next - kHfieldMore;
      if (take(slot, p)) return true;
    }
    return false;
  }
};

// The nearest of what is not chosen; -1: all is.
STICTION_FN int nearest_left(const HfieldPoints& points, const bool* chosen) {
  int best = -1;
  for (int i = 0; i < points.count; ++i)
    if (!chosen[i] && (best < 0 || points.more[i].at.distance < points.more[best].at.distance))
      best = i;
  return best;
}

// Of what touches a round shape kHfieldMore: the nearest, then always the one that is farthest from those chosen, less kSlope
// times what it is higher; of those higher than the band the nearest, after all others. Then the nearest of the rest.
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

// Of what touches a flat side the points that are farthest along four directions of the shape, less kSteep times what they
// are higher, whatever small motions it makes: they hold it at rest. Then the same between these directions, and those it
// would touch if it leaned by 1/kLean.
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
  // the nearest of the rest; what overlaps a flat side all or none, so that small motions change nothing
  int overlapping = 0;
  double lowest = std::numeric_limits<double>::infinity();  // of those that are chosen
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
    // of a flat side those that are farthest hold the others, but for what is lower than all of them
    if (!(wanted && free.put(p)) && (!flat || p.at.distance < lowest - 1e-6 * points.extent))
      points.lose(p);
  }
}

STICTION_PHYSICS_END

// The points of a shape on a height field while they are gathered, and the choice of those that get a slot.
#pragma once

#include "physics/collision/convex/convex_points.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kHfieldPoints = 12;  // most slots
inline constexpr double kBand = 0.05;     // of the extent: as near, points compete by place
inline constexpr double kSlope = 20;
inline constexpr int kHfieldGathered = 16;  // points that compete for the slots of kHfieldMore

struct HfieldPoint {
  LaneContact at;
  Vec3<double> normal;
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
  STICTION_FN void add(const HfieldPoint& p) {
    int farthest = 0;
    for (int i = 0; i < count; ++i) {
      if (same(more[i], p)) {
        if (p.at.distance < more[i].at.distance) more[i] = p;
        return;
      }
      if (more[i].at.distance > more[farthest].at.distance) farthest = i;
    }
    if (count < kHfieldGathered) {
      more[count++] = p;
      return;
    }
    const bool nearer = p.at.distance < more[farthest].at.distance;
    overflow = overflow || (nearer ? more[farthest] : p).at.distance < 0;
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

// Of what is left, kHfieldMore: the nearest, then always the one that is farthest from those chosen, less kSlope times
// what it is higher; of those higher than the band the nearest, after all others.
STICTION_FN void choose_points(HfieldPoints& points) {
  bool chosen[kHfieldGathered];
  double apart[kHfieldGathered];
  for (int i = 0; i < points.count; ++i)
    chosen[i] = false, apart[i] = std::numeric_limits<double>::infinity();
  double least = 0;
  for (int k = 0; k < kHfieldMore; ++k) {
    int best = -1;
    double most = 0;
    for (int i = 0; i < points.count; ++i) {
      if (chosen[i]) continue;
      const double distance = points.more[i].at.distance, higher = distance - vmax(least, 0.0);
      const double score = k == 0 ? -distance
                           : higher > points.band()
                               ? -higher
                               : apart[i] - kSlope * higher + 2 * points.extent;
      if (best < 0 || score > most) best = i, most = score;
    }
    if (best < 0) return;
    chosen[best] = true;
    const HfieldPoint& p = points.more[best];
    if (k == 0) least = p.at.distance;
    points.slot[points.own + k] = p, points.filled[points.own + k] = true;
    for (int i = 0; i < points.count; ++i) {
      const HfieldPoint& q = points.more[i];
      apart[i] = vmin(
          apart[i], norm(q.at.point_a - p.at.point_a) + points.extent * norm(q.normal - p.normal));
    }
  }
  for (int i = 0; i < points.count; ++i)
    points.overflow = points.overflow || (!chosen[i] && points.more[i].at.distance < 0);
}

STICTION_PHYSICS_END

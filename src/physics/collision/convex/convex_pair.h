// Two convex cores as one set, D = {b - a}, their difference, and what searches in it return.
#pragma once

#include "physics/collision/convex/convex_support.h"

STICTION_PHYSICS_BEGIN

// A unit normal from a to b, the distance of the support planes along it, the points that support them.
struct ConvexDistance {
  Vec3<double> normal;
  double distance;
  Vec3<double> point_a, point_b;
};

// w = b - a of D, and where it comes from.
struct Difference {
  Vec3<double> w, a, b;
};

template <class L>  // LaneShape or HullShape
struct ConvexPair {
  const L &a, &b;
  Vec3<double> between;  // from the centre of a to that of b
  double extent;         // of D

  // The point of D that is farthest along m; a about a's centre, b about b's.
  STICTION_RARE Difference support(const Vec3<double>& m) const {
    const Vec3<double> on_a = core_support(a, -m), on_b = between + core_support(b, m);
    return {on_b - on_a, on_a, on_b};
  }
};

inline constexpr int kMostSupports = 64;  // of a search; few need more than 20
inline constexpr int kMostRays = 48;
inline constexpr int kMostPulls = 8;
inline constexpr double kPull = 1e-2;      // of the extent
inline constexpr double kSettled = 1e-13;  // of the extent: what a further support may still change
inline constexpr double kTouching =
    1e-10;  // of the extent: cores as near as that count as overlapping
inline constexpr double kClose =
    1e-7;  // of the extent: a normal that loses no more has the points of the best one

STICTION_PHYSICS_END

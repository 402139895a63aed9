// Two convex cores as one set, their difference D = {b - a}, and the results of searches in it.
#pragma once

#include "physics/collision/convex/convex_support.h"

STICTION_PHYSICS_BEGIN

// A unit normal from a to b, the distance of the support planes along it, and the points that support them.
struct ConvexDistance {
  Vec3<double> normal;
  double distance;
  Vec3<double> point_a, point_b;
};

// A point w = b - a of D, and the points a and b from which it comes.
struct Difference {
  Vec3<double> w, a, b;
};

template <class L>  // LaneShape or HullShape
struct ConvexPair {
  const L &a, &b;
  Vec3<double> between;  // from the centre of a to that of b
  double extent;         // of D

  // Returns the point of D farthest along m; both points are about the centre of a.
  STICTION_RARE Difference support(const Vec3<double>& m) const {
    const Vec3<double> on_a = core_support(a, -m), on_b = between + core_support(b, m);
    return {on_b - on_a, on_a, on_b};
  }
};

inline constexpr int kMostSupports = 64;  // of a search; few need more than 20
inline constexpr int kMostRays = 48;
inline constexpr int kMostPulls = 8;
inline constexpr double kPull = 1e-2;      // times the extent
inline constexpr double kSettled = 1e-13;  // times the extent: a change this small ends a search
inline constexpr double kTouching =
    1e-10;  // times the extent: cores that are nearer count as overlapping
inline constexpr double kClose =
    1e-7;  // times the extent: a normal that is worse by no more may supply the points

STICTION_PHYSICS_END

// The nearest points of geoms, for sensors; signed, by the distance of contacts.
#pragma once

#include "reference/contact/contacts.h"

namespace stiction::reference::inline STICTION_REAL {

// Witnesses on the first and the second; none is nearer than the limit: `distance` is the limit, both points are 0.
struct NearestPoints {
  Real distance;
  Vec3 from = Vec3::Zero(), to = Vec3::Zero();
};

// Neither a height field nor a mesh whose file is missing.
bool is_convex(const Model& m, int g);

// Of any of the geoms `first` and any of `second`, all convex; two planes have none.
NearestPoints nearest_points(const Model& m, const Kinematics& kin, std::span<const int> first,
                             std::span<const int> second, Real limit);

}  // namespace stiction::reference::inline STICTION_REAL

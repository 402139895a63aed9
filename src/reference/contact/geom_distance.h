// Nearest points of geoms, for sensors; the distance is signed, as for contacts.
#pragma once

#include "reference/contact/contacts.h"

namespace stiction::reference::inline STICTION_REAL {

// Witness points on the first and the second; if none is nearer than the limit, `distance` is the limit, both points 0.
struct NearestPoints {
  Real distance;
  Vec3 from = Vec3::Zero(), to = Vec3::Zero();
};

// Returns false for height fields and for meshes whose file is missing.
bool is_convex(const Model& m, int g);

// Nearest points of any of the geoms `first` and any of `second`, all convex; pairs of planes are skipped.
NearestPoints nearest_points(const Model& m, const Kinematics& kin, std::span<const int> first,
                             std::span<const int> second, Real limit);

}  // namespace stiction::reference::inline STICTION_REAL

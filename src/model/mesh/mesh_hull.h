// Convex hulls, by qhull.
#pragma once

#include <array>
#include <vector>

#include "math.h"

namespace stiction::model {

struct Hull {
  std::vector<int> vertices;              // of the points given, rising
  std::vector<std::array<int, 3>> faces;  // triangles of points, counterclockwise from outside
};

// The hull of at least 4 points; with `most` >= 4 of at most so many vertices, those that qhull adds
// first. Throws ModelError where the points lie in a plane, on a line or in one place.
Hull convex_hull(const std::vector<Vec3>& points, int most = -1);

}  // namespace stiction::model

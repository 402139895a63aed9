// Convex hulls, computed by qhull.
#pragma once

#include <array>
#include <vector>

#include "math.h"

namespace stiction::model {

struct Hull {
  std::vector<int> vertices;              // of the points given, ascending
  std::vector<std::array<int, 3>> faces;  // triangles of points, counterclockwise from outside
};

// Returns the hull of at least 4 points; with `most` >= 4 of at most that many vertices, those that qhull adds
// first. Throws ModelError if the points are coplanar, collinear or coincident.
Hull convex_hull(const std::vector<Vec3>& points, int most = -1);

}  // namespace stiction::model

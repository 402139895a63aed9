// The flat faces of a hull: merged coplanar triangles.
#pragma once

#include <array>
#include <vector>

#include "math.h"

namespace stiction::model {

struct HullFace {
  Vec3 normal;               // unit, outwards
  std::vector<int> corners;  // counterclockwise from outside, convex; the longest edge is the first
};

struct HullFaces {
  std::vector<HullFace> faces;
  std::vector<int> of_triangle;  // face of each triangle
};

// `triangles` are the closed hull of `vertices`, counterclockwise from outside. A face grows from the largest
// remaining triangle over neighbours whose corners lie in its plane up to kCoplanar of the hull's
// extent; its corners are the convex hull of these corners in that plane.
HullFaces hull_faces(const std::vector<Vec3>& vertices,
                     const std::vector<std::array<int, 3>>& triangles);

// Coordinates of meshes are often floats, so the corners of one face deviate from its plane by 1e-7 of
// the extent.
inline constexpr double kCoplanar = 1e-6;

}  // namespace stiction::model

// Ray casts against the geoms, and their hits.
#pragma once

#include <span>
#include <vector>

#include "stiction/types.h"

namespace stiction {

struct Model;

// The first geom that each ray o + x d hits. Real: double for the Reference, float for a Batch.
template <class Real>
struct RayHits {
  std::vector<Real> distance;  // (n)    x, in units of the length of d; -1: none
  std::vector<int> geomid;     // (n)    -1: none
  std::vector<Real> normal;    // (n,3)  unit, outward normal of the geom, world axes; 0: none
};

// Least length of the direction of a ray, and the largest number in an origin or direction.
inline constexpr double kLeastDirection = 1e-15, kRayBound = 1e10;

// Throw ArgumentError on: not three numbers per ray, a number that is not finite or beyond the bound, a direction
// without length; an unknown group or body; a grid without samples, a step that is not finite and positive.
void check_rays(const Model& model, std::span<const double> origins,
                std::span<const double> directions, const RayOptions& options);
void check_scan(const Model& model, int body, const HeightScan& scan);

// Rays through the centre of each pixel of a camera image, (height,width,3), top row first, in the
// frame of the camera's body: directions (x, y, −1) of the camera, so that a distance in units of them is the depth
// along its optical axis. Throws ArgumentError unless the camera is a fixed perspective one, and for a size not in
// [1, 4096].
struct CameraRays {
  std::vector<double> origins, directions;
};
CameraRays camera_rays(const Model& model, int camera, int width, int height);

}  // namespace stiction

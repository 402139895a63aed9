// Rays among the geoms: what they met.
#pragma once

#include <span>
#include <vector>

#include "stiction/types.h"

namespace stiction {

struct Model;

// Of each ray o + x d the first geom that it meets. Real: double of the Reference, float of a Batch.
template <class Real>
struct RayHits {
  std::vector<Real> distance;  // (n)    x, in units of the length of d; -1: none
  std::vector<int> geomid;     // (n)    -1: none
  std::vector<Real> normal;    // (n,3)  unit, out of the geom, world axes; 0: none
};

// Shortest direction of a ray, and the largest number of an origin or direction.
inline constexpr double kLeastDirection = 1e-15, kRayBound = 1e10;

// Throw ArgumentError: no three numbers to a ray, a number that is not finite or beyond the bound, a direction without
// length; a group or body that is not there; a grid without samples, a step that is not finite and positive.
void check_rays(const Model& model, std::span<const double> origins,
                std::span<const double> directions, const RayOptions& options);
void check_scan(const Model& model, int body, const HeightScan& scan);

// Rays through the middle of each pixel of an image of a camera, (height,width,3), the topmost row first, in the
// frame of its body: directions (x, y, −1) of the camera, so that a distance in units of them is the depth along
// its optical axis. Throws ArgumentError on another camera than a fixed perspective one, or a size that is not in
// [1, 4096].
struct CameraRays {
  std::vector<double> origins, directions;
};
CameraRays camera_rays(const Model& model, int camera, int width, int height);

}  // namespace stiction

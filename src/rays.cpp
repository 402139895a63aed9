#include "stiction/rays.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "math.h"
#include "stiction/error.h"
#include "stiction/model.h"
#include "stiction/text.h"

namespace stiction {
namespace {

constexpr int kMaxSamples = 1 << 20, kMaxPixels = 4096;  // in total; per side

template <class... Parts>
[[noreturn]] void refuse_rays(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw ArgumentError(message.str());
}

void check_vectors(const char* name, std::span<const double> v) {
  if (v.size() % 3 != 0)
    refuse_rays(name, " has ", v.size(), " numbers: expected three for each ray");
  for (std::size_t i = 0; i < v.size(); ++i)
    if (!(std::abs(v[i]) <= kRayBound))
      refuse_rays(name, ": number ", i % 3, " of ray ", i / 3, " is ", v[i],
                  ": must be finite and at most ", kRayBound);
}

void check_groups(int geomgroup) {
  if (geomgroup < 0 || geomgroup > kAllGeomGroups)
    refuse_rays("geomgroup = ", geomgroup, ": must be in [0, ", kAllGeomGroups,
                "], a bit for each of six groups");
}

void check_body(const char* name, const Model& m, int body, int least) {
  if (body < least || body >= m.nbody)
    refuse_rays(name, " = ", body, ": must be in [", least, ", ", m.nbody, ")");
}

void check_camera(const Model& m, int camera) {
  if (camera < 0 || camera >= m.ncam)
    refuse_rays("depth: camera ", camera, ": must be in [0, ", m.ncam, ")");
  const std::string name = visible(m.cam_names[at(camera)]);
  if (m.cam_mode[at(camera)] != CameraMode::fixed)
    refuse_rays("depth: camera ", camera, " \"", name, "\" follows a body: give it mode=\"fixed\"");
  if (m.cam_projection[at(camera)] != CameraProjection::perspective)
    refuse_rays("depth: camera ", camera, " \"", name,
                "\" is orthographic: give it projection=\"perspective\"");
}

}  // namespace

void check_rays(const Model& model, std::span<const double> origins,
                std::span<const double> directions, const RayOptions& options) {
  check_vectors("origins", origins);
  check_vectors("directions", directions);
  for (std::size_t i = 0; i < directions.size(); i += 3)
    if (std::hypot(directions[i], directions[i + 1], directions[i + 2]) < kLeastDirection)
      refuse_rays("directions: ray ", i / 3, " has no length: a direction must be longer than ",
                  kLeastDirection);
  check_groups(options.geomgroup);
  check_body("bodyexclude", model, options.bodyexclude, -1);
}

void check_scan(const Model& model, int body, const HeightScan& scan) {
  check_body("height_scan: body", model, body, 0);
  if (scan.nx < 1 || scan.ny < 1 || scan.nx > kMaxSamples / scan.ny)
    refuse_rays("height_scan: a grid of ", scan.nx, " x ", scan.ny,
                " samples: expected at least one each way, and at most ", kMaxSamples, " in all");
  if (!(scan.step > 0 && scan.step <= kRayBound))
    refuse_rays("height_scan: step = ", scan.step, ": must be finite and > 0 (m)");
  for (const auto& [name, x] : {std::pair{"x", scan.x}, {"y", scan.y}, {"above", scan.above}})
    if (!(std::abs(x) <= kRayBound))
      refuse_rays("height_scan: ", name, " = ", x, ": must be finite");
  check_groups(scan.geomgroup);
}

CameraRays camera_rays(const Model& model, int camera, int width, int height) {
  check_camera(model, camera);
  if (std::min(width, height) < 1 || std::max(width, height) > kMaxPixels)
    refuse_rays("depth: an image of ", width, " x ", height, " pixels: must be in [1, ", kMaxPixels,
                "] each way");
  const double tangent = std::tan(model.cam_fovy[at(camera)] * std::numbers::pi / 360);
  const Vec3 origin = row3(model.cam_pos, camera);
  const Mat3 axes = row4(model.cam_quat, camera).toRotationMatrix();
  CameraRays rays;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const Vec3 d = axes * Vec3(tangent * (2 * column + 1 - width) / height,
                                 tangent * (height - 2 * row - 1) / height, -1);
      rays.origins.insert(rays.origins.end(), origin.begin(), origin.end());
      rays.directions.insert(rays.directions.end(), d.begin(), d.end());
    }
  return rays;
}

}  // namespace stiction

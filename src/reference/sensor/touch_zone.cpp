// The zone of a site: whether a ray of a touch sensor hits it, and which points are inside.
#include <algorithm>
#include <cmath>

#include "reference/sensor/sensors.h"

namespace stiction::reference {
namespace {

// A signed convex function of a point, <= 0 inside the shape.
double depth(GeomType type, const Vec3& size, const Vec3& p) {
  switch (type) {
    case GeomType::sphere: return p.norm() - size[0];
    case GeomType::ellipsoid: return p.cwiseQuotient(size).norm() - 1;
    case GeomType::box: return (p.cwiseAbs() - size).maxCoeff();
    case GeomType::cylinder:
      return std::max(p.head<2>().norm() - size[0], std::abs(p.z()) - size[1]);
    default:  // capsule
      return (p - Vec3(0, 0, std::clamp(p.z(), -size[1], size[1]))).norm() - size[0];
  }
}

}  // namespace

bool inside(GeomType type, const Vec3& size, const Vec3& p) {
  return depth(type, size, p) < 0;
}

bool ray_meets(GeomType type, const Vec3& size, const Vec3& p, const Vec3& d) {
  double lower = 0, upper = p.norm() + 2 * size.sum();
  for (int k = 0; k < 200; ++k) {
    const double a = lower + (upper - lower) / 3, b = upper - (upper - lower) / 3;
    if (depth(type, size, p + a * d) <= depth(type, size, p + b * d))
      upper = b;
    else
      lower = a;
  }
  return depth(type, size, p) <= 0 || depth(type, size, p + lower * d) <= 0;
}

}  // namespace stiction::reference

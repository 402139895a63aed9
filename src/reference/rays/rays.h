// Rays against the geoms, with the semantics of MuJoCo's mj_ray: tests every face of every geom in turn.
#pragma once

#include "reference/tree/kinematics.h"
#include "stiction/rays.h"

namespace stiction::reference {

struct RayHit {
  double distance = -1;  // in units of the direction; -1: nothing
  int geom = -1;
  Vec3 normal = Vec3::Zero();  // unit, outward normal of the geom
};

// Returns the first geom that origin + x direction, x >= 0, hits.
RayHit raycast(const Model& m, const Kinematics& kin, const Vec3& origin, const Vec3& direction,
               const RayOptions& options);

}  // namespace stiction::reference

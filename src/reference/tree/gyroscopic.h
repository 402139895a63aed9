// Gyroscopic torque of free joints and of ball joints on the world by the implicit midpoint rule: half of it before
// the solve, half after it (docs/method.md, 1).
#pragma once

#include "reference/tree/kinematics.h"
#include "stiction/options.h"

namespace stiction::reference::inline STICTION_REAL {

// What turns with a free or ball joint: its body and all below it, rigid in the pose at q0.
struct Turning {
  int dof;  // the first of the joint's three rotations
  bool free;
  Mat3 axes;     // R: of the body, in the world
  Mat3 inertia;  // I, body axes; free: about the common centre of mass, ball: about the anchor
  Vec3 extra;    // J: armature + δt D + δt² K of the three dofs
  Vec3 arm;      // r: free: from the body's origin to the common centre of mass, body axes
};
// `moving`: mocap bodies may move.
std::vector<Turning> turning(const Model& m, const Kinematics& kin, bool moving,
                             const VecX& resistance);

// What the implicit torque adds to v* = v0 + A⁻¹ δt k with the explicit torque. `force`: −bias + wrenches on the bodies,
// at v0.
VecX first_half(const std::vector<Turning>& joints, double dt, const VecX& v0, const VecX& force);

// Velocity at the end of the step whose problem has the solution v.
VecX second_half(const std::vector<Turning>& joints, double dt, const VecX& v);

}  // namespace stiction::reference::inline STICTION_REAL

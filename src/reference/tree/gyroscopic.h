// Gyroscopic torque of free joints, and of ball joints on the world, by the implicit midpoint rule: one half before
// the solve, one half after it (docs/method.md, 1).
#pragma once

#include "reference/tree/kinematics.h"
#include "stiction/options.h"

namespace stiction::reference::inline STICTION_REAL {

// The inertia that rotates with a free or ball joint: its body and all bodies below, rigid in the pose at q0.
struct Turning {
  int dof;  // the first of the joint's three rotational dofs
  bool free;
  Mat3 axes;     // R: of the body, in the world
  Mat3 inertia;  // I, body axes; free: about the common centre of mass, ball: about the anchor
  Vec3 extra;    // J: armature + δt D + δt² K of the three dofs
  Vec3 arm;      // r: free: from the body's origin to the common centre of mass, body axes
};
// `moving`: mocap bodies may move.
std::vector<Turning> turning(const Model& m, const Kinematics& kin, bool moving,
                             const VecX& resistance);

// Returns the change of v* = v0 + A⁻¹ δt k when the implicit torque replaces the explicit one. `force`: −bias +
// wrenches on the bodies, at v0.
VecX first_half(const std::vector<Turning>& joints, double dt, const VecX& v0, const VecX& force);

// Returns the velocity at the end of the step whose problem has the solution v.
VecX second_half(const std::vector<Turning>& joints, double dt, const VecX& v);

}  // namespace stiction::reference::inline STICTION_REAL

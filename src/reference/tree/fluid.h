// Forces of the medium on the bodies, and their drag: docs/method.md, "Fluid".
#pragma once

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

struct FluidForces {
  VecX force;  // (nv)     generalized force at qvel
  MatX
      drag;  // (nv,nv)  Σ Jᵀ D J, D ≥ 0 diagonal in the axes of each box or ellipsoid: force = −drag v + ...
};
FluidForces fluid_forces(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion);

}  // namespace stiction::reference::inline STICTION_REAL

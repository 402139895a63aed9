// Energies and momenta of a state, including those of tendons.
#pragma once

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

struct Totals {
  Real kinetic = 0, potential = 0;  // J; the kinetic energy includes that of armature
  Real fixed_potential = 0;         // J, of the weight of bodies that never move
  Vec3 linear_momentum = Vec3::Zero(), angular_momentum = Vec3::Zero(), com = Vec3::Zero();
};
Totals totals(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion,
              std::span<const Real> qpos, std::span<const Real> qvel);

}  // namespace stiction::reference::inline STICTION_REAL

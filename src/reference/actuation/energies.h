// Energies and momenta of a state, those of tendons among them.
#pragma once

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

struct Totals {
  Real kinetic = 0, potential = 0;  // J; kinetic energy includes the armature's
  Real fixed_potential = 0;         // J, of the weight of what never moves
  Vec3 linear_momentum = Vec3::Zero(), angular_momentum = Vec3::Zero(), com = Vec3::Zero();
};
Totals totals(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion,
              std::span<const Real> qpos, std::span<const Real> qvel);

}  // namespace stiction::reference::inline STICTION_REAL

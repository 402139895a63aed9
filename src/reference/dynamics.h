// Smooth dynamics: M(q), bias, energies and momenta.
#pragma once

#include "reference/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

// M = Σ_b m Jvᵀ Jv + Jωᵀ I Jω + diag(armature)
MatX mass_matrix(const Model& m, const Kinematics& kin);

// Newton–Euler at q̈ = 0: Σ_b Jvᵀ m (a − g) + Jωᵀ (I α + ω × I ω)
VecX bias_force(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion);

struct Totals {
  Real kinetic = 0, potential = 0;  // J; kinetic energy includes the armature's
  Real fixed_potential = 0;         // J, of the weight of what never moves
  Vec3 linear_momentum = Vec3::Zero(), angular_momentum = Vec3::Zero(), com = Vec3::Zero();
};
Totals totals(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion,
              std::span<const Real> qpos, std::span<const Real> qvel);

// World inertia of body b about its centre of mass.
Mat3 world_inertia(const Model& m, const Kinematics& kin, int b);

}  // namespace stiction::reference::inline STICTION_REAL

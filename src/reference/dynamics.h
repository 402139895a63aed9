// Smooth dynamics: M(q), bias, energies and momenta.
#pragma once

#include "reference/kinematics.h"

namespace stiction::reference {

// M = Σ_b m Jvᵀ Jv + Jωᵀ I Jω + diag(armature)
MatX mass_matrix(const Model& m, const Kinematics& kin);

// Newton–Euler at q̈ = 0: Σ_b Jvᵀ m (a − g) + Jωᵀ (I α + ω × I ω)
VecX bias_force(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion);

struct Totals {
  double kinetic = 0, potential = 0;  // J; kinetic energy includes the armature's
  Vec3 linear_momentum = Vec3::Zero(), angular_momentum = Vec3::Zero(), com = Vec3::Zero();
};
Totals totals(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion,
              std::span<const double> qpos, std::span<const double> qvel);

// World inertia of body b about its centre of mass.
Mat3 world_inertia(const Model& m, const Kinematics& kin, int b);

}  // namespace stiction::reference

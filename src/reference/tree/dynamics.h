// Smooth dynamics: M(q) and bias.
#pragma once

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

// Returns whether the body moves; static and mocap bodies have no dof between them and the world.
bool moves(const Model& m, int b);

// Velocity of the centre of mass of body b.
Vec3 com_velocity(const Kinematics& kin, const std::vector<Motion>& motion, int b);

// M = Σ_b m Jvᵀ Jv + Jωᵀ I Jω + diag(armature)
MatX mass_matrix(const Model& m, const Kinematics& kin);

// Newton–Euler at q̈ = 0: Σ_b Jvᵀ m (a − g) + Jωᵀ (I α + ω × I ω)
VecX bias_force(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion);

// World inertia of body b about its centre of mass.
Mat3 world_inertia(const Model& m, const Kinematics& kin, int b);

}  // namespace stiction::reference::inline STICTION_REAL

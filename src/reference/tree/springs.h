// Springs and dampers of joints.
#pragma once

#include "reference/base/real.h"
#include "stiction/model.h"

namespace stiction::reference::inline STICTION_REAL {

// Returns −K (q ⊖ q_spring) of every joint, at the given pose.
VecX spring_force(const Model& m, std::span<const Real> qpos);
Real spring_energy(const Model& m, std::span<const Real> qpos);
// Diagonals of K at qpos and of D at v, for −K (q ⊖ q_spring) and −D v.
VecX spring_coefficients(const Model& m, std::span<const Real> qpos);
VecX damper_coefficients(const Model& m, const VecX& v);
// The part of the coefficients that acts at the end of a step: what is restoring or braking. So a stiffening spring
// never overshoots, whatever the timestep.
VecX implicit_part(const VecX& coefficients);

}  // namespace stiction::reference::inline STICTION_REAL

// The Delassus scale: how easily a constraint's velocity changes.
#pragma once

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

// Delassus scale w = ‖J diag(A)⁻¹ Jᵀ‖_F / rows, with the angular velocity of free joints in world
// axes, as Drake has it.
class DelassusScale {
 public:
  DelassusScale(const Model& m, const Kinematics& kin, const MatX& A);
  Real operator()(const MatX& J) const;
  // Σ a_i b_i / A_ii
  Real operator()(const VecX& a, const VecX& b) const;

 private:
  MatX to_world_;      // v_world = to_world v: rotates the angular velocity of free joints
  VecX inverse_diag_;  // diag(to_world A to_worldᵀ)⁻¹
};

}  // namespace stiction::reference::inline STICTION_REAL

// The Delassus scale: how easily a constraint's velocity changes.
#pragma once

#include <vector>

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

// Delassus scale w = ‖J diag(A)⁻¹ Jᵀ‖_F / rows, with the angular velocity of free joints in world
// axes, as Drake has it. Summed dof by dof: those that J leaves alone add zeros, so that no bit depends on them.
class DelassusScale {
 public:
  DelassusScale(const Model& m, const Kinematics& kin, const MatX& A);
  Real operator()(const MatX& J) const;
  // Σ a_i b_i / A_ii
  Real operator()(const VecX& a, const VecX& b) const;

 private:
  MatX to_world(MatX J) const;

  struct Turning {
    Eigen::Index dof;  // the first of the angular velocity of a free joint
    Mat3 axes;         // of its body
  };
  std::vector<Turning> turning_;
  VecX inverse_diag_;  // of A, in these axes
};

}  // namespace stiction::reference::inline STICTION_REAL

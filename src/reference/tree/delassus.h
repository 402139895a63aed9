// The Delassus scale: how easily the velocity of a constraint changes.
#pragma once

#include <vector>

#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {

// Delassus scale w = ‖J diag(A)⁻¹ Jᵀ‖_F / rows, with the angular velocity of free joints in world
// axes, as in Drake. Summed dof by dof: dofs that J does not involve add zeros and so do not change any bit.
class DelassusScale {
 public:
  DelassusScale(const Model& m, const Kinematics& kin, const MatX& A);
  Real operator()(const MatX& J) const;
  // Returns Σ a_i b_i / A_ii.
  Real operator()(const VecX& a, const VecX& b) const;

 private:
  MatX to_world(MatX J) const;

  struct Turning {
    Eigen::Index dof;  // first of the three angular velocity dofs of a free joint
    Mat3 axes;         // axes of its body
  };
  std::vector<Turning> turning_;
  VecX inverse_diag_;  // of A, rotated to these axes
};

}  // namespace stiction::reference::inline STICTION_REAL

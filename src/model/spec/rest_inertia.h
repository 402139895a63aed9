// The model at qpos0: frames, Jacobians and the inverse mass matrix, tree by tree. A dense implementation,
// independent of the engines.
#pragma once

#include <vector>

#include "math.h"
#include "stiction/model.h"

namespace stiction::model {

// World frames of the bodies, and the motion per unit velocity of every dof: angular velocity, and
// linear velocity of the point of the body at the world's origin.
struct RestPose {
  explicit RestPose(const Model& m);

  std::vector<Vec3> pos, com;
  std::vector<Quat> quat;
  Mat3X dof_angular, dof_linear;  // (3,nv)
};

// Jacobian of the length of tendon t; defined in build_tendons.cpp.
VecX tendon_jacobian0(const Model& m, const RestPose& pose, int t);

// Moment arm of actuator a at qpos0; defined in derive.cpp.
VecX actuator_moment0(const Model& m, const RestPose& pose, int a);

// Computes M(qpos0)⁻¹. M = Σ_b m J_vᵀ J_v + J_ωᵀ I J_ω + armature + Σ_t a_t J_t J_tᵀ, a_t the armature of tendon t, is
// block-diagonal: one dense block for each kinematic tree, a set of dofs with the same first ancestor,
// or for the trees that such a tendon couples.
class RestInertia {
 public:
  // Throws ModelError if M is not positive definite.
  RestInertia(const Model& m, const RestPose& pose);

  // Returns J M⁻¹ Jᵀ of the velocity (angular, linear) of the centre of mass of body b, world axes.
  Mat6 inverse_spatial(int b) const;

  // Returns x = M⁻¹ f.
  VecX solve(const VecX& force) const;

  // Returns the diagonal of M⁻¹.
  VecX inverse_diagonal() const;

 private:
  struct Tree {
    std::vector<int> dofs;
    Eigen::LLT<MatX> mass;
  };

  // Rows: angular, linear velocity of the centre of mass. Columns: the dofs of the body's tree.
  MatX jacobian(int b) const;

  const Model& m_;
  const RestPose& pose_;
  std::vector<Tree> trees_;
  std::vector<int> dof_tree_, dof_column_;  // (nv) tree of a dof, index within the tree
};

}  // namespace stiction::model

// The convex problem of one step:
//   min over v of ℓ_p(v) = ½ (v − v*)ᵀ A (v − v*) + Σ_i ℓ_i(J_i v)
#pragma once

#include <vector>

#include "reference/law/couple_law.h"
#include "reference/law/row_laws.h"
#include "reference/solver/line_search.h"

namespace stiction::reference::inline STICTION_REAL {

struct PointConstraint {
  Mat3X J;  // (3,nv): rows t1, t2, n
  ContactLaw law;
  Mat3X J_turning =
      {};  // the same for the angular velocity; empty without torsional or rolling friction
  CoupleLaw couple = {};
  int contact = -1;  // index among the contacts of the step
  // Contribution of mocap bodies to v_c and ω: the law is that of J v + drift.
  Vec3 drift = Vec3::Zero(), drift_turning = Vec3::Zero();

  bool turns() const { return J_turning.cols() > 0; }
  Vec3 velocity(const VecX& v) const { return J * v + drift; }
  // Returns J_turning dv, the change of ω.
  Vec3 turning_change(const VecX& dv) const {
    return turns() ? Vec3(J_turning * dv) : Vec3(Vec3::Zero());
  }
  Vec3 turning(const VecX& v) const { return turning_change(v) + drift_turning; }
};
struct RowConstraint {
  VecX J;  // (nv)
  RowLaw law;
  int friction = -1;  // index of the dof for dry friction of dofs; nv + tendon for that of tendons
};
// A linear law with several rows: γ = (v̂ − J v)/R, ℓ = ½ γᵀ R γ.
struct BlockConstraint {
  int equality;
  MatX J;          // (n,nv)
  VecX v_hat;      // (n)
  VecX inverse_R;  // (n)
  VecX impulse(const VecX& v) const { return inverse_R.cwiseProduct(v_hat - J * v); }
};

struct Problem {
  MatX A;       // (nv,nv) SPD
  VecX v_star;  // (nv)
  std::vector<PointConstraint> points;
  std::vector<RowConstraint> rows;
  std::vector<BlockConstraint> blocks;
  std::vector<int> tree =
      {};  // (nv)  of each dof; the dofs of a tree are consecutive; empty: one tree

  bool unconstrained() const { return points.empty() && rows.empty() && blocks.empty(); }
};

// Cost, gradient and Hessian at v. `magnitude` is the sum of the absolute terms of the cost, the
// measure of its round-off.
struct Evaluation {
  Real cost = 0, magnitude = 0;
  VecX momentum;  // A (v − v*)
  VecX impulse;   // Σ Jᵀ γ
  VecX load;      // Σ |Jᵀ γ|, absolute values per constraint
  MatX hessian;   // A + Σ Jᵀ G J
  VecX gradient() const { return momentum - impulse; }
};
Evaluation evaluate(const Problem& problem, const VecX& v);

// The problem restricted to v + α dv, without products with J or A in each evaluation.
class Line {
 public:
  Line(const Problem& problem, const VecX& v, const VecX& dv);
  LineValue at(Real alpha) const;

 private:
  const Problem& problem_;
  Real quadratic0_, slope0_, curvature0_;  // of ½ (v − v*)ᵀ A (v − v*) and the blocks
  std::vector<Vec3> point_v_, point_dv_, point_omega_, point_domega_;
  std::vector<Real> row_v_, row_dv_;
};

}  // namespace stiction::reference::inline STICTION_REAL

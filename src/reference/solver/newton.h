// Newton's method with dense Cholesky and exact line search on the convex problem of a step.
#pragma once

#include "reference/solver/problem.h"
#include "stiction/types.h"

namespace stiction::reference::inline STICTION_REAL {

struct Solution {
  VecX v;
  Status status = Status::ok;
  int iterations = 0, linesearch_evaluations = 0;
  Real residual = 0;  // ‖D r‖ / max(‖D A v‖, ‖D Jᵀγ‖) of a tree, D = diag(A)^-1/2
  Real cost = 0;
};

// ‖D r‖ over the largest of ‖D A v‖, ‖D Jᵀγ‖ and the round-off of the impulses relative to the tolerance; 0/0 = 0. The
// largest over the trees: an error that is small beside a heavy tree may be large for a light one.
Real relative_residual(const Problem& problem, const Evaluation& e, const VecX& v,
                       double tolerance);

// Starts at v0. Stops at residual <= tolerance, at the round-off floor (`stalled` if above the
// tolerance) or after max_iterations (`not_converged`).
Solution solve(const Problem& problem, const VecX& v0, double tolerance, int max_iterations);

// Gives v, the minimum of a problem, its derivatives with respect to the data of the problem: at the minimum
// 0 = d∇ℓ_p = ∂∇ℓ_p|_v + H dv, so dv = −H⁻¹ ∂∇ℓ_p|_v, with one factorization of H. In doubles: v.
VecX differentiated(const Problem& problem, const VecX& v);

// The same for any root v of `gradient`, whose derivative with respect to v is `slope`.
VecX differentiated(const VecX& gradient, const Eigen::MatrixXd& slope, const VecX& v);

}  // namespace stiction::reference::inline STICTION_REAL

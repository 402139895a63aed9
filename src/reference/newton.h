// Newton's method with dense Cholesky and exact line search on the convex problem of a step.
#pragma once

#include "reference/problem.h"
#include "stiction/types.h"

namespace stiction::reference {

struct Solution {
  VecX v;
  Status status = Status::ok;
  int iterations = 0, linesearch_evaluations = 0;
  double residual = 0;  // ‖D r‖ / max(‖D A v‖, ‖D Jᵀγ‖), D = diag(A)^-1/2
  double cost = 0;
};

// Starts at v0. Stops at residual <= tolerance, at the round-off floor (`stalled` if above the
// tolerance) or after max_iterations (`not_converged`).
Solution solve(const Problem& problem, const VecX& v0, double tolerance, int max_iterations);

}  // namespace stiction::reference

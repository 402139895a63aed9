// Dojo's primal-dual interior point on the nonlinear friction cone, in any coordinates: bilateral rows (the
// joints of maximal coordinates), unilateral rows (limits) and contacts.
#pragma once

#include <functional>

#include "lab/src/contact_problem.h"

namespace stiction::lab {

// M (v − v*) = Eᵀ y + Lᵀ l + Jᵀ λ;  E v + e = 0;  0 <= l ⟂ L v + h >= 0;  Coulomb's law at u = J v + b.
struct ConicProblem {
  MatX M;
  VecX v_star;
  MatX E;
  VecX e;
  MatX L;
  VecX h;
  MatX J;  // (3n,nv) t1, t2, n
  VecX b;  // (3n)
  VecX mu;
};

struct ConicSolution {
  VecX v, joints, limits, impulse;           // y, l, λ
  double residual = 0, complementarity = 0;  // scaled; of the equations, of the pairs
  bool converged = false, failed = false;
  int iterations = 0;
};

// `observe` sees v and λ after every iteration. Stops where both scaled residuals are below the tolerance, and,
// not converged, where 30 iterations have not halved them. It starts from the neutral point: a warm start is of no use to an interior point.
ConicSolution interior_point(const ConicProblem& problem, double tolerance, int max_iterations,
                             const std::function<void(const VecX&, const VecX&, double)>& observe);

}  // namespace stiction::lab

// ADMM on a convex quadratic problem over a set that can be projected on: the whole of `admm`, and the two
// inner problems of `staggered`.
#pragma once

#include <functional>

#include "lab/src/contact_problem.h"

namespace stiction::lab {

struct Splitting {
  VecX x;  // in the set
  int iterations = 0;
};

// min ½ xᵀ H x + gᵀ x over the set; starts at `x0` and stops when `done(x)`, asked after every iteration, is
// true. H is positive semidefinite. The penalty follows the ratio of the two residuals, as in OSQP (Stellato et
// al. 2020), less and less often; over-relaxed by `relaxation`.
Splitting split(const MatX& H, const VecX& g, const VecX& x0, double relaxation,
                const std::function<VecX(const VecX&)>& project,
                const std::function<bool(const VecX&)>& done);

}  // namespace stiction::lab

// Islands: dofs that neither a mass nor a constraint couples are problems of their own. ℓ_p is the sum of theirs,
// and Newton's method on n small ones takes n factorizations of (nv/n)³ instead of one of nv³.
#pragma once

#include <vector>

#include "reference/solver/newton.h"

namespace stiction::reference::inline STICTION_REAL {

// The dofs of each island, rising; islands in the order of their first dof. A couples the dofs of a tree and
// of what is implicit between trees, a constraint those that its Jacobian moves.
std::vector<std::vector<int>> islands(const Problem& problem);

// What of the problem acts on `dofs`, an island of it.
Problem on_island(const Problem& problem, const std::vector<int>& dofs);

// `solve` of each island. Iterations, evaluations of the line search and residual: the most of any island.
Solution solve_by_islands(const Problem& problem, const VecX& v0, double tolerance,
                          int max_iterations);

}  // namespace stiction::reference::inline STICTION_REAL

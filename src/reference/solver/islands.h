// Islands: dofs that neither a mass nor a constraint couples are problems of their own. ℓ_p is the sum of theirs,
// and Newton's method on n small ones takes n factorizations of (nv/n)³ instead of one of nv³.
#pragma once

#include <functional>
#include <vector>

#include "reference/solver/newton.h"

namespace stiction::reference::inline STICTION_REAL {

// The dofs of each island, rising; islands in the order of their first dof. A couples the dofs of a tree and
// of what is implicit between trees, a constraint those that its Jacobian moves.
std::vector<std::vector<int>> islands(const Problem& problem);

// What of the problem acts on `dofs`, an island of it.
Problem on_island(const Problem& problem, const std::vector<int>& dofs);

// `solve_island` of each island from v0 of its dofs. Iterations, evaluations of the line search and residual: the
// most of any island.
using SolveIsland = std::function<Solution(const Problem&, const VecX& v0)>;
Solution by_islands(const Problem& problem, const VecX& v0, const SolveIsland& solve_island);

// By `solve`.
Solution solve_by_islands(const Problem& problem, const VecX& v0, double tolerance,
                          int max_iterations);

}  // namespace stiction::reference::inline STICTION_REAL

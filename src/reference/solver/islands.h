// Islands: sets of dofs coupled neither by mass nor by constraints are independent problems. ℓ_p is the sum of theirs,
// and Newton's method on n small ones takes n factorizations of (nv/n)³ instead of one of nv³.
#pragma once

#include <functional>
#include <vector>

#include "reference/solver/newton.h"

namespace stiction::reference::inline STICTION_REAL {

// Returns the dofs of each island, ascending; islands in the order of their first dof. A couples the dofs of a tree and
// those coupled by implicit forces between trees, a constraint those that its Jacobian moves.
std::vector<std::vector<int>> islands(const Problem& problem);

// Returns the part of the problem that acts on `dofs`, one of its islands.
Problem on_island(const Problem& problem, const std::vector<int>& dofs);

// Applies `solve_island` to each island, from v0 of its dofs. Iterations, evaluations of the line search and residual
// are the largest of any island.
using SolveIsland = std::function<Solution(const Problem&, const VecX& v0)>;
Solution by_islands(const Problem& problem, const VecX& v0, const SolveIsland& solve_island);

// The same with `solve`.
Solution solve_by_islands(const Problem& problem, const VecX& v0, double tolerance,
                          int max_iterations);

}  // namespace stiction::reference::inline STICTION_REAL

#include "reference/solver/islands.h"

#include <algorithm>
#include <numeric>

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Also tests derivatives: a zero with a tangent is not zero.
bool is_zero(const MatX& J) {
  return (J.array() == Real(0)).all();
}

// Union-find over dofs; the smallest dof of a set represents it.
class Sets {
 public:
  explicit Sets(int n) : above_(static_cast<std::size_t>(n)) {
    std::iota(above_.begin(), above_.end(), 0);
  }
  int name(int i) {
    int& up = above_[static_cast<std::size_t>(i)];
    return up == i ? i : up = name(up);
  }
  void join(int i, int j) {
    const int a = name(i), b = name(j);
    above_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  // Joins the dofs that a constraint moves.
  void join_all(const auto& is_moved) {
    int last = -1;
    for (int i = 0; i < static_cast<int>(above_.size()); ++i) {
      if (!is_moved(i)) continue;
      if (last >= 0) join(last, i);
      last = i;
    }
  }

 private:
  std::vector<int> above_;
};

}  // namespace

std::vector<std::vector<int>> islands(const Problem& problem) {
  const auto nv = static_cast<int>(problem.A.rows());
  Sets sets(nv);
  for (int i = 0; i < nv; ++i)
    for (int j = 0; j < i; ++j)
      if (problem.A(i, j) != 0) sets.join(i, j);
  for (const PointConstraint& c : problem.points)
    sets.join_all(
        [&](int i) { return !is_zero(c.J.col(i)) || (c.turns() && !is_zero(c.J_turning.col(i))); });
  for (const RowConstraint& c : problem.rows) sets.join_all([&](int i) { return c.J[i] != 0; });
  for (const BlockConstraint& c : problem.blocks)
    sets.join_all([&](int i) { return !is_zero(c.J.col(i)); });

  std::vector<std::vector<int>> all;
  std::vector<std::size_t> place(static_cast<std::size_t>(nv));
  for (int i = 0; i < nv; ++i) {
    const auto name = static_cast<std::size_t>(sets.name(i));
    if (name == static_cast<std::size_t>(i)) {
      place[name] = all.size();
      all.emplace_back();
    }
    all[place[name]].push_back(i);
  }
  return all;
}

Problem on_island(const Problem& problem, const std::vector<int>& dofs) {
  Problem part = {problem.A(dofs, dofs), problem.v_star(dofs), {}, {}, {}};
  if (!problem.tree.empty())
    for (const int i : dofs) part.tree.push_back(problem.tree[static_cast<std::size_t>(i)]);
  for (const PointConstraint& c : problem.points) {
    const Mat3X J = c.J(Eigen::all, dofs);
    const Mat3X turning = c.turns() ? Mat3X(c.J_turning(Eigen::all, dofs)) : Mat3X();
    if (!is_zero(J) || !is_zero(turning))
      part.points.push_back({J, c.law, turning, c.couple, c.contact, c.drift, c.drift_turning});
  }
  for (const RowConstraint& c : problem.rows)
    if (const VecX J = c.J(dofs); !is_zero(J)) part.rows.push_back({J, c.law});
  for (const BlockConstraint& c : problem.blocks)
    if (const MatX J = c.J(Eigen::all, dofs); !is_zero(J))
      part.blocks.push_back({c.equality, J, c.v_hat, c.inverse_R});
  return part;
}

Solution by_islands(const Problem& problem, const VecX& v0, const SolveIsland& solve_island) {
  const std::vector<std::vector<int>> all = islands(problem);
  if (all.size() <= 1) return solve_island(problem, v0);
  Solution whole;
  whole.v = v0;
  for (const std::vector<int>& dofs : all) {
    const Solution part = solve_island(on_island(problem, dofs), v0(dofs));
    whole.v(dofs) = part.v;
    whole.status |= part.status;
    whole.iterations = std::max(whole.iterations, part.iterations);
    whole.linesearch_evaluations =
        std::max(whole.linesearch_evaluations, part.linesearch_evaluations);
    whole.residual = std::max(whole.residual, part.residual);
    whole.cost += part.cost;
  }
  return whole;
}

Solution solve_by_islands(const Problem& problem, const VecX& v0, double tolerance,
                          int max_iterations) {
  return by_islands(problem, v0, [&](const Problem& part, const VecX& start) {
    return solve(part, start, tolerance, max_iterations);
  });
}

}  // namespace stiction::reference::inline STICTION_REAL

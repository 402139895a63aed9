// The sparse factorization against a dense one, on random trees with and without couplings.
#include "physics/solver/factor.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <random>

#include "math.h"
#include "physics/base/team.h"
#include "physics/teams.h"

namespace stiction::test {
namespace {

using namespace physics;

// A tree of dofs without bodies: the fields and integers of the factorization alone.
struct Tree {
  explicit Tree(std::vector<int> parents) : parent(std::move(parents)) {
    const std::size_t n = parent.size(), ntri = n * (n + 1) / 2;
    m.nv = static_cast<int>(n), m.nu = 0;
    for (std::vector<int>* v :
         {&row_num, &run_adr, &run_first, &run_end, &below_adr, &below_row, &below_place})
      v->assign(ntri + 1, -1000);
    A.assign(ntri, 0.0);
    for (std::vector<double>* v : {&H, &L}) v->assign(ntri, std::nan(""));
    e.row_parent = parent.data(), e.row_num = row_num.data();
    e.run_adr = run_adr.data(), e.run_first = run_first.data(), e.run_end = run_end.data();
    e.below_adr = below_adr.data(), e.below_row = below_row.data();
    e.below_place = below_place.data();
    m.row_parent = e.row_parent, m.run_adr = e.run_adr, m.run_first = e.run_first,
    m.run_end = e.run_end;
    e.A = A.data(), e.H = H.data(), e.L = L.data();
  }
  // H = Σ Jᵀ J over couplings and paths
  void fill(const MatX& dense) {
    for (int i = 0; i < m.nv; ++i) {
      for_columns(e, i, [&](auto k, auto j) { e.H[tri(i, 0) + k] = dense(i, j); });
      e.H[place(e, i, i)] = dense(i, i);
    }
  }
  bool holds(int i, int j) const {
    bool found = i == j;
    for_columns(e, i, [&](auto, auto column) { found = found || column == j; });
    return found;
  }

  std::vector<int> parent, row_num, run_adr, run_first, run_end, below_adr, below_row, below_place;
  std::vector<double> A, H, L;
  ModelView m{};
  EnvView<double> e{};
};

struct Coupling {
  int i, j;
};

template <class Team>
VecX solution(const Team& team, Tree& t, const MatX& dense, const VecX& b) {
  t.fill(dense);
  VecX x(b.size());
  factor_and_solve(team, t.m, t.e, b.data(), x.data());
  return x;
}

TEST(Factor, AgreesWithDenseOnTreesAndCouplings) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + round % 37;
    std::vector<int> parents;
    for (int i = 0; i < n; ++i)
      parents.push_back(
          i == 0 || random() % 6 == 0 ? -1 : std::max(-1, i - 1 - static_cast<int>(random() % 4)));
    const auto path = [&](int i) {
      std::vector<int> p;
      for (; i >= 0; i = parents[at(i)]) p.push_back(i);
      return p;
    };
    Tree t(parents);
    structure(t.m, t.e);
    // a pure tree has no fill
    for (int i = 0; i < n; ++i) EXPECT_EQ(t.row_num[at(i)] + 1, static_cast<int>(path(i).size()));

    // couplings as cross points and servos make them
    MatX dense = MatX::Zero(n, n);
    const auto couple = [&](const std::vector<int>& dofs) {
      VecX j = VecX::Zero(n);
      for (const int i : dofs) j[i] = normal(random);
      dense += j * j.transpose();
    };
    std::vector<Coupling> couplings;
    if (round % 2 != 0)
      for (int k = 0; k < 1 + round % 3 && n > 1; ++k) {
        const int a = static_cast<int>(random() % at(n)), b = static_cast<int>(random() % at(n));
        if (a != b) couplings.push_back({std::max(a, b), std::min(a, b)});
      }
    for (int i = 0; i < n; ++i) couple(path(i)), dense(i, i) += .1;

    // the tree again with the couplings linked in
    for (const Coupling& c : couplings) link(t.parent.data(), c.i, c.j);
    structure(t.m, t.e);
    for (const Coupling& c : couplings) {
      std::vector<int> both = path(c.i);
      for (const int i : path(c.j)) both.push_back(i);
      couple(both);
    }
    // the structure holds every entry
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        if (dense(i, j) != 0) {
          EXPECT_TRUE(t.holds(i, j)) << i << " " << j;
        }

    const VecX b = VecX::NullaryExpr(n, [&] { return normal(random); });
    const VecX expected = dense.llt().solve(b), x = solution(TeamOfOne(), t, dense, b);
    // backward stable: residual of n roundings per entry
    EXPECT_LT((dense * x - b).norm(), 1e-13 * (dense.norm() * x.norm() + b.norm()));
    EXPECT_LT((x - expected).norm(), 1e-8 * expected.norm());
    const VecX shuffled = solution(ShuffledTeam(3), t, dense, b);
    EXPECT_EQ(x, shuffled);

    // A x in the same structure
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) t.A[at(tri(i, j))] = dense(i, j);
    VecX product(n);
    multiply_A(TeamOfOne(), t.m, t.e, x.data(), product.data());
    EXPECT_LT((product - dense * x).norm(), 1e-14 * dense.norm() * x.norm());
  }
}

// The bits of a solution don't depend on zeros that a neighbour's structure adds.
TEST(Factor, UnusedStructureChangesNoBit) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  const std::vector<int> parents = {-1, 0, 1, 1, 3, 1, 5, -1, 7, 7};
  const int n = 10;
  Tree t(parents), wide(parents);
  structure(t.m, t.e);
  link(wide.parent.data(), 9, 4), link(wide.parent.data(), 6, 2);
  structure(wide.m, wide.e);
  MatX dense = MatX::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    VecX j = VecX::Zero(n);
    for (int k = i; k >= 0; k = parents[at(k)]) j[k] = normal(random);
    dense += j * j.transpose();
  }
  const VecX b = VecX::NullaryExpr(n, [&] { return normal(random); });
  EXPECT_EQ(solution(TeamOfOne(), t, dense, b), solution(TeamOfOne(), wide, dense, b));
}

// A pivot lost to round-off is raised: the solution stays finite.
TEST(Factor, SingularMatrixStaysFinite) {
  Tree t({-1, 0, 1});
  structure(t.m, t.e);
  const VecX x = solution(TeamOfOne(), t, MatX::Ones(3, 3), VecX::Ones(3));
  EXPECT_TRUE(x.allFinite());
}

}  // namespace
}  // namespace stiction::test

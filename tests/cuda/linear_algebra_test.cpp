// The linear algebra of a thread, a tile and a block against Eigen in double.
#include "cuda/linear_algebra.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "batch/devices.h"
#include "cpu/factor_lists.h"
#include "cuda/emulated_lanes.h"

namespace stiction::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using physics::tri;

template <class S>
struct System {
  explicit System(const MatrixXd& dense, const VectorXd& rhs)
      : n(static_cast<int>(rhs.size())), A(static_cast<std::size_t>(tri(n, 0))), x(b(rhs)) {
    right = x;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        A[static_cast<std::size_t>(tri(i, j))] = static_cast<S>(dense(i, j));
    m.nv = n;
    std::vector<int> chain;
    for (int i = 0; i < n; ++i) chain.push_back(i - 1);
    set_structure(chain);
  }
  void set_structure(const std::vector<int>& parent) {
    lists = cpu::factor_lists(parent);
    m.nfactorlevel = static_cast<int>(lists.level_adr.size()) - 1;
    m.factor_leveladr = lists.level_adr.data(), m.factor_panel = lists.panel.data();
    m.factor_last = lists.last.data();
  }
  System(const System&) = delete;
  static std::vector<S> b(const VectorXd& v) { return {v.data(), v.data() + v.size()}; }
  // What float sees of the matrix.
  MatrixXd rounded() const {
    MatrixXd r(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        r(i, j) = r(j, i) = static_cast<double>(A[static_cast<std::size_t>(tri(i, j))]);
    return r;
  }
  template <class Group>
  VectorXd solve(LanesShared& shared) {
    std::vector<S> H = A;
    std::vector<S> solution(x.size(), std::numeric_limits<S>::quiet_NaN()), scratch = solution;
    std::vector<S> between(3 * x.size(), std::numeric_limits<S>::quiet_NaN());
    on_lanes<Group>(shared, [&](const auto& team) {
      physics::EnvView<S> e{};
      int coupled = 0;
      e.H = H.data(), e.Adv = scratch.data(), e.path_J = between.data();
      e.nlivecross = &coupled;
      factor_and_solve(team, m, e, right.data(), solution.data());
    });
    return vector(solution);
  }
  template <class Group>
  VectorXd product(LanesShared& shared) {
    std::vector<S> out(x.size(), std::numeric_limits<S>::quiet_NaN());
    on_lanes<Group>(shared, [&](const auto& team) {
      physics::EnvView<S> e{};
      e.A = A.data();
      multiply_A(team, m, e, right.data(), out.data());
    });
    return vector(out);
  }
  static VectorXd vector(const std::vector<S>& v) {
    VectorXd r(static_cast<Eigen::Index>(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i)
      r[static_cast<Eigen::Index>(i)] = static_cast<double>(v[i]);
    return r;
  }

  int n;
  std::vector<S> A, x, right;
  cpu::FactorLists lists;  // full, unless set
  physics::ModelView m{};
};

MatrixXd random_spd(int n, double decades, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const MatrixXd g = MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
  VectorXd scale(n);
  for (int i = 0; i < n; ++i) scale[i] = std::pow(10.0, -0.5 * decades * uniform(random));
  return scale.asDiagonal() * MatrixXd(g * g.transpose() + MatrixXd::Identity(n, n)) *
         scale.asDiagonal();
}

// A backward stable solution has a residual of n roundings, whatever the condition.
template <class Group, class S>
void expect_solves(LanesShared& shared, int n, double decades, std::mt19937& random) {
  const MatrixXd dense = random_spd(n, decades, random);
  const VectorXd b = VectorXd::Random(n);
  System<S> s(dense, b);
  const MatrixXd H = s.rounded();
  const VectorXd right = System<S>::vector(s.right), x = s.template solve<Group>(shared);
  // row by row, since the scales of the rows differ
  const VectorXd residual = (H * x - right).cwiseAbs();
  const VectorXd size = H.cwiseAbs() * x.cwiseAbs() + right.cwiseAbs();
  const double eps = static_cast<double>(std::numeric_limits<S>::epsilon());
  const VectorXd d = H.diagonal().cwiseSqrt();
  const double norm = (d.cwiseProduct(x)).norm() * n;
  for (int i = 0; i < n; ++i) EXPECT_LE(residual[i], 2 * n * eps * (size[i] + d[i] * norm)) << n;

  const VectorXd product = s.template product<Group>(shared), exact = H * right;
  for (int i = 0; i < n; ++i)
    EXPECT_LE(std::abs(product[i] - exact[i]), n * eps * (H.cwiseAbs() * right.cwiseAbs())[i]);
}

// In registers, beyond their number in memory.
TEST(LinearAlgebra, OfAThreadIsBackwardStable) {
  std::mt19937 random(3);
  LanesShared none(1);
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 12}) {
    expect_solves<physics::ThreadGroup, float>(none, n, 0, random);
    expect_solves<physics::ThreadGroup, float>(none, n, 6, random);
    expect_solves<physics::ThreadGroup, double>(none, n, 6, random);
  }
}

TEST(LinearAlgebra, OfATileIsBackwardStable) {
  std::mt19937 random(1);
  LanesShared warp(1), eight(1, 8);
  for (int n = 1; n <= 80; n += n < 34 && !kSanitized ? 1 : 11)
    for (LanesShared* tile : {&eight, &warp}) {
      expect_solves<EmulatedTile, float>(*tile, n, 0, random);
      expect_solves<EmulatedTile, float>(*tile, n, 6, random);
      expect_solves<EmulatedTile, double>(*tile, n, 6, random);
    }
}

// Along a tree nothing is lost where the matrix has its structure: three branches that couple with a trunk, two
// rows apart, and what a point between the ends of two branches links: rows that lie between them have zeros.
TEST(LinearAlgebra, OfATreeIsBackwardStable) {
  std::mt19937 random(4);
  const std::vector<int> tree = {-1, 0, 1, 2, 3, 2, 5, 6, 2, 8, -1, 10};
  const auto n = static_cast<int>(tree.size());
  std::vector<int> linked = tree;
  physics::link(linked.data(), 9, 4);
  for (const std::vector<int>& parent : {tree, linked}) {
    MatrixXd dense = random_spd(n, 2, random);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) {
        int above = i;
        while (above > j) above = parent[static_cast<std::size_t>(above)];
        if (above != j) dense(i, j) = dense(j, i) = 0;
      }
    dense.diagonal() *= n;
    const VectorXd b = VectorXd::Random(n);
    System<float> s(dense, b);
    s.set_structure(parent);
    const MatrixXd H = s.rounded();
    const VectorXd exact = H.ldlt().solve(b), product = H * System<float>::vector(s.right);
    for (const int lanes : kTiles) {
      LanesShared tile(1, lanes);
      const VectorXd x = s.solve<EmulatedTile>(tile);
      EXPECT_LT((x - exact).norm(), 1e-5 * exact.norm()) << lanes;
      EXPECT_LT((s.product<EmulatedTile>(tile) - product).norm(), 1e-6 * product.norm()) << lanes;
    }
  }
}

// The most dofs that a model may have, of which the lists of A know the last rows.
TEST(LinearAlgebra, OfManyDofsAProductHasAllRows) {
  constexpr int kMost = 2048;
  const MatrixXd half = MatrixXd::Random(kMost, kMost);
  System<float> s(half + half.transpose(), VectorXd::Random(kMost));
  const VectorXd right = System<float>::vector(s.right);
  const MatrixXd A = s.rounded();
  LanesShared block(1);
  const VectorXd error = s.product<EmulatedBlock>(block) - A * right;
  EXPECT_LT(error.norm(), 1e-5 * (A * right).norm());
}

TEST(LinearAlgebra, OfABlockIsBackwardStable) {
  std::mt19937 random(2);
  for (const int warps : {1, 4}) {
    LanesShared block(warps);
    for (const int n : {1, 2, 5, 31, 33, 70, 130}) {
      expect_solves<EmulatedBlock, float>(block, n, 0, random);
      expect_solves<EmulatedBlock, double>(block, n, 6, random);
    }
  }
}

// Columns that float can't tell apart: without the floor a pivot is 0 or negative.
TEST(LinearAlgebra, LostPivotsAreRaised) {
  LanesShared warp(1), block(4);
  for (const int n : {3, 8, 17, 32, 40}) {
    System<float> s(MatrixXd::Ones(n, n), VectorXd::Ones(n));
    for (const VectorXd& x : {s.solve<physics::ThreadGroup>(warp), s.solve<EmulatedTile>(warp),
                              s.solve<EmulatedBlock>(block)}) {
      EXPECT_TRUE(x.allFinite());
      EXPECT_NEAR(x.sum(), 1, 1e-5 * n);
    }
  }
}

}  // namespace
}  // namespace stiction::test

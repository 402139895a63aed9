// Every function of dual numbers against its central difference, and the chain through Eigen.
#include "reference/base/dual.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>
#include <vector>

namespace stiction::reference {
namespace {

Dual variable(double x, int k = 0) {
  Dual d(x);
  d.tangent[k] = 1;
  return d;
}

TEST(Dual, FunctionsOfOneNumber) {
  using F = std::function<Dual(const Dual&)>;
  const std::vector<F> functions{
      [](const Dual& x) { return 3 * x - x * x + 2 / x - x / 5; },
      [](const Dual& x) { return -x + abs(x) * x; },
      [](const Dual& x) { return sqrt(x * x + 1); },
      [](const Dual& x) { return sin(x) * cos(2 * x); },
      [](const Dual& x) { return log(x * x); },
      [](const Dual& x) { return hypot(x, 2 - x); },
      [](const Dual& x) { return atan2(x, 1 + x * x); },
      [](const Dual& x) { return copysign(x, -x) + copysign(x, Dual(1)); },
      [](const Dual& x) { return remainder(5 * x, 2); },
      [](const Dual& x) { return std::max(x, x * x) + std::min(x, Dual(.1)); },
  };
  const double h = 1e-6;
  for (std::size_t f = 0; f < functions.size(); ++f)
    for (const double x : {-1.7, -.33, .29, 2.3}) {
      const double slope = (functions[f](x + h).value - functions[f](x - h).value) / (2 * h);
      // truncation h², round-off 1e-16/h
      EXPECT_NEAR(functions[f](variable(x)).tangent[0], slope, 1e-8 * (1 + std::abs(slope))) << f;
    }
}

TEST(Dual, OrdersByValueAndKeepsDirectionsApart) {
  EXPECT_FALSE(variable(0) == Dual(0));
  EXPECT_TRUE(Dual(1) == Dual(1));
  EXPECT_TRUE(variable(1) < Dual(2) && Dual(2) >= variable(1));
  const Dual product = variable(3, 0) * variable(5, 7);
  EXPECT_EQ(product.tangent[0], 5);
  EXPECT_EQ(product.tangent[7], 3);
  EXPECT_EQ(product.tangent.sum(), 8);
}

// The length of no vector has no derivative; what is guarded by its value must not become NaN.
TEST(Dual, RootOfNothing) {
  EXPECT_EQ(sqrt(variable(0) * variable(0)).tangent[0], 0);
  EXPECT_EQ(hypot(variable(0), Dual(0)).tangent[0], 0);
}

// d(A⁻¹ b) = A⁻¹ (db − dA A⁻¹ b)
TEST(Dual, ThroughCholesky) {
  using MatD = Eigen::Matrix<Dual, 3, 3>;
  using VecD = Eigen::Matrix<Dual, 3, 1>;
  Eigen::Matrix3d A, dA;
  A << 4, 1, .5, 1, 3, -.2, .5, -.2, 2;
  dA << .1, .3, 0, .3, -.2, .4, 0, .4, .7;
  const Eigen::Vector3d b(1, -2, 0), db(.2, 0, -1);
  MatD A_dual = A.cast<Dual>();
  VecD b_dual = b.cast<Dual>();
  EXPECT_EQ(b[2], 0);  // a zero that changes takes part
  for (int i = 0; i < 3; ++i) {
    b_dual[i].tangent[2] = db[i];
    for (int j = 0; j < 3; ++j) A_dual(i, j).tangent[2] = dA(i, j);
  }
  const VecD x = A_dual.llt().solve(b_dual);
  const Eigen::Vector3d expected = A.llt().solve(db - dA * A.llt().solve(b));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i].tangent[2], expected[i], 1e-15);
}

}  // namespace
}  // namespace stiction::reference

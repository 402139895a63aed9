// Root finder, line search and Newton's method (tests T14–T16, T19).
#include "reference/solver/newton.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "reference/solver/line_search.h"

namespace stiction::reference {
namespace {

TEST(LineSearch, RootFinder) {  // T16
  const auto cubic = [](double x) { return RootValue{x * x * x - 2 * x + 2, 3 * x * x - 2}; };
  EXPECT_NEAR(newton_with_bisection(cubic, -3, 3, 0, 1e-16, 1e-15).x, -1.76929235423863, 1e-14);
  const auto tangent = [](double x) {
    return RootValue{x - std::tan(x), -std::tan(x) * std::tan(x)};
  };
  EXPECT_NEAR(newton_with_bisection(tangent, 4.2, 4.7, 4.6, 1e-16, 1e-14).x, 4.49340945790906,
              1e-13);
  const auto triple = [](double x) {
    const double u = x - 1.5;
    return RootValue{u * u * u, 3 * u * u};
  };
  // a triple root is only seen to the cube root of the tolerance
  EXPECT_NEAR(newton_with_bisection(triple, -2, 3, 0, 1e-16, 1e-15).x, 1.5, 1e-4);
  const auto kinked = [](double x) {
    return x < .3 ? RootValue{x - .3, 1} : RootValue{1e6 * (x - .3), 1e6};
  };
  const Root root = newton_with_bisection(kinked, -1, 5, 4, 1e-16, 1e-15);
  EXPECT_NEAR(root.x, .3, 1e-14);
  EXPECT_LT(root.evaluations, 12);
}

TEST(LineSearch, CubicMinimumIsExactForACubic) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 1000; ++i) {
    // ℓ' = (t − r)(s − t)·(−1) has its rising root at r: choose r in (0, 1), the other one outside
    const double r = .01 + .98 * unit(random),
                 s = (i % 2 != 0) ? r + 1 + unit(random) : -.1 - unit(random);
    const double sign = s > r ? -1 : 1;
    const auto slope = [&](double t) { return sign * (t - r) * (t - s); };
    const auto cost = [&](double t) {
      return sign * (t * t * t / 3 - (r + s) * t * t / 2 + r * s * t);
    };
    if (slope(1) <= 0) continue;
    const double t = cubic_minimum({cost(0), slope(0), 0}, {cost(1), slope(1), 0});
    ASSERT_NEAR(t, r, 1e-12);
  }
}

Problem random_problem(std::mt19937& random, int nv, int points) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit(0, 1);
  Problem p;
  const MatX L = MatX::NullaryExpr(nv, nv, [&] { return normal(random); });
  p.A = L * L.transpose() + MatX::Identity(nv, nv);
  p.v_star = VecX::NullaryExpr(nv, [&] { return .1 * normal(random); });
  for (int i = 0; i < points; ++i) {
    PointConstraint c;
    c.J = Mat3X::NullaryExpr(3, nv, [&] { return normal(random); });
    const double dt = 5e-3, k = 1e5, d = 20, phi0 = 1e-4 * normal(random);
    c.law.model = static_cast<ContactModel>(i % 2);
    c.law.mu = unit(random);
    c.law.normal = HuntCrossley(dt, k, d, -k * phi0);
    c.law.n0 = lagged_impulse(dt, d, -k * phi0, 0);
    c.law.eps = 1e-4;
    p.points.push_back(c);
  }
  for (int i = 0; i < nv / 3; ++i) {
    p.rows.push_back({VecX::Unit(nv, i), limit_law(5e-3, .1, 1e-3 * normal(random))});
    p.rows.push_back({VecX::Unit(nv, i), ServoLaw{5e-3, normal(random), 2, -1, 1}});
    p.rows.push_back({VecX::Unit(nv, i), DryFrictionLaw{1e-4, 1e-3}});
  }
  return p;
}

TEST(Newton, QuadraticProblemTakesOneStep) {  // T14
  std::mt19937 random(2);
  Problem p = random_problem(random, 5, 0);
  p.rows.assign(1, {VecX::Unit(5, 1), ServoLaw{5e-3, 1, 2, -1e9, 1e9}});
  const Solution s = solve(p, VecX::Zero(5), 1e-12, 10);
  EXPECT_EQ(s.iterations, 1);
  EXPECT_EQ(s.linesearch_evaluations, 0);
  EXPECT_EQ(s.status, Status::ok);
  EXPECT_LT(evaluate(p, s.v).gradient().norm(), 1e-13);
}

TEST(Newton, ExactGuessTakesNoStep) {  // T15
  std::mt19937 random(3);
  const Problem p = random_problem(random, 6, 4);
  const Solution first = solve(p, VecX::Zero(6), 1e-12, 100);
  ASSERT_EQ(first.status, Status::ok);
  EXPECT_GT(first.iterations, 0);
  EXPECT_EQ(solve(p, first.v, 1e-10, 100).iterations, 0);

  // tolerance zero leaves through the stall test, at the round-off floor
  const Solution floor = solve(p, VecX::Zero(6), 0, 100);
  EXPECT_TRUE(any(floor.status, Status::stalled) || floor.residual == 0);
  EXPECT_LT(floor.iterations, 30);
  EXPECT_LT(floor.residual, 1e-12);
}

// The residual by its definition; stops at the first iterate that meets the tolerance.
TEST(Newton, StopsAtTheTolerance) {
  std::mt19937 random(8);
  for (int problem = 0; problem < 20; ++problem) {
    const Problem p = random_problem(random, 6, 4);
    const VecX D = p.A.diagonal().cwiseSqrt().cwiseInverse();
    const auto residual = [&](const VecX& v) {
      const Evaluation e = evaluate(p, v);
      return D.cwiseProduct(e.gradient()).norm() /
             std::max(D.cwiseProduct(p.A * v).norm(), D.cwiseProduct(e.impulse).norm());
    };
    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-9}) {
      const Solution s = solve(p, VecX::Constant(6, .3), tolerance, 100);
      ASSERT_EQ(s.status, Status::ok);
      EXPECT_LE(residual(s.v), tolerance);
      EXPECT_DOUBLE_EQ(s.residual, residual(s.v));
      const Solution before = solve(p, VecX::Constant(6, .3), tolerance, s.iterations - 1);
      EXPECT_GT(residual(before.v), tolerance);
    }
  }
}

TEST(Newton, IterationCapKeepsTheBestIterate) {
  std::mt19937 random(4);
  const Problem p = random_problem(random, 6, 6);
  const Solution s = solve(p, VecX::Constant(6, .5), 1e-12, 1);
  EXPECT_EQ(s.status, Status::not_converged);
  EXPECT_EQ(s.iterations, 1);
  EXPECT_LT(s.cost, evaluate(p, VecX::Constant(6, .5)).cost);
}

TEST(Newton, RandomStartsFindOneMinimizer) {  // T19: strictly convex, so 1e-6 in the norm of D⁻¹
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  double worst = 0;
  int most = 0;
  for (int problem = 0; problem < 10; ++problem) {
    const Problem p = random_problem(random, 6, 5);
    const VecX scale = p.A.diagonal().cwiseSqrt();
    const VecX v = solve(p, p.v_star, 1e-12, 100).v;
    for (int start = 0; start < 100; ++start) {
      const VecX v0 = VecX::NullaryExpr(6, [&] { return normal(random); });
      const Solution s = solve(p, v0, 1e-12, 100);
      ASSERT_FALSE(any(s.status, Status::not_converged | kFrozen));
      worst = std::max(worst, scale.cwiseProduct(s.v - v).norm());
      most = std::max(most, s.iterations);
    }
  }
  EXPECT_LT(worst, 1e-6);
  EXPECT_LT(most, 60);
  RecordProperty("worst", std::to_string(worst));
}

TEST(Newton, CostFallsAndGradientIsConsistent) {
  std::mt19937 random(6);
  const Problem p = random_problem(random, 6, 5);
  std::normal_distribution<double> normal;
  const VecX v = VecX::NullaryExpr(6, [&] { return .1 * normal(random); });
  // gradient and Hessian of ℓ_p by central differences, h = 1e-6 of the soft norm's scale squared
  const Evaluation e = evaluate(p, v);
  const double h = 1e-8;
  for (int i = 0; i < 6; ++i) {
    const Evaluation up = evaluate(p, v + h * VecX::Unit(6, i));
    const Evaluation down = evaluate(p, v - h * VecX::Unit(6, i));
    EXPECT_NEAR((up.cost - down.cost) / (2 * h), e.gradient()[i],
                1e-6 * e.gradient().norm() + 1e-16 * e.magnitude / h);
    EXPECT_LT(((up.gradient() - down.gradient()) / (2 * h) - e.hessian.col(i)).norm(),
              1e-5 * e.hessian.norm());
  }
  double last = e.cost;
  VecX now = v;
  for (int i = 0; i < 5; ++i) {
    const Solution s = solve(p, now, 0, 1);
    EXPECT_LE(s.cost, last + 1e-15 * e.magnitude);
    last = s.cost;
    now = s.v;
  }
}

TEST(Newton, BadNumbersAreFlagged) {
  std::mt19937 random(7);
  Problem p = random_problem(random, 3, 1);
  p.v_star[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(any(solve(p, VecX::Zero(3), 1e-6, 10).status, Status::bad_state));
  p = random_problem(random, 3, 1);
  p.rows.assign(1, {VecX::Unit(3, 0), ServoLaw{5e-3, 1, -1e6, -1e9, 1e9}});  // pushes away
  EXPECT_TRUE(
      any(solve(p, VecX::Zero(3), 1e-6, 10).status, Status::cholesky_failed | Status::bad_state));
}

}  // namespace
}  // namespace stiction::reference

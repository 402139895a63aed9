// Constants of joint limits: against the reference's text, and their closed forms.
#include "physics/constraint/limits.h"

#include <gtest/gtest.h>

#include <random>

#include "reference/law/row_laws.h"

namespace stiction::test {
namespace {

using physics::kRowNearRigid;
using physics::limit_stiffness;
using physics::recovery_rate;

TEST(Limits, RecoveryRate) {
  const double cases[][3] = {// solref, 1/T
                             {.02, 1, 50},    {.05, .3, 20},   {1e-3, 1, 250},
                             {-400, -16, 25}, {-100, 0, 250},  {0, -5, 0},
                             {0, 0, 0},       {-1e6, -1, 250}, {-1, -1e3, 1e-3}};
  const double dt = .002;
  for (const auto& c : cases) {
    const float single[2] = {static_cast<float>(c[0]), static_cast<float>(c[1])};
    EXPECT_NEAR(recovery_rate(c, 1 / (2 * dt)), c[2], 1e-13 * c[2]) << c[0] << " " << c[1];
    EXPECT_NEAR(recovery_rate(single, 250.F), c[2], 1e-6 * c[2]) << c[0] << " " << c[1];
    EXPECT_NEAR(1 / reference::recovery_time(dt, {c[0], c[1]}), c[2], 1e-13 * c[2]);
  }
}

// R/w at the bounds of the law: 0.02, near-rigid, and nothing that is not a number between.
TEST(Limits, Stiffness) {
  EXPECT_DOUBLE_EQ(limit_stiffness(0., 1.), 50);
  EXPECT_DOUBLE_EQ(limit_stiffness(49.9, 1.), 50);
  EXPECT_DOUBLE_EQ(limit_stiffness(80., 1.), 80);
  const double rigid = 1 / kRowNearRigid;
  EXPECT_DOUBLE_EQ(limit_stiffness(1e8, 1.), rigid);
  EXPECT_DOUBLE_EQ(limit_stiffness(1., 0.), rigid);
  EXPECT_DOUBLE_EQ(limit_stiffness(0., 0.), rigid);
  EXPECT_FLOAT_EQ(limit_stiffness(3e38F, 1e-30F), static_cast<float>(rigid));
}

TEST(Limits, AgreeWithTheReference) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  int soft = 0, between = 0, stiff = 0;
  for (int i = 0; i < 3000; ++i) {
    const double dt = std::pow(10, -3 + unit(random)), w = std::pow(10, 3 * unit(random));
    const double T = reference::recovery_time(dt, {.03 * (1.01 + unit(random)), 1});
    const double depth = .01 * std::pow(10, unit(random));
    const double lower = .1 * unit(random), upper = .1 * unit(random);
    const double v = std::pow(10, 2 + 3 * unit(random)) * unit(random);
    const auto [l, u] = reference::solref_limits(dt, w, T, depth, lower, upper, v);
    const double demand = std::max({l.v_hat - v, u.v_hat + v, 0.});
    const double stiffness = limit_stiffness(demand, depth / T);
    EXPECT_NEAR(w / l.R, stiffness, 1e-13 * stiffness);
    EXPECT_EQ(l.R, u.R);
    EXPECT_DOUBLE_EQ(l.v_hat, lower < 0 ? -lower / T : -lower / dt);
    EXPECT_DOUBLE_EQ(u.v_hat, upper < 0 ? -upper / T : -upper / dt);
    // where nothing but near-rigidity bounds it, it gives way to no more than `depth` in T
    if (stiffness < .999 / kRowNearRigid) {
      EXPECT_LE(demand * T / (1 + stiffness), depth * (1 + 1e-12));
    }
    ++(stiffness <= 50 ? soft : stiffness < .999 / kRowNearRigid ? between : stiff);
  }
  EXPECT_GT(soft, 100);
  EXPECT_GT(between, 100);
  EXPECT_GT(stiff, 100);
}

}  // namespace
}  // namespace stiction::test

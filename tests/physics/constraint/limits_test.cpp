// Constants of joint limits: against the reference's text, and their closed forms.
#include "physics/constraint/limits.h"

#include <gtest/gtest.h>

#include <random>

#include "reference/law/row_laws.h"

namespace stiction::test {
namespace {

using physics::kLimitRigid;
using physics::limit_stiffness;

TEST(Recovery, AgreesWithTheReference) {
  const double cases[][2] = {{.02, 1}, {.05, .3}, {1e-3, 1},  {-400, -16}, {-100, 0},
                             {0, -5},  {0, 0},    {-1e6, -1}, {-1, -1e3},  {.02, 0}};
  const double dt = .002;
  for (const auto& c : cases) {
    const float single[2] = {static_cast<float>(c[0]), static_cast<float>(c[1])};
    const reference::Recovery want = reference::recovery(dt, {c[0], c[1]});
    const physics::Recovery<double> wide = physics::recovery(c, dt);
    const physics::Recovery<float> narrow = physics::recovery(single, dt);
    EXPECT_NEAR(wide.k, want.k, 1e-14 * want.k) << c[0] << " " << c[1];
    EXPECT_NEAR(wide.b, want.b, 1e-14 * want.b) << c[0] << " " << c[1];
    EXPECT_NEAR(narrow.k, want.k, 1e-6 * want.k) << c[0] << " " << c[1];
    EXPECT_NEAR(narrow.b, want.b, 1e-6 * want.b) << c[0] << " " << c[1];
    for (const double u0 : {0., 3.}) {
      const double speed = reference::return_speed(want, dt, .1, u0);
      EXPECT_NEAR(physics::return_speed(wide, dt, .1, u0), speed, 1e-14 * speed);
    }
  }
}

// R/w at the bounds of the law: 0.02, kLimitRigid, and nothing that is not a number between.
TEST(Limits, Stiffness) {
  EXPECT_DOUBLE_EQ(limit_stiffness(0., 1.), 50);
  EXPECT_DOUBLE_EQ(limit_stiffness(49.9, 1.), 99.9);
  EXPECT_DOUBLE_EQ(limit_stiffness(80., .5), 210);
  const double rigid = 1 / kLimitRigid;
  EXPECT_DOUBLE_EQ(limit_stiffness(1e8, 1.), rigid);
  EXPECT_DOUBLE_EQ(limit_stiffness(1., 0.), rigid);
  EXPECT_DOUBLE_EQ(limit_stiffness(0., 0.), rigid);
  EXPECT_FLOAT_EQ(limit_stiffness(3e38F, 1e-30F), static_cast<float>(rigid));
}

TEST(Limits, AgreeWithTheReference) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  physics::ModelView m{};
  int soft = 0, between = 0, stiff = 0;
  for (int i = 0; i < 3000; ++i) {
    const double dt = m.opt.timestep = std::pow(10, -3 + unit(random)),
                 w = std::pow(10, 3 * unit(random));
    const double solref[2] = {.03 * (1.01 + unit(random)), 1};
    const reference::Recovery back = reference::recovery(dt, {solref[0], solref[1]});
    const double depth = .01 * std::pow(10, unit(random));
    const double lower = .1 * unit(random), upper = .1 * unit(random);
    const double v0 = 10 * unit(random), v = std::pow(10, 2 + 3 * unit(random)) * unit(random);
    const auto [l, u] = reference::solref_limits(dt, w, back, depth, lower, upper, v0, v);
    const physics::LimitLaw<double> law =
        physics::limit_law<double>(m, lower, upper, solref, w, v0, v, depth);
    const double stiffness = w / l.R;
    EXPECT_NEAR(w * law.inv_R, stiffness, 1e-12 * stiffness);
    EXPECT_EQ(l.R, u.R);
    EXPECT_NEAR(law.lower, l.v_hat, 1e-13 * std::abs(l.v_hat));
    EXPECT_NEAR(law.upper, u.v_hat, 1e-13 * std::abs(u.v_hat));
    ++(stiffness <= 60 ? soft : stiffness < .999 / kLimitRigid ? between : stiff);
  }
  EXPECT_GT(soft, 100);
  EXPECT_GT(between, 100);
  EXPECT_GT(stiff, 100);
}

}  // namespace
}  // namespace stiction::test

// Rows with one constraint velocity: derivatives at random parameters, closed forms.
#include "reference/law/row_laws.h"

#include <gtest/gtest.h>

#include <random>

namespace stiction::reference {
namespace {

// Central differences with h = 1e-6 of the law's scale; pieces are polynomials of degree <= 2, so
// only round-off (1e-16/1e-6) is left.
void expect_derivatives(const RowLaw& law, double v, double scale) {
  const double h = 1e-6 * scale;
  const Scalar e = evaluate(law, v), up = evaluate(law, v + h), down = evaluate(law, v - h);
  const double size = std::abs(e.impulse) + e.hessian * scale;
  EXPECT_NEAR((up.cost - down.cost) / (2 * h), -e.impulse,
              1e-8 * size + 1e-16 * std::abs(e.cost) / h);
  if (up.hessian == down.hessian) {  // not across a kink of the impulse
    EXPECT_NEAR((up.impulse - down.impulse) / (2 * h), -e.hessian, 1e-8 * (size / scale));
  }
  EXPECT_GE(e.hessian, 0);
}

TEST(RowLaws, DerivativesAtRandomParameters) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  int active[4] = {0, 0, 0, 0};
  for (int i = 0; i < 3000; ++i) {
    const double dt = std::pow(10, -2.5 + .5 * unit(random)), w = std::pow(10, unit(random));
    const double v = unit(random);
    const LimitLaw limit = limit_law(dt, w, 2 * dt * unit(random));
    expect_derivatives(limit, v, 1);
    active[0] += limit.at(v).impulse > 0;
    const auto [lower, upper] =
        solref_limits(dt, w, recovery(dt, {.02, 1}), .01, .01 * unit(random), .01 * unit(random),
                      unit(random), 10 * unit(random));
    expect_derivatives(lower, v, 1);
    expect_derivatives(upper, v, 1);
    active[3] += upper.at(v).impulse > 0;

    const double kappa = std::pow(10, 1 + unit(random)), effort = 10 * (1 + unit(random));
    const ServoLaw servo{dt, 20 * unit(random), kappa, -effort, .5 * effort};
    expect_derivatives(servo, v, 1);
    active[1] += servo.at(v).hessian > 0;

    const DryFrictionLaw dry{1e-3 * w, dt * (1 + unit(random)), 1e-3 * w * dt * unit(random)};
    const double slow = std::pow(10, -3 + 2 * unit(random)) * v;
    expect_derivatives(dry, slow, 1e-3);
    active[2] += dry.at(slow).hessian > 0;
  }
  for (const int n : active) {
    EXPECT_GT(n, 100);
    EXPECT_LT(n, 2900);
  }
}

TEST(RowLaws, CostIsContinuousAtTheBounds) {
  const ServoLaw servo{.01, 3, 7, -2, 1};
  const DryFrictionLaw dry{1e-3, .02};
  for (const double v : {(3. - 1.) / 7, (3. + 2.) / 7})
    EXPECT_NEAR(servo.at(v - 1e-9).cost, servo.at(v + 1e-9).cost, 1e-9);
  for (const double v : {1e-3 * .02, -1e-3 * .02})
    EXPECT_NEAR(dry.at(v - 1e-12).cost, dry.at(v + 1e-12).cost, 1e-12);
}

TEST(RowLaws, LimitConstants) {  // β²/4π² = 2.533029591058444e-4
  EXPECT_NEAR(near_rigid_factor(.1), 2.533029591058444e-4, 2e-19);
  const LimitLaw limit = limit_law(1e-3, 1, -1e-3);
  EXPECT_NEAR(limit.R, 2.533029591058444e-4, 2e-19);
  EXPECT_DOUBLE_EQ(limit.v_hat, .5);
  EXPECT_EQ(limit.at(.6).impulse, 0);
  // a body of 10^12 kg under a microsecond is as rigid as any other
  EXPECT_DOUBLE_EQ(limit_law(1e-6, 1e-12, -1e-6).R, 1e-12 * limit.R);
}

TEST(RowLaws, RecoveryOfASolref) {
  const double dt = .01;
  const auto expect = [&](const std::array<double, 2>& solref, double k, double b) {
    const Recovery r = recovery(dt, solref);
    EXPECT_DOUBLE_EQ(r.k, k) << solref[0] << " " << solref[1];
    EXPECT_DOUBLE_EQ(r.b, b) << solref[0] << " " << solref[1];
  };
  expect({.1, 1}, 100, 20);       // T = .1: 1/T², 2/T
  expect({.1, .5}, 400, 20);      // T = .05, 2 ζ/T
  expect({.001, 1}, 2500, 100);   // T = 2 δt
  expect({-100, -40}, 100, 40);   // direct
  expect({-1e6, -40}, 2500, 40);  // 1/√k = 2 δt
  expect({0, -40}, 0, 40);        // a damper alone never returns
  EXPECT_DOUBLE_EQ(return_speed({100, 20}, dt, .2, 0), .2 / 1.21);
  EXPECT_DOUBLE_EQ(return_speed({100, 20}, dt, .2, 1), 1.2 / 1.21);
  EXPECT_EQ(return_speed({0, 40}, dt, .2, 0), 0);
}

TEST(RowLaws, LimitsThatReturnInTheirOwnTime) {
  const double dt = .01, w = .5;
  const Recovery back = recovery(dt, {.1, 1});
  const double u = .2 / 1.21;
  const auto [lower, upper] = solref_limits(dt, w, back, .01, -.2, .3, 0, u - .1);
  EXPECT_DOUBLE_EQ(lower.v_hat, u);    // violated: returns as the oscillator
  EXPECT_DOUBLE_EQ(upper.v_hat, -30);  // approached: reached in this step, not passed
  // it may miss the demand of 0.1 rad/s by .01/1.21 rad/s
  EXPECT_DOUBLE_EQ(lower.R, w / (50 + .1 * 121));
  EXPECT_DOUBLE_EQ(solref_limits(dt, w, back, .01, -.2, .3, 0, u - 8).lower.R, w / (50 + 8 * 121));
  // what returns goes on, what still comes in is stopped
  EXPECT_DOUBLE_EQ(solref_limits(dt, w, back, .01, -.2, .3, 1, 0).lower.v_hat, 1.2 / 1.21);
  EXPECT_DOUBLE_EQ(solref_limits(dt, w, back, .01, -.2, .3, -1, 0).lower.v_hat, u);
  EXPECT_DOUBLE_EQ(solref_limits(dt, w, back, .01, .3, -.2, -1, 0).upper.v_hat, 1.2 / 1.21);
  // and no further than to the limit in a step
  EXPECT_DOUBLE_EQ(solref_limits(dt, w, back, .01, -.2, .3, 50, 0).lower.v_hat, 20);
}

TEST(RowLaws, ServoOfT44) {  // Kp = 100, Kd = 10, dt = .01: 1/G = 1/(dt κ) = 9.0909…
  const ServoLaw servo{.01, 100, .01 * 100 + 10, -1e9, 1e9};
  EXPECT_NEAR(1 / servo.at(0).hessian, 9.090909090909091, 1e-14);
  EXPECT_NEAR(servo.at(0).impulse, 1, 1e-15);
}

TEST(RowLaws, NearRigidGains) {  // T45: dt = .015, w = 1.6, Kd/Kp = .13
  const double dt = .015, w = 1.6, R = near_rigid_factor(.1) * w;
  for (const double kp : {1e8, 1e7, 10.}) {
    const ServoGains g = near_rigid_gains({kp, .13 * kp}, dt, w);
    EXPECT_NEAR(g.kd / g.kp, .13, 1e-15);
    const double inverse = 1 / (dt * (dt * g.kp + g.kd));
    if (kp < 1e3) {  // soft enough as it is
      EXPECT_EQ(g.kp, kp);
      EXPECT_GT(inverse, R);
    } else {  // and Drake's form for Kd > dt Kp
      EXPECT_NEAR(inverse, R, 1e-15 * R * 4);
      EXPECT_NEAR(g.kd, 1 / (dt * (1 + dt / .13) * R), 1e-12 * g.kd);
    }
  }
  const ServoGains damper = near_rigid_gains({0, 1e9}, dt, w);
  EXPECT_EQ(damper.kp, 0);
  EXPECT_NEAR(damper.kd, 1 / (dt * R), 1e-12 * damper.kd);
}

}  // namespace
}  // namespace stiction::reference

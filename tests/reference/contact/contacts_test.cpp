// Activation rule and the two maps of an anchor: turned before the solve, advanced after it.
#include "reference/contact/contacts.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace stiction::reference {
namespace {

constexpr double kDt = .002, kEps = 1e-4;
constexpr double kReach = kAnchorReach * kEps * kAnchorTime * kDt;

Vec3 random_vector(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return {normal(random), normal(random), normal(random)};
}

TEST(Anchor, SpinTurnsAboutTheNormal) {
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), n = Vec3::UnitZ();
  // sine and cosine to one unit in the last place
  EXPECT_LT((spin_anchor(3 * x, n, .5 * std::numbers::pi) - 3 * y).norm(), 1e-15);
  EXPECT_LT((spin_anchor(x, n, .1) - (std::cos(.1) * x + std::sin(.1) * y)).norm(), 1e-15);
  EXPECT_EQ(spin_anchor(Vec3::Zero(), n, .1), Vec3::Zero());
}

// Length kept, tangent to the new normal: a dozen roundings, 1e-15 of the length.
TEST(Anchor, SpinKeepsTheLengthInTheNewPlane) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 n = random_vector(random).normalized(), z = 1e-6 * random_vector(random);
    const Vec3 turned = spin_anchor(z, n, .01 * random_vector(random).x());
    ASSERT_NEAR(turned.norm(), z.norm(), 1e-15 * z.norm());
    // the projection cancels the normal part of z: round-off relative to z over what is left
    const double left = (z - n.dot(z) * n).norm() / z.norm();
    ASSERT_LT(std::abs(turned.dot(n)), 1e-15 * z.norm() / left);
  }
  // nothing is left of an anchor along the normal
  EXPECT_EQ(spin_anchor(Vec3::UnitZ(), Vec3::UnitZ(), .3), Vec3::Zero());
}

TEST(Anchor, AdvanceIntegratesSlip) {
  const Vec3 z(1e-7, 2e-7, 0), slip(3e-5, -1e-5, 0);
  EXPECT_EQ(advance_anchor(z, slip, kDt, .01, kEps), Vec3(z + kDt * slip));
  EXPECT_EQ(advance_anchor(z, slip, kDt, 0, kEps), Vec3::Zero());
}

TEST(Anchor, AdvanceStopsAtTheReach) {
  std::mt19937 random(2);
  int clamped = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 z = .3 * kReach * random_vector(random);
    const Vec3 slip = .3 * kReach / kDt * random_vector(random);
    const Vec3 free = z + kDt * slip, next = advance_anchor(z, slip, kDt, .01, kEps);
    ASSERT_LE(next.norm(), kReach * (1 + 1e-15));  // the last bit of a product
    if (free.norm() <= kReach) {
      ASSERT_EQ(next, free);
    } else {
      ++clamped;
      ASSERT_NEAR(next.norm(), kReach, 1e-15 * kReach);
      ASSERT_LT(next.cross(free).norm(), 1e-15 * next.norm() * free.norm());
    }
  }
  EXPECT_GT(clamped, 100);
  EXPECT_LT(clamped, 900);
}

// φ0 <= 2 horizon max(0, −z(J v0), −z(J v*)) + 8 |g| δt², at both sides of each of the three bounds;
// z = v_n for Lagged, v_n − μ |v_t| for the laws that glide.
TEST(Activation, PointThatMayAct) {
  Model m;
  m.gravity = {3, 0, -4};
  m.pair_relaxation_time = {.03};
  ContactPoint c;
  const double mu = .6;
  c.friction << .2, mu;
  const double fall = 8 * 5 * kDt * kDt, speed = .7;
  for (const auto model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap}) {
    Options o;
    o.contact_model = model;
    const Reach r = reach(m, o, kDt, c);
    const double approach = 2 * (model == ContactModel::sap ? kDt + .03 : kDt) * speed;
    const auto act = [&](double gap, const Vec3& v0, const Vec3& v_star) {
      return may_act(m, kDt, r, gap, {v0, v_star});
    };
    for (const double share : {.999, 1.001}) {
      const bool active = share < 1;
      const double gap = fall + share * approach;
      EXPECT_EQ(act(share * fall, {0, 0, 1}, {0, 0, 2}), active);  // both separate
      EXPECT_EQ(act(gap, {0, 0, -speed}, {0, 0, 2}), active);
      EXPECT_EQ(act(gap, {0, 0, 1}, {0, 0, -speed}), active);
      EXPECT_EQ(act(gap, {0, 0, -.5 * speed}, {0, 0, -speed}), active);

      // slip alone: only the gliding laws push
      const Vec3 slip = Vec3(.6, -.8, 0) * (speed / mu);
      EXPECT_EQ(act(gap, slip, {0, 0, 1}), active && model != ContactModel::lagged);
    }
  }
  m.gravity = {0, 0, 0};
  const Reach r = reach(m, Options{}, kDt, c);
  EXPECT_TRUE(may_act(m, kDt, r, 0, {Vec3::Zero()}));
  EXPECT_FALSE(may_act(m, kDt, r, 1e-15, {Vec3::Zero()}));
}

// A barrier acts from its distance on, also at rest; that of the logarithm everywhere.
TEST(Activation, BarriersReachFurther) {
  Model m;
  m.gravity = {0, 0, 0};
  Options o;
  o.normal_law = NormalLaw::ipc_barrier;
  o.barrier_distance = .01;
  EXPECT_TRUE(may_act(m, kDt, reach(m, o, kDt, {}), .0099, {Vec3::Zero()}));
  EXPECT_FALSE(may_act(m, kDt, reach(m, o, kDt, {}), .0101, {Vec3::Zero()}));
  EXPECT_TRUE(may_act(m, kDt, reach(m, o, kDt, {}), .0101, {{0, 0, -1}}));
  o.normal_law = NormalLaw::log_barrier;
  EXPECT_TRUE(may_act(m, kDt, reach(m, o, kDt, {}), 1e6, {Vec3::Zero()}));
}

}  // namespace
}  // namespace stiction::reference

// A ball on a floor by the text of one contact point, without the engine around it: heights against closed forms, and each
// step's law and state against the reference's.
#include "physics/contact/rebound.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "physics/contact/points.h"
#include "reference/contact/rebound.h"

namespace stiction::test {
namespace {

using namespace physics;
constexpr double kGravity = 9.81, kMass = 0.7;

struct Scene {
  double e, k, dt, d = 20, height = 1;
  ContactModel model = ContactModel::lagged;
};

// One body, one point with the normal z.
class Ball {
 public:
  explicit Ball(const Scene& s) : scene(s), z(s.height) {
    m.opt.timestep = s.dt, m.opt.contact_model = static_cast<int>(s.model);
    m.opt.near_rigid = 1, m.opt.regularization = 1e-3;
    m.nrebound = m.nreboundpair = m.nslot = m.npair = 1;
    m.slot_pair = &zero;
    v.point_slot = &zero, v.npoint = &one;
    v.gravity = gravity.data(), v.rebound = &rebound, v.point_approach = &approach;
    v.pair_restitution = &scene.e, v.pair_stiffness = &scene.k, v.pair_relaxation_time = &tau;
    v.point_law = law.data(), v.point_normal = normal.data(), v.point_w = &w;
    v.point_impulse = impulse.data(), v.point_vel = point_vel.data();

    model.gravity = {0, 0, -kGravity}, model.pair_relaxation_time = {tau};
    options.timestep = s.dt, options.contact_model = s.model;
    point.restitution = s.e, point.stiffness = s.k, point.dissipation = s.d, point.w = w;
  }

  void step() {
    const double free = speed - scene.dt * kGravity, v_n0 = speed;
    const NormalConstants<double> usual = {z, scene.k, scene.d, 0, false};
    const NormalConstants<double> n = rebound_law(m, v, 0, 0, usual, v_n0, w, true);
    agrees(n);
    if (scene.model == ContactModel::sap)
      sap_constants(m, v, 0, n, w, scene.dt + tau, true);
    else
      hunt_crossley_constants(m, v, 0, n.gap, resolved_stiffness(m, n.k, n.d, n.gap, w), n.d, true);
    law[0] += n.shift;
    const SlipLaw<double> slip = {0, 0, 1, law[1], law[2], law[3], n.d, scene.dt};
    const auto push = [&](double u) {
      return slip_law(m.opt.contact_model, slip, u - law[0], 0.0).impulse;
    };

    // u = free + w push(u) by bisection: push falls with u
    double low = free, high = std::max(free, law[0]);
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (middle < free + w * push(middle) ? low : high) = middle;
    }
    speed = (low + high) / 2;
    impulse[2] = push(speed), point_vel[2] = speed;
    const double next = reference::next_rebound(model, options, point, v_n0, speed, impulse[2]);
    advance_rebounds(TeamOfOne(), m, v, false);
    EXPECT_EQ(rebound, point.rebound);  // a step that is not taken
    approach = -v_n0;
    advance_rebounds(TeamOfOne(), m, v, true);
    EXPECT_EQ(rebound, next);
    z += scene.dt * speed;
  }

  // The highest points after the first bounces.
  std::vector<double> tops(int n) {
    std::vector<double> found;
    for (int i = 0; i < 20 / scene.dt && static_cast<int>(found.size()) < n; ++i) {
      const double before = speed, at = z;
      step();
      if (before > 0 && speed <= 0) found.push_back(std::max(at, 0.0));
    }
    return found;
  }

  Scene scene;
  double z, speed = 0, rebound = 0, approach = 0;

 private:
  void agrees(const NormalConstants<double>& n) {
    point.gap = z, point.rebound = rebound;
    const reference::NormalConstants usual = {z, scene.k, scene.d, 0};
    const reference::NormalConstants r =
        reference::rebound_law(model, options, usual, speed, point);
    EXPECT_DOUBLE_EQ(n.gap, r.gap);
    EXPECT_DOUBLE_EQ(n.k, r.k);
    EXPECT_DOUBLE_EQ(n.d, r.d);
    EXPECT_DOUBLE_EQ(n.shift, r.shift);
    EXPECT_EQ(n.rigid, r.rigid);
  }

  int zero = 0, one = 1;
  double w = 1 / kMass, tau = 0;
  std::array<double, 3> gravity{0, 0, -kGravity}, normal{0, 0, 1}, impulse{}, point_vel{};
  std::array<double, 4> law{};
  ModelView m{};
  EnvView<double> v{};
  Model model;
  Options options;
  reference::ContactPoint point;
};

// Share of the height h by which a rigid bounce may miss e² h: gravity before the surface, and the 0.2 % (1 + e)/e that the
// stiffness of its two steps leaves.
double lost(double dt, double e, double h) {
  const double v_a = std::sqrt(2 * kGravity * h);
  return 1.3 * (2 * dt * kGravity / v_a * e * e + 0.002 * e * (1 + e)) + 5e-4;
}

TEST(Rebound, ComesBackToTheSquareOfE) {
  for (const double k : {2e3, 2e4, 2e5, 1e6, 1e9})
    for (const double dt : {1e-4, 5e-4, 1e-3, 2e-3, 5e-3})
      for (const double e : {0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0})
        for (const double more : {0.0, 0.0013, 0.0057}) {
          const double h = 1 + more, soft = 4 / std::sqrt(2 * kGravity * k / kMass) * kGravity;
          const std::vector<double> top = Ball({e, k, dt, 20, h}).tops(1);
          ASSERT_EQ(top.size(), 1u);
          // gravity works on the way of a soft bounce, of about v_a/ω; else 2 δt g/v_a of the height is lost
          const bool is_soft = dt * dt * k / kMass < 1.0 / 64;
          EXPECT_NEAR(top[0], e * e * h, (is_soft ? 0.4 * soft + 0.012 * e : lost(dt, e, h)) * h)
              << "k " << k << " dt " << dt << " e " << e << " h " << h;
        }
}

TEST(Rebound, SapComesBackToo) {
  for (const double dt : {1e-4, 1e-3, 5e-3})
    for (const double e : {0.05, 0.5, 1.0}) {
      const std::vector<double> top = Ball({e, 1e6, dt, 0, 1, ContactModel::sap}).tops(1);
      ASSERT_EQ(top.size(), 1u);
      EXPECT_NEAR(top[0], e * e, lost(dt, e, 1)) << "dt " << dt << " e " << e;
    }
}

TEST(Rebound, NeverHigherThanItWas) {
  for (const double k : {2e4, 1e7})
    for (const double more : {0.0, 0.0011, 0.0023, 0.0038}) {
      double last = 1 + more;
      for (const double top : Ball({1, k, 5e-4, 20, last}).tops(8)) {
        EXPECT_LE(top, last + kGravity * 5e-4 * 5e-4 / 8);  // where its steps fall on the flight
        last = top;
      }
      EXPECT_GT(last, 0.9);
    }
}

TEST(Rebound, RestsOnceGravityAloneBringsItDown) {
  for (const double k : {2e3, 2e4, 1e7}) {
    Ball ball({0.8, k, 1e-3, 20, 0.1});
    for (int i = 0; i < 6000; ++i) ball.step();
    EXPECT_EQ(ball.rebound, kPressed) << k;
    EXPECT_NEAR(ball.speed, 0, 1e-4) << k;
    EXPECT_NEAR(ball.z, -kMass * kGravity / k, 1e-5 + 0.05 * kMass * kGravity / k) << k;
  }
}

TEST(Rebound, DissipationOfARestitution) {
  for (double e = 0.02; e < 1; e += 0.02) {
    double low = 1e-9, high = (1 - 1e-12) / e;
    for (int i = 0; i < 200; ++i) {
      const double y = (low + high) / 2;
      (y * (1 + e) > std::log((1 + y) / (1 - e * y)) ? low : high) = y;
    }
    EXPECT_NEAR(dissipation_of(e) / low, 1, 0.016) << e;
    EXPECT_DOUBLE_EQ(dissipation_of(e), reference::dissipation_of(e));
  }
  EXPECT_NEAR(dissipation_of(1.0), 0, 1e-15);
}

}  // namespace
}  // namespace stiction::test

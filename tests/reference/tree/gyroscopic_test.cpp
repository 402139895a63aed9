// Tops: the implicit gyroscopic torque against closed forms, and its order.
#include "reference/tree/gyroscopic.h"

#include <gtest/gtest.h>

#include <sstream>

#include "stiction/model.h"
#include "stiction/reference.h"

namespace stiction::test {
namespace {

struct Motion {
  std::vector<double> qpos, qvel;
};

Motion run(const ModelPtr& model, double dt, double seconds, Motion s) {
  Options o;
  o.timestep = dt;
  const Reference ref(model, o);
  for (int k = 0; k < std::lround(seconds / dt); ++k) {
    const StepResult r = ref.step(s.qpos, s.qvel);
    EXPECT_FALSE(any(r.status, kFrozen));
    s = {r.qpos, r.qvel};
  }
  return s;
}

ModelPtr model_of(const std::string& gravity, const std::string& body) {
  return load_model_from_string("<mujoco><option gravity='0 0 " + gravity + "'/><worldbody>" +
                                body + "</worldbody></mujoco>");
}

// With ω3 along the axis of symmetry the rest of ω turns about it, in the body, at (I3 − I1)/I1 ω3.
TEST(GyroscopicTops, ASymmetricTopPrecessesAsItShould) {
  for (const double I3 : {0.2, 0.9, 1.1, 1.9}) {
    std::ostringstream body;
    body << "<body><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 " << I3
         << "'/></body>";
    const ModelPtr model = model_of("0", body.str());
    const double w1 = 3, w3 = 5, rate = (I3 - 1) * w3;
    const auto error = [&](double dt) {
      const Motion end = run(model, dt, 2, {model->qpos0, {0, 0, 0, w1, 0, w3}});
      EXPECT_NEAR(end.qvel[5], w3, 1e-10);
      EXPECT_NEAR(std::hypot(end.qvel[3], end.qvel[4]), w1, 1e-10);
      return std::abs(std::remainder(std::atan2(end.qvel[4], end.qvel[3]) - 2 * rate, 2 * M_PI));
    };
    // a step turns by 2 atan(x) for 2 x, and s is wrong by (δt |Ω|)²/12
    const double coarse = error(0.02), fine = error(0.01);
    EXPECT_LT(coarse, 2 * std::abs(rate) * 0.02 * 0.02 * (w1 * w1 + w3 * w3)) << I3;
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.02) << I3;
  }
}

// A top on a ball joint in steady precession: I3 ω3 φ' − I1 φ'² cos θ = m g l.
TEST(GyroscopicTops, AHeavyTopPrecessesSteadily) {
  const double m = 1, l = 0.2, c = 0.01, I3 = 0.02, I1 = c + m * l * l, theta = 0.5, g = 9.81;
  const double precession = 1.5, seconds = 4;
  std::ostringstream body;
  body << "<body><joint type='ball'/><inertial pos='0 0 " << l << "' mass='" << m
       << "' diaginertia='" << c << ' ' << c << ' ' << I3 << "'/></body>";
  const ModelPtr model = model_of("-9.81", body.str());
  const double w3 =
      (m * g * l + I1 * precession * precession * std::cos(theta)) / (I3 * precession);
  const Quat tilt(std::cos(theta / 2), std::sin(theta / 2), 0, 0);
  Vec3 omega = tilt.conjugate() * Vec3(0, 0, precession);
  omega.z() = w3;
  struct Error {
    double tilt, azimuth;
  };
  const auto error = [&](double dt) {
    const Motion end =
        run(model, dt, seconds, {{tilt.w(), tilt.x(), 0, 0}, {omega.x(), omega.y(), w3}});
    const Vec3 axis = row4(end.qpos, 0) * Vec3(0, 0, 1), start = tilt * Vec3(0, 0, 1);
    EXPECT_NEAR(end.qvel[2], w3, 1e-9 * w3);  // nothing turns it about its axis
    const double turned = std::atan2(axis.y(), axis.x()) - std::atan2(start.y(), start.x());
    return Error{std::abs(std::acos(axis.z()) - theta),
                 std::abs(std::remainder(turned - precession * seconds, 2 * M_PI))};
  };
  // 64 rad/s, so that a step turns it by 0.13 and 0.06 rad: it nods by the first order, and drifts by none
  const Error coarse = error(0.002), fine = error(0.001);
  EXPECT_LT(coarse.tilt, 2e-3);
  EXPECT_LT(coarse.azimuth, 4e-3);
  EXPECT_LT(fine.tilt, 0.6 * coarse.tilt);
  EXPECT_LT(fine.azimuth, 0.6 * coarse.azimuth);
}

// Second order, in place and velocity, also where the frame is not at the centre of mass.
TEST(GyroscopicTops, ConvergesAtSecondOrder) {
  for (const char* joint : {"<freejoint/>", "<joint type='ball' pos='.1 .2 0'/>"}) {
    const ModelPtr model = model_of("0", std::string("<body>") + joint +
                                             "<inertial pos='.3 -.1 .2' mass='1' quat='.8 .2 -.4 "
                                             ".1' diaginertia='.03 .02 .012'/></body>");
    std::vector<double> v(at(model->nv), 0.5);
    v[at(model->nv - 3)] = 4, v[at(model->nv - 2)] = -3, v[at(model->nv - 1)] = 2;
    const auto at_end = [&](double dt) {
      const Motion s = run(model, dt, 1, {model->qpos0, v});
      VecX x(model->nq + model->nv);
      x << Eigen::Map<const VecX>(s.qpos.data(), model->nq),
          Eigen::Map<const VecX>(s.qvel.data(), model->nv);
      return x;
    };
    const VecX exact = at_end(1.0 / 8192);
    const double coarse = (at_end(1.0 / 128) - exact).norm(),
                 fine = (at_end(1.0 / 256) - exact).norm();
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.05) << joint;
  }
}

// A ball joint that a light body carries: explicit, it gains by the first order of δt. The law of a rigid carrier throws
// it within a second.
TEST(GyroscopicTops, ABallOnALightBodyKeepsItsEnergy) {
  for (const double mass : {.0005, .05, 1., 5.}) {
    std::ostringstream body;
    body << R"(<body><freejoint/><geom type="capsule" fromto="0 0 0 0 0 -.1" size=".01" mass=".05"/>
      <body pos="0 0 -.1"><joint type="ball"/><geom size=".1" pos="0 0 -.2" mass=")"
         << mass << R"("/></body></body>)";
    const ModelPtr model = model_of("0", body.str());
    const Reference ref(model);
    const std::vector<double> v = {0, 0, 0, 0, 0, 0, 3, 0, 3};
    const double start = ref.forward(model->qpos0, v).energy_kinetic;
    for (const double dt : {.001, .002}) {
      const Motion end = run(model, dt, 5, {model->qpos0, v});
      EXPECT_LT(ref.forward(end.qpos, end.qvel).energy_kinetic, (1 + 40 * dt) * start)
          << mass << " " << dt;
    }
  }
}

}  // namespace
}  // namespace stiction::test

// Whole steps through the public class: known motions, status bits, bad arguments, threads.
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "stiction/error.h"
#include "stiction/reference.h"

namespace stiction {
namespace {

constexpr double kGravity = 9.81;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
using Numbers = std::vector<double>;

// A ball of 1 kg and 0.125 m that touches the ground, k = 1e5 N/m, d = 10 s/m.
constexpr const char* kBall = R"(
<mujoco>
  <option timestep="0.001"/>
  <custom><numeric name="stiction_contact/ball" data="1e5 10"/></custom>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1"/>
    <body pos="0 0 0.125">
      <freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.00625 0.00625 0.00625"/>
      <geom name="ball" size="0.125"/>
    </body>
  </worldbody>
</mujoco>)";

// A slide with a motor and a servo, far from anything.
constexpr const char* kSlider = R"(
<mujoco>
  <option gravity="0 0 0" timestep="0.01"/>
  <worldbody>
    <body>
      <joint name="x" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
    </body>
    <body>
      <joint name="y" type="slide" axis="0 1 0" limited="true" range="-1 1"/>
      <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
    </body>
  </worldbody>
  <actuator><motor joint="x"/><position joint="y" kp="100" kv="5"/></actuator>
</mujoco>)";

Reference reference(const char* xml, const Options& options = {}) {
  return Reference(load_model_from_string(xml), options);
}

// One input; `numbers` has to outlive the call it is for.
using Field = std::span<const double> Inputs::*;
Inputs given(Field field, const Numbers& numbers, Inputs in = {}) {
  in.*field = numbers;
  return in;
}

// The ball at height `z` above touching, moving with (vx, 0, vz).
struct BallState {
  Numbers qpos, qvel;
};
BallState ball(double z, double vx = 0, double vz = 0) {
  return {{0, 0, 0.125 + z, 1, 0, 0, 0}, {vx, 0, vz, 0, 0, 0}};
}

StepResult run(const Reference& engine, BallState& s, int steps) {
  StepResult r;
  for (int i = 0; i < steps; ++i) {
    r = engine.step(s.qpos, s.qvel);
    s = {r.qpos, r.qvel};
  }
  return r;
}

TEST(Step, FreeFallIsExact) {
  const Reference engine = reference(kBall);
  const BallState s = ball(2, 0.5, -1);
  const StepResult r = engine.step(s.qpos, s.qvel);
  // one rounding each of the product and of the sum
  const double vz = -1 - 0.001 * kGravity;
  EXPECT_DOUBLE_EQ(r.qvel[2], vz);
  EXPECT_DOUBLE_EQ(r.qpos[2], 2.125 + 0.001 * vz);
  EXPECT_EQ(r.qvel[0], 0.5);
  EXPECT_EQ(r.iterations, 0);
  EXPECT_TRUE(r.contacts.empty());
  EXPECT_EQ(r.status, Status::ok);
}

TEST(Step, BallRestsAtWeightOverStiffness) {
  Options options;
  options.solver_tolerance = 1e-14;
  const Reference engine = reference(kBall, options);
  BallState s = ball(0);
  const StepResult r = run(engine, s, 1000);
  // sqrt(k/m) = 316/s with d = 10 s/m and steps of 1 ms: settled to round-off of the height
  EXPECT_NEAR(s.qpos[2] - 0.125, -kGravity / 1e5, 1e-15);
  ASSERT_EQ(r.contacts.size(), 1u);
  EXPECT_NEAR(r.contacts[0].impulse[2], 0.001 * kGravity, 1e-13);
  EXPECT_NEAR(r.xfrc_contact[6 + 2], kGravity, 1e-10);
  EXPECT_NEAR(r.xfrc_contact[2], -kGravity, 1e-10);
}

TEST(Step, IsAFunctionOfItsArguments) {
  const Reference engine = reference(kBall);
  const BallState s = ball(-1e-3, 1, -0.5);
  const StepResult first = engine.step(s.qpos, s.qvel);
  BallState other = ball(0.01, 3, -20);
  run(engine, other, 10);
  const StepResult again = engine.step(s.qpos, s.qvel);
  EXPECT_EQ(first.qpos, again.qpos);
  EXPECT_EQ(first.qvel, again.qvel);
  EXPECT_EQ(first.residual, again.residual);
}

TEST(Step, BadControlCountsAsZero) {
  const Reference engine = reference(kSlider);
  const Numbers q{0, 0.2}, v{1, 0}, ctrl{0, 0.5};
  const Inputs good = given(&Inputs::ctrl, ctrl);
  const StepResult zero = engine.step(q, v, good);
  EXPECT_EQ(zero.status, Status::ok);

  Numbers wrench(18, 0.0);
  wrench[6] = -kInf;
  const auto counts_as_zero = [&](const Inputs& inputs) {
    const StepResult r = engine.step(q, v, inputs);
    EXPECT_EQ(r.status, Status::bad_control);
    EXPECT_EQ(r.qvel, zero.qvel);
  };
  counts_as_zero(given(&Inputs::ctrl, Numbers{kNan, 0.5}));
  counts_as_zero(given(&Inputs::qfrc_applied, Numbers{kInf, 0}, good));
  counts_as_zero(given(&Inputs::xfrc_applied, wrench, good));
}

void expect_frozen(const StepResult& r, const Numbers& q, const Numbers& v, Status bit) {
  EXPECT_TRUE(any(r.status, bit)) << static_cast<unsigned>(r.status);
  EXPECT_EQ(r.qpos, q);
  EXPECT_EQ(r.qvel, v);
  for (const double x : r.gen_impulse) EXPECT_TRUE(std::isfinite(x));
}

TEST(Step, DivergedStatesAreKept) {
  const Reference engine = reference(kSlider);
  const Numbers q{0, 0.2};
  // too fast at the start; pushed over the limit within the step; too far away
  expect_frozen(engine.step(q, Numbers{2e8, 0}), q, Numbers{2e8, 0}, Status::velocity_limit);
  expect_frozen(engine.step(q, Numbers{1, 0}, given(&Inputs::qfrc_applied, Numbers{1e12, 0})), q,
                Numbers{1, 0}, Status::velocity_limit);
  const Numbers far{2e10, 0.2};
  expect_frozen(engine.step(far, Numbers{0, 0}), far, Numbers{0, 0}, Status::bad_state);
  // overflow inside the step
  expect_frozen(engine.step(q, Numbers{1, 0}, given(&Inputs::qfrc_applied, Numbers{1e308, 1e308})),
                q, Numbers{1, 0}, Status::bad_state | Status::velocity_limit);
}

TEST(Step, IterationCapKeepsTheBestIterate) {
  const BallState s = ball(-1e-3, 2, -3);
  Options options;
  options.friction_iterations = 1;
  const StepResult solved = reference(kBall, options).step(s.qpos, s.qvel);
  EXPECT_EQ(solved.status, Status::ok);
  ASSERT_GT(solved.iterations, 1);

  double last = kInf;
  for (const int most : {0, 1}) {
    options.max_iterations = most;
    const StepResult r = reference(kBall, options).step(s.qpos, s.qvel);
    EXPECT_EQ(r.status, Status::not_converged);
    EXPECT_EQ(r.iterations, most);
    EXPECT_GT(r.residual, 1e-6);
    EXPECT_LT(r.cost, last);
    EXPECT_LE(solved.cost, r.cost);
    if (most == 0) {
      EXPECT_EQ(r.qvel, s.qvel);  // the start velocity, and the step goes on
    }
    last = r.cost;
  }
}

// Two balls on one line: the first, hit hard, reaches the second within a step in which both seemed
// to rest well apart.
constexpr const char* kBilliards = R"(
<mujoco>
  <option gravity="0 0 0" timestep="0.01"/>
  <custom><numeric name="stiction_contact" data="1e7 0"/></custom>
  <worldbody>
    <body pos="0 0 0">
      <joint type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/>
    </body>
    <body pos="0.2 0 0">
      <joint type="slide" axis="1 0 0"/><geom size="0.1" mass="0.01"/>
    </body>
    <body pos="0.401 0 0">
      <joint type="slide" axis="1 0 0"/><geom size="0.1" mass="0.01"/>
    </body>
  </worldbody>
</mujoco>)";

TEST(Step, LateContactIsReported) {
  const Reference engine = reference(kBilliards);
  const Numbers q{0, 0, 0};
  const StepResult hit = engine.step(q, Numbers{5, 0, 0});
  EXPECT_EQ(hit.status, Status::late_contact);
  EXPECT_GT(hit.qpos[1] - hit.qpos[2], 0.001);  // through the gap
  const StepResult rest = engine.step(q, Numbers{0, 0, 0});
  EXPECT_EQ(rest.status, Status::ok);
}

TEST(Step, StalledIsReportedWhenToleranceIsOutOfReach) {
  Options options;
  options.friction_iterations = 1;
  options.solver_tolerance = 0;
  const BallState s = ball(-1e-3, 2, -3);
  const StepResult r = reference(kBall, options).step(s.qpos, s.qvel);
  EXPECT_EQ(r.status, Status::stalled);
  EXPECT_LT(r.residual, 1e-12);
}

TEST(Reference, RefusesAnchoredSap) {
  Options options;
  options.stiction = Stiction::anchored;
  options.contact_model = ContactModel::sap;
  EXPECT_THROW(reference(kBall, options), ArgumentError);
  options.contact_model = ContactModel::similar;
  EXPECT_NO_THROW(reference(kBall, options));
}

TEST(Reference, RefusesWrongSizesAndStates) {
  const Reference engine = reference(kSlider);
  const Numbers q{0, 0.2}, v{1, 0}, three(3, 0.0);
  const auto refused = [](auto&& call, const std::string& word) {
    try {
      call();
      ADD_FAILURE() << "accepted, expected an error about " << word;
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  refused([&] { engine.step(three, v); }, "qpos");
  refused([&] { engine.step(q, three); }, "qvel");
  refused([&] { engine.step(q, v, given(&Inputs::ctrl, three)); }, "ctrl");
  refused([&] { engine.step(q, v, given(&Inputs::qfrc_applied, three)); }, "qfrc_applied");
  refused([&] { engine.step(q, v, given(&Inputs::xfrc_applied, three)); }, "xfrc_applied");
  refused([&] { engine.step(q, v, given(&Inputs::mocap_pos, three)); }, "mocap_pos");
  refused([&] { engine.step(q, v, given(&Inputs::anchor, three)); }, "anchor");
  refused([&] { engine.step(Numbers{0, kNan}, v); }, "qpos[1]");
  refused([&] { engine.step(q, Numbers{kInf, 0}); }, "qvel[0]");
  refused([&] { engine.forward(three, v); }, "qpos");

  const Reference free = reference(kBall);
  BallState s = ball(0);
  s.qpos[3] = 0;
  refused([&] { free.step(s.qpos, s.qvel); }, "quaternion");
}

TEST(Reference, FourThreadsGiveTheSameBits) {
  const Reference engine = reference(kBall);
  const auto roll = [&engine] {
    BallState s = ball(0.01, 2, -1);
    run(engine, s, 300);
    s.qpos.insert(s.qpos.end(), s.qvel.begin(), s.qvel.end());
    return s.qpos;
  };
  const Numbers alone = roll();
  std::vector<std::future<Numbers>> threads;
  for (int i = 0; i < 4; ++i) threads.push_back(std::async(std::launch::async, roll));
  for (auto& t : threads) EXPECT_EQ(t.get(), alone);
}

}  // namespace
}  // namespace stiction

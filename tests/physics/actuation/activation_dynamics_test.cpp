// Activations and the forces that follow from them against the reference; the curves of a muscle and their slopes.
#include "physics/actuation/activation_dynamics.h"

#include <cmath>

#include "physics/actuation/actuator_models.h"
#include "physics/states.h"
#include "physics/step.h"

namespace stiction::test {
namespace {

const std::vector<Field> kWritten = {Field::act_next, Field::act_law, Field::act_length,
                                     Field::qfrc_smooth};

const NamedModel& muscles() {
  static const NamedModel model{"muscles", load_model_from_string(kMuscles)};
  return model;
}

// |a - b| <= tolerance (|b| + 1): single numbers, of which none makes another one small
void expect_each_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance,
                      const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * (std::fabs(b[i]) + 1)) << what << " " << i;
}

template <class S>
void compare(double tolerance) {
  const Model& m = *muscles().model;
  const Reference ref(muscles().model);
  RandomStates random(3);
  for (int i = 0; i < 100; ++i) {
    const State s = random(m);
    Env<S> env(m);
    set_state(env, s);
    kActuate(physics::TeamOfOne(), env.m(), env.e);
    const ForwardResult f = ref.forward(s.qpos, s.qvel, s.inputs());
    expect_each_near(env.get(Field::act_next), ref.step(s.qpos, s.qvel, s.inputs()).act, tolerance,
                     "act");
    const auto law = env.get(Field::act_law), length = env.get(Field::act_length),
               velocity = env.get(Field::act_velocity);
    std::vector<double> force;
    double scale = 1;
    for (std::size_t a = 0; a < length.size(); ++a) {
      force.push_back(law[3 * a] + law[3 * a + 1] * length[a] + law[3 * a + 2] * velocity[a]);
      scale = std::max({scale, std::fabs(law[3 * a]), std::fabs(law[3 * a + 2] * velocity[a])});
      if (m.actuator_forcelimited[a] != 0)
        force[a] =
            std::clamp(force[a], m.actuator_forcerange[2 * a], m.actuator_forcerange[2 * a + 1]);
    }
    expect_near(force, f.actuator_force, tolerance, "force", scale);
  }
}

TEST(ActivationDynamics, AgreesWithTheReference) {
  compare<double>(1e-13);
  // terms of a tangent plane that cancel, each with the round-off of a length
  compare<float>(64 * 0x1p-23);
  compare<TestPack>(64 * 0x1p-23);
}

TEST(ActivationDynamics, AnyTeamGivesTheSameBits) {
  expect_any_team<double>(muscles(), kActuate, kWritten);
  expect_any_team<TestPack>(muscles(), kActuate, kWritten);
}

TEST(ActivationDynamics, LanesAreIndependent) {
  expect_independent_lanes(muscles(), kActuate, kWritten);
}

TEST(ActivationDynamics, OneMinusExpHasNearlyAllDigits) {
  for (double x = 1e-18; x < 1e3; x *= 1.1)
    EXPECT_NEAR(physics::one_minus_exp(x) / -std::expm1(-x), 1, 2e-15) << x;
  EXPECT_EQ(physics::one_minus_exp(0.0), 0.0);
}

// A control that is no number counts as zero, within its range.
TEST(ActivationDynamics, AControlThatIsNoNumberIsZero) {
  Env<double> bad(*muscles().model), zero(*muscles().model);
  State s = RandomStates(5)(*muscles().model);
  for (Env<double>* env : {&bad, &zero}) {
    for (double& u : s.ctrl) u = env == &bad ? std::nan("") : 0;
    set_state(*env, s);
    kActuate(physics::TeamOfOne(), env->m(), env->e);
  }
  expect_same_bits(bad.get(Field::act_next), zero.get(Field::act_next), "act_next");
}

// The tangent plane touches the force: its value, and its slopes against differences. The curves have no
// kinks, so differences of 1e-6 err by 1e-12 of the curvature.
TEST(Muscle, TheTangentPlaneHasTheSlopesOfTheForce) {
  // L0 = 2 m: one metre would hide a slope by L
  const double p[] = {.75, 1.25, 120, 200, .5, 1.6, 1.5, 1.3, 1.2}, lengths[] = {.25, 1.25};
  const auto at = [](const physics::Vec3<double>& c, double l, double v) {
    return c.x + c.y * l + c.z * v;
  };
  const auto gain = [&](double l, double v) { return physics::muscle_gain(p, lengths, l, v); };
  const auto bias = [&](double l, double v) { return physics::muscle_bias(p, lengths, l, v); };
  const auto check = [&](const auto& law, double l, double v) {
    const auto force = [&](double x, double y) { return at(law(x, y), x, y); };
    constexpr double h = 1e-6;
    const physics::Vec3<double> c = law(l, v);
    EXPECT_NEAR(c.y, (force(l + h, v) - force(l - h, v)) / (2 * h), 0.1) << l << " " << v;
    EXPECT_NEAR(c.z, (force(l, v + h) - force(l, v - h)) / (2 * h), 1e-3) << l << " " << v;
  };
  for (double l = -.4; l < 2.1; l += .0113)
    for (double v = -4; v < 4; v += .166) check(gain, l, v), check(bias, l, v);

  // at the optimum and at rest: the peak force, none of it passive
  const double optimum = .25 + .25 * 2;
  EXPECT_NEAR(at(gain(optimum, 0), optimum, 0), -120, 1e-12);
  EXPECT_EQ(at(bias(optimum, 0), optimum, 0), 0);
  EXPECT_LT(gain(optimum, 0).z, 0);  // it damps
}

// The state that a step leaves, in the lanes that move.
TEST(ActivationDynamics, OnlyLanesThatMoveGetTheirActivation) {
  Env<TestPack> env(*muscles().model);
  const State s = RandomStates(5)(*muscles().model);
  set_state(env, s);
  env.fill(Field::active, 1);
  env.put(Field::active, 0, 1, 0);
  physics::step(physics::TeamOfOne(), env.m(), env.e, false);
  expect_same_bits(env.get(Field::act, 0), env.get(Field::act_next, 0), "moves");
  expect_same_bits(env.get(Field::act, 1), s.act, "frozen");
}

}  // namespace
}  // namespace stiction::test

// Actuators and the smooth force k against the reference engine.
#include "physics/actuation/actuation.h"

#include "physics/actuation/actuator_models.h"
#include "physics/states.h"

namespace stiction::test {
namespace {

const std::vector<Field> kFields = {Field::act_length, Field::act_velocity,  Field::act_law,
                                    Field::moment,     Field::qfrc_actuator, Field::qfrc_smooth,
                                    Field::flags};
constexpr int kBadControl = physics::flag_index(Status::bad_control);

template <class S>
void run(Env<S>& env) {
  kActuate(physics::TeamOfOne(), env.m(), env.e);
}

// Forces of every actuator from its law, before the split into servos and explicit ones.
std::vector<double> forces(const Model& m, const std::vector<double>& law,
                           const std::vector<double>& length, const std::vector<double>& velocity) {
  std::vector<double> f;
  for (std::size_t a = 0; a < length.size(); ++a) {
    f.push_back(law[3 * a] + law[3 * a + 1] * length[a] + law[3 * a + 2] * velocity[a]);
    if (m.actuator_forcelimited[a] != 0)
      f[a] = std::clamp(f[a], m.actuator_forcerange[2 * a], m.actuator_forcerange[2 * a + 1]);
  }
  return f;
}

template <class S>
void compare(const NamedModel& model, double tolerance, bool pushed) {
  const Model& m = *model.model;
  Options o;
  o.gyroscopic = Gyroscopic::explicit_euler;  // the other law adds to k in a stage of its own
  const Reference ref(model.model, o);
  RandomStates random;
  const auto nv = static_cast<std::size_t>(m.nv);
  for (int i = 0; i < 20; ++i) {
    const State s = random(m, pushed);
    Env<S> env(m, o);
    set_state(env, s);
    run(env);
    const ForwardResult f = ref.forward(s.qpos, s.qvel, s.inputs());
    const auto length = env.get(Field::act_length), velocity = env.get(Field::act_velocity);
    expect_near(length, f.actuator_length, tolerance, model.name + " length");
    expect_near(velocity, f.actuator_velocity, tolerance, model.name + " velocity");
    expect_near(forces(m, env.get(Field::act_law), length, velocity), f.actuator_force, tolerance,
                model.name + " force");
    EXPECT_EQ(env.get(Field::flags)[kBadControl], 0);

    // δt k = A (v* - v0)
    const StepResult step = ref.step(s.qpos, s.qvel, s.inputs());
    ASSERT_FALSE(any(step.status, kFrozen)) << model.name;
    std::vector<double> k(nv, 0.0);
    double scale = 0;
    for (std::size_t r = 0; r < nv; ++r)
      for (std::size_t c = 0; c < nv; ++c) {
        const double term = step.A[r * nv + c] * (step.v_star[c] - s.qvel[c]) / m.timestep;
        k[r] += term;
        scale = std::max(scale, std::fabs(term));
      }
    expect_near(env.get(Field::qfrc_smooth), k, tolerance, model.name + " k", scale);
  }
}

TEST(Actuation, AgreesWithTheReference) {
  for (const NamedModel& model : all_models()) {
    compare<double>(model, 1e-11, true);
    compare<double>(model, 1e-11, false);
  }
}

// As the bias force, of which k is a part.
TEST(Actuation, AgreesWithTheReferenceInFloat) {
  for (const NamedModel& model : all_models()) {
    compare<float>(model, 32 * 0x1p-23, true);
    compare<TestPack>(model, 32 * 0x1p-23, true);
  }
}

// Motors only: what is explicit is all there is.
TEST(Actuation, ExplicitForcesAreThoseOfTheReferenceWithoutServos) {
  const ModelPtr model = load_model_from_string(R"(<mujoco><worldbody>
    <body><joint name="a" actuatorfrcrange="-1 1.5"/><geom size=".1"/>
      <body pos="0 0 1"><joint name="b" type="slide"/><geom size=".1"/></body></body></worldbody>
    <tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-3"/></fixed></tendon>
    <actuator><motor joint="a" gear="3"/><motor tendon="t" forcerange="-0.5 0.5"/>
      <general joint="b" biastype="affine" biasprm="0 0.3 0.2"/></actuator></mujoco>)");
  const Reference ref(model);
  RandomStates random;
  for (int i = 0; i < 20; ++i) {
    const State s = random(*model);
    Env<double> env(*model);
    set_state(env, s);
    run(env);
    expect_near(env.get(Field::qfrc_actuator),
                ref.forward(s.qpos, s.qvel, s.inputs()).qfrc_actuator, 1e-14, "qfrc_actuator");
  }
}

// An actuator may be a servo in one lane and not in another: gain[1] ctrl changes its sign.
TEST(Actuation, ServosHaveNoExplicitForceInTheirLane) {
  const ModelPtr model = load_model_from_string(R"(<mujoco><worldbody>
    <body><joint name="a"/><geom size=".1"/></body></worldbody>
    <actuator><general joint="a" gaintype="affine" gainprm="1 2 0"/></actuator></mujoco>)");
  Env<TestPack> env(*model);
  env.set(Field::qpos, std::vector<double>{0.5});
  env.put(Field::ctrl, 0, 0, -1);
  env.put(Field::ctrl, 0, 1, 1);
  run(env);
  EXPECT_EQ(env.get(Field::qfrc_actuator, 0)[0], 0);
  EXPECT_EQ(env.get(Field::qfrc_actuator, 1)[0], 2);  // 1 + 2 * 0.5
}

// So is its way round a ball joint: 5 rad ahead of the identity is 5 - 2π, for a position servo only.
TEST(Actuation, APositionServoGoesTheShortWayInItsLane) {
  const ModelPtr model = load_model_from_string(R"(<mujoco><worldbody>
    <body><joint name="b" type="ball"/><geom size=".1"/></body></worldbody>
    <actuator><position joint="b" gear="1" kp="3"/><motor joint="b" gear="1"/></actuator></mujoco>)");
  Env<TestPack> env(*model);
  env.fill(Field::ctrl, 5);
  const int servo = 0, motor = 1;
  for (const auto& [actuator, lane, kp] : {std::tuple{servo, 1, 0.}, {motor, 2, 3.}}) {
    env.put(Field::actuator_gain, 3 * actuator, lane, 3);
    env.put(Field::actuator_bias, 3 * actuator + 1, lane, -kp);
  }
  run(env);
  const double near = 3 * (5 - 2 * 3.141592653589793);
  const auto force = [&](int actuator, int lane) {
    return env.number(Field::act_law, 3 * actuator, lane);
  };
  EXPECT_NEAR(force(servo, 0), near, 1e-5);
  EXPECT_NEAR(force(servo, 1), 15, 1e-5);
  EXPECT_NEAR(force(motor, 1), 5, 1e-5);
  EXPECT_NEAR(force(motor, 2), near, 1e-5);
}

TEST(Actuation, InputsThatAreNotFiniteCountAsZeroInTheirLane) {
  const NamedModel& zoo = all_models().back();
  const State clean = RandomStates()(*zoo.model);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = INFINITY;
  for (const auto input : {&State::ctrl, &State::qfrc, &State::xfrc}) {
    State bad = clean, zero = clean;
    (bad.*input).back() = nan, (zero.*input).back() = 0;
    (bad.*input)[1] = -inf, (zero.*input)[1] = 0;
    Env<TestPack> with(*zoo.model), without(*zoo.model);
    set_state(with, clean), set_state(without, clean);
    set_state(with, 1, bad), set_state(without, 1, zero);
    run(with), run(without);
    EXPECT_EQ(with.get(Field::flags, 1)[kBadControl], 1);
    EXPECT_EQ(with.get(Field::flags, 0)[kBadControl], 0);
    for (const Field f : {Field::qfrc_smooth, Field::qfrc_actuator, Field::act_law})
      for (const int lane : {0, 1})
        expect_same_bits(with.get(f, lane), without.get(f, lane), with.spec(f).name);
  }
}

TEST(Actuation, AnyTeamGivesTheSameBits) {
  for (const NamedModel& model : all_models()) {
    expect_any_team<double>(model, kActuate, kFields);
    expect_any_team<TestPack>(model, kActuate, kFields);
  }
}

// The first lane is not pushed, its neighbours are.
TEST(Actuation, LanesAreIndependent) {
  for (const NamedModel& model : all_models()) expect_independent_lanes(model, kActuate, kFields);
}

}  // namespace
}  // namespace stiction::test

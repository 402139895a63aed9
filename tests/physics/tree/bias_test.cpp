// Velocities and bias forces against the reference engine.
#include "physics/tree/bias.h"

#include "physics/states.h"
#include "physics/tree/kinematics.h"

namespace stiction::test {
namespace {

constexpr auto kRun = [](const auto& team, const physics::ModelView& m, auto& e) {
  physics::mocap(team, m, e, 1);
  physics::kinematics(team, m, e);
  physics::inertia(team, m, e);
  physics::bias(team, m, e);
  physics::velocities(team, m, e);
};
const std::vector<Field> kFields = {Field::cvel0, Field::cacc, Field::cfrc, Field::qfrc_bias,
                                    Field::xvel};

template <class S>
void compare(const NamedModel& model, double tolerance) {
  beside_the_reference<S>(model, kRun, [&](const Env<S>& env, const ForwardResult& f) {
    expect_near(env.get(Field::qfrc_bias), f.qfrc_bias, tolerance, model.name + " qfrc_bias");
    expect_near(env.get(Field::xvel), f.xvel, tolerance, model.name + " xvel");
  });
}

TEST(Bias, AgreesWithTheReference) {
  for (const NamedModel& model : all_models()) compare<double>(model, 1e-12);
}

// Along a path of up to 10 bodies some 30 rounded terms add up, relative to the largest entry.
TEST(Bias, AgreesWithTheReferenceInFloat) {
  for (const NamedModel& model : all_models()) {
    compare<float>(model, 32 * 0x1p-23);
    compare<TestPack>(model, 32 * 0x1p-23);
  }
}

// The same recursion serves any generalized velocity.
TEST(Bias, BodyVelocitiesOfQvelAreCvel0) {
  for (const NamedModel& model : all_models()) {
    Env<double> env(*model.model);
    set_state(env, RandomStates()(*model.model));
    kRun(physics::TeamOfOne(), env.m(), env.e);
    physics::body_velocities(physics::TeamOfOne(), env.m(), env.e, env.e.mocap_twist, env.e.qvel,
                             env.e.body_vel);
    expect_near(env.get(Field::body_vel), env.get(Field::cvel0), 1e-14, model.name);
  }
}

// A scene 1 km away moves and weighs the same; the tolerance is that of one rounding of float.
TEST(Bias, DoesNotDependOnThePlaceOfTheScene) {
  const Model& m = *all_models().front().model;
  const State near = RandomStates()(m);
  State far = near;
  for (std::size_t k = 0; k < 3; ++k) far.qpos[k] += 1000;
  Env<TestPack> here(m), there(m);
  set_state(here, near);
  set_state(there, far);
  kRun(physics::TeamOfOne(), here.m(), here.e);
  kRun(physics::TeamOfOne(), there.m(), there.e);
  for (const Field f : kFields) expect_near(there.get(f), here.get(f), 0x1p-20, here.spec(f).name);
}

TEST(Bias, AnyTeamGivesTheSameBits) {
  for (const NamedModel& model : all_models()) {
    expect_any_team<double>(model, kRun, kFields);
    expect_any_team<TestPack>(model, kRun, kFields);
  }
}

TEST(Bias, LanesAreIndependent) {
  for (const NamedModel& model : all_models()) expect_independent_lanes(model, kRun, kFields);
}

}  // namespace
}  // namespace stiction::test

// Tendons on packs and on teams against the reference engine, and the reference against derivatives.
#include "physics/states.h"
#include "physics/step.h"
#include "reference/contact/contacts.h"
#include "reference/step/step.h"

namespace stiction::test {
namespace {

using physics::TeamOfOne;

// Fixed tendons with all that acts along them, over two trees; strings over pulleys, around a sphere, a
// cylinder and along the inside of a sphere, on a free body and between limbs.
constexpr const char* kTendons = R"(<mujoco><option timestep="0.004"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
 <site name="ceiling" pos=".1 0 1.4"/><site name="hook" pos="-.7 .1 1"/>
 <geom name="pole" type="cylinder" size=".12 .4" pos=".2 .05 .6" euler="80 10 0"/>
 <site name="over" pos=".2 .05 .85"/>
 <body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0" range="-60 60" limited="true"/>
  <joint name="s" type="slide" axis=".6 0 .8" damping=".2"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04" mass="1.2"/>
  <geom name="knee" type="sphere" size=".07" pos="0 0 -.4"/>
  <site name="hip" pos=".06 0 -.1"/><site name="front" pos=".15 0 -.4"/><site name="in" pos=".01 0 -.4"/>
  <body pos="0 0 -.4"><joint name="b" axis="0 1 0"/><joint name="c" axis="1 0 0" armature=".02"/>
   <geom type="capsule" fromto="0 0 0 .05 0 -.35" size=".03" mass=".6"/>
   <site name="shin" pos=".05 .02 -.2"/></body></body>
 <body name="box" pos=".5 .2 .8"><freejoint/><geom type="box" size=".1 .12 .05" mass=".8"/>
  <site name="corner" pos=".1 .12 .05"/><site name="edge" pos="-.1 0 .05"/></body>
 <body pos="-.6 0 .9"><joint name="d" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass=".5"/><site name="end" pos="0 0 -.3"/></body>
</worldbody>
<tendon>
 <fixed name="couple" limited="true" range="-.3 .4" margin=".02" stiffness="30" springlength="-.1 .1"
   damping=".4" frictionloss=".3" armature=".05" solreflimit=".03 1">
  <joint joint="a" coef=".7"/><joint joint="b" coef="-.5"/><joint joint="d" coef=".3"/></fixed>
 <fixed name="drive" actuatorfrcrange="-2 1.5"><joint joint="b" coef="1"/><joint joint="c" coef=".4"/></fixed>
 <spatial name="block" stiffness="25" damping="1" limited="true" range="0 1.1" frictionloss=".2">
  <site site="ceiling"/><site site="corner"/><pulley divisor="2"/><site site="hook"/><site site="end"/>
  <site site="hip"/></spatial>
 <spatial name="around" limited="true" range=".1 .5" margin=".01">
  <site site="hip"/><geom geom="knee" sidesite="front"/><site site="shin"/></spatial>
 <spatial name="inside" stiffness="10" springlength=".2">
  <site site="hip"/><geom geom="knee" sidesite="in"/><site site="shin"/></spatial>
 <spatial name="rope" range=".2 .9" limited="true" damping=".5">
  <site site="shin"/><geom geom="pole" sidesite="over"/><site site="edge"/><site site="hook"/></spatial>
 <spatial name="free" frictionloss=".4"><site site="hip"/><geom geom="pole"/><site site="corner"/></spatial>
</tendon>
<actuator><position name="m0" tendon="rope" kp="20" kv="1"/><motor name="m1" tendon="drive" gear="3"/>
 <motor tendon="drive" gear="-1"/><position tendon="couple" kp="8" forcerange="-1 1"/>
 <motor tendon="around" gear="-.5"/></actuator>
<sensor><tendonpos tendon="rope"/><tendonvel tendon="rope"/><tendonactuatorfrc tendon="drive"/>
 <tendonlimitpos tendon="couple"/><tendonlimitvel tendon="couple"/><tendonlimitfrc tendon="couple"/>
 <tendonlimitfrc tendon="rope"/><tendonlimitpos tendon="rope"/><actuatorpos actuator="m0"/>
 <actuatorfrc actuator="m1"/><jointactuatorfrc joint="b"/></sensor></mujoco>)";

const NamedModel& hung() {
  static const NamedModel model = {"tendons", load_model_from_string(kTendons)};
  return model;
}

Options options(bool exact) {
  Options o;
  o.solver_tolerance = exact ? 1e-12 : 1e-5;
  return o;
}

// Strings that wrap and strings that do not, at random states; both must be there.
TEST(Tendons, LengthsAndArmsAreTheReferences) {
  const Model& m = *hung().model;
  RandomStates random;
  int bent = 0;
  for (int k = 0; k < 200; ++k) {
    const State s = random(m);
    Env<double> env(m);
    set_state(env, s);
    physics::kinematics(TeamOfOne(), env.m(), env.e);
    physics::tendons(TeamOfOne(), env.m(), env.e);
    const auto expected = reference::tendons(m, reference::kinematics(m, s.qpos, {}, {}), s.qpos);
    for (int t = 0; t < m.ntendon; ++t) {
      const auto& [length, J] = expected[at(t)];
      ASSERT_NEAR(env.number(Field::ten_length, t, 0), length, 1e-12) << t;
      VecX arm = VecX::Zero(m.nv);
      const int c = m.nv + m.nu + t;
      for (int x = env.m().coord_momentadr[c]; x < env.m().coord_momentadr[c + 1]; ++x)
        arm[env.m().moment_dof[x]] += env.number(Field::moment, x, 0);
      ASSERT_LT((arm - J).cwiseAbs().maxCoeff(), 1e-12) << t;
      const VecX v = Eigen::Map<const VecX>(s.qvel.data(), m.nv);
      ASSERT_NEAR(env.number(Field::ten_velocity, t, 0), J.dot(v), 1e-11) << t;
    }
    bent += (expected[3].J - expected[4].J).norm() > 0.01 ? 1 : 0;
  }
  EXPECT_GT(bent, 10);
  EXPECT_LT(bent, 196);
}

// J is the derivative of the length along any motion.
TEST(Tendons, ArmsAreDerivatives) {
  const Model& m = *hung().model;
  RandomStates random(3);
  for (int k = 0; k < 60; ++k) {
    const State s = random(m);
    const VecX v = Eigen::Map<const VecX>(s.qvel.data(), m.nv);
    const auto at_time = [&](double t) {
      const VecX q = reference::integrate_position(m, s.qpos, v, t);
      const std::span<const double> qpos(q.data(), at(m.nq));
      return reference::tendons(m, reference::kinematics(m, qpos, {}, {}), qpos);
    };
    const double h = 1e-6;
    const auto before = at_time(-h), now = at_time(0), after = at_time(h);
    for (int t = 0; t < m.ntendon; ++t) {
      if (t == 4) continue;  // solved to 1e-6 as in MuJoCo: no derivative
      const double slope = (after[at(t)].length - before[at(t)].length) / (2 * h);
      ASSERT_NEAR(now[at(t)].J.dot(v), slope, 1e-7 * (1 + v.norm())) << t;
    }
  }
}

template <class S>
double step_difference(const State& s, double* limits) {
  const Model& m = *hung().model;
  const bool exact = sizeof(physics::Lane<S>) == 8;
  Env<S> env(m, options(exact));
  set_state(env, s);
  physics::forces(TeamOfOne(), env.m(), env.e);
  physics::interval_sensors(TeamOfOne(), env.m(), env.e);
  const Reference reference(hung().model, options(true));
  const StepResult expected = reference.step(s.qpos, s.qvel, s.inputs());
  double worst = 0, scale = 0.04;
  for (int i = 0; i < m.nv; ++i) {
    worst = std::max(worst, std::fabs(env.number(Field::v, i, 0) - expected.v[at(i)]));
    scale = std::max(scale, std::fabs(expected.v[at(i)]));
  }
  const std::vector<double>& read = expected.sensordata;
  for (const int i : {2, 5, 6, 9, 10}) {
    const double x = env.number(Field::sensordata, i, 0), y = read[at(i)];
    EXPECT_NEAR(x, y, (exact ? 1e-6 : 3e-2) * std::max(1.0, std::fabs(y))) << "sensor " << i;
  }
  *limits += read[5] != 0 || read[6] != 0;
  return worst / scale;
}

TEST(Tendons, AStepIsTheReferences) {
  RandomStates random(11);
  double in_double = 0, in_float = 0, limits = 0;
  for (int k = 0; k < 60; ++k) {
    const State s = random(*hung().model);
    in_double = std::max(in_double, step_difference<double>(s, &limits));
    in_float = std::max(in_float, step_difference<TestPack>(s, &limits));
  }
  EXPECT_LT(in_double, 1e-8);
  EXPECT_LT(in_float, 1e-3);
  EXPECT_GT(limits, 20);
}

TEST(Tendons, LanesAndTeamsGiveTheSameBits) {
  const auto run = [](const auto& team, const auto& m, auto& e) { physics::forces(team, m, e); };
  const std::vector<Field> fields = {Field::v, Field::qfrc_constraint, Field::qfrc_actuator};
  expect_any_team<double>(hung(), run, fields);
  expect_any_team<TestPack>(hung(), run, fields);
  expect_independent_lanes(hung(), run, fields);
}

// Without gravity and motors no step of a motion along springs, dampers and dry friction adds energy. Limits are
// off: one that is violated at the start works that off.
TEST(Tendons, EnergyNeverRises) {
  Model m = *hung().model;
  m.gravity = {};
  m.actuator_bias.assign(m.actuator_bias.size(), 0.0);
  m.actuator_gain.assign(m.actuator_gain.size(), 0.0);
  m.tendon_limited.assign(m.tendon_limited.size(), 0);
  m.jnt_limited.assign(m.jnt_limited.size(), 0);
  // the implicit step loses, the explicit Coriolis terms do not: slow
  m.timestep = 1e-4;
  const auto model = std::make_shared<const Model>(m);
  const Reference reference(model, {});
  RandomStates random(5);
  for (int k = 0; k < 6; ++k) {
    State s = random(m, false);
    for (double& v : s.qvel) v *= 0.1;
    std::fill(s.qfrc.begin(), s.qfrc.end(), 0.0);
    double last = 1e300;
    for (int n = 0; n < 200; ++n) {
      const ForwardResult f = reference.forward(s.qpos, s.qvel, s.inputs());
      const double energy = f.energy_kinetic + f.energy_potential;
      ASSERT_LE(energy, last + 1e-7 * energy) << k << ", step " << n;
      last = energy;
      const StepResult next = reference.step(s.qpos, s.qvel, s.inputs());
      s.qpos = next.qpos, s.qvel = next.qvel;
    }
  }
}

}  // namespace
}  // namespace stiction::test

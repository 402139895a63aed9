// Models and random states for the tests of the stages, and what every stage must satisfy: the same
// bits in any order of the indices, on threads, and whatever the other lanes of a pack do.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "data.h"
#include "physics/env.h"
#include "physics/teams.h"

namespace stiction::test {

// Every joint type, several joints on one body, offsets, references, springs, gravity compensation,
// static and mocap bodies, two trees, every kind of actuator.
inline constexpr const char* kZoo = R"(<mujoco model="zoo">
  <option timestep="0.003" gravity="0.5 -1 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" pos="0 0 -50"/>
    <body name="stand" pos="0.1 0.2 0.3" euler="20 0 10">
      <geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/>
      <body name="cart" pos="0 0 0.2" quat="0.9 0.1 0.2 -0.3">
        <joint name="x" type="slide" axis="1 0 0" pos="0.1 0 0" stiffness="20" springref="0.3"
               ref="0.2" damping="2"/>
        <joint name="z" type="slide" axis="0 0.6 0.8" armature="0.1"/>
        <joint name="swing" type="hinge" axis="0 1 0.3" pos="0 0.1 0.2" ref="30" damping="0.3"
               stiffness="3" springref="10" actuatorfrcrange="-0.5 0.4"/>
        <geom type="capsule" size=".05 .2" mass="1.5" pos="0.1 0 0.05"/>
        <body name="link" pos="0 0.05 0.4" euler="0 40 0" gravcomp="0.7">
          <joint name="ball" type="ball" pos="0.02 0 -0.1" stiffness="1.5" damping="0.1"
                 armature="0.01"/>
          <geom type="box" size=".05 .1 .2" mass="0.8" pos="0 0.02 0.1"/>
          <body name="fixed" pos="0 0 0.3" euler="0 0 30">
            <geom type="sphere" size=".08" mass="0.4"/>
            <body name="tip" pos="0.1 0 0">
              <joint name="bend" type="hinge" axis="1 0 0"/>
              <joint name="twist" type="hinge" axis="0 0 1" armature="0.02"/>
              <geom type="capsule" size=".03 .1" mass="0.2" pos="0.05 0 0.1"/>
            </body>
          </body>
        </body>
      </body>
    </body>
    <body name="flyer" pos="1 2 3">
      <joint name="fly" type="free" stiffness="2" damping="0.1" armature="0.03"/>
      <geom type="box" size=".1 .2 .3" mass="2" pos="0.05 0.1 -0.02" euler="10 20 30"/>
      <body name="arm" pos="0.2 0 0" gravcomp="1">
        <joint name="shoulder" type="hinge" axis="0 1 0" pos="-0.05 0 0" damping="0.2"/>
        <geom type="capsule" size=".04 .15" mass="0.6" pos="0.1 0 0"/>
        <body name="head" pos="0.3 0 0">
          <joint name="neck" type="ball"/>
          <geom type="sphere" size=".07" mass="0.3" pos="0 0 0.1"/>
        </body>
      </body>
      <body name="leg" pos="-0.2 0 0">
        <joint name="hip" type="slide" axis="0 0 1" armature="0.2"/>
        <geom type="capsule" size=".04 .15" mass="0.5"/>
      </body>
    </body>
    <body name="hand" mocap="true" pos="2 0 1" euler="0 0 45">
      <geom type="sphere" size=".05" contype="0" conaffinity="0"/>
      <body name="nail" pos="0.1 0 0"><geom type="sphere" size=".01" contype="0" conaffinity="0"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="pull"><joint joint="bend" coef="0.5"/><joint joint="shoulder" coef="-1.2"/></fixed>
  </tendon>
  <actuator>
    <motor joint="swing" gear="2" ctrllimited="true" ctrlrange="-0.5 0.5"/>
    <motor joint="fly" gear="1 0.5 0.2 0.1 -0.2 0.3"/>
    <motor joint="neck" gear="0.1 0.2 0.3"/>
    <position joint="ball" gear="0.6 0 0.8" kp="3" kv="0.1"/>
    <position joint="twist" kp="5" forcelimited="true" forcerange="-1 1"/>
    <velocity joint="hip" kv="2" gear="1.5"/>
    <general joint="x" gainprm="2 0.5 0" biastype="affine" biasprm="0.3 0.4 0.1" gaintype="affine"/>
    <general joint="bend" gaintype="affine" gainprm="1 2 0" biastype="affine" biasprm="0 0 0"/>
    <motor tendon="pull" gear="1.3" forcelimited="true" forcerange="-0.7 0.7"/>
    <position tendon="pull" kp="2"/>
  </actuator>
</mujoco>)";

// Rails, a bridge and a carriage without limits, a mast, and an arm with a hand on a ball joint: the
// origin of the tree is the carriage's.
inline constexpr const char* kGantry = R"(<mujoco model="gantry">
  <option timestep="0.003"/>
  <worldbody>
    <body name="bridge" pos="0 0 2"><joint name="x" type="slide" axis="1 0 0" damping="1"/>
      <geom type="box" size=".1 2 .1" mass="20" contype="0" conaffinity="0"/>
      <body name="carriage" pos="0 0.1 0"><joint name="y" type="slide" axis="0 1 0"/>
        <geom type="box" size=".2 .2 .1" mass="5"/>
        <body name="mast" pos="0.1 0 -0.2" euler="0 0 20">
          <joint name="z" type="slide" axis="0 0 1" range="-.5 .5"/>
          <joint name="turn" axis="0 0 1" pos="0.02 0 0"/>
          <geom type="capsule" size=".05 .3" mass="2"/>
          <site name="foot" pos="0 0 -.3"/>
          <body name="arm" pos="0 0 -.4"><joint axis="0 1 0" stiffness="2"/>
            <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".5"/>
            <body name="hand" pos=".3 0 0"><joint type="ball" armature=".001"/>
              <geom type="box" size=".1 .05 .02" pos=".1 0 0" mass=".2"/></body></body></body></body></body>
  </worldbody>
  <actuator><motor joint="x"/><position joint="turn" kp="5"/></actuator>
</mujoco>)";

struct NamedModel {
  std::string name;
  ModelPtr model;
};

inline const std::vector<NamedModel>& all_models() {
  static const std::vector<NamedModel> models = [] {
    std::vector<NamedModel> m;
    for (const char* name : {"anymal_c", "g1", "g1_feetonly", "go1", "go1_feetonly", "go2", "h1",
                             "h1_feetonly", "panda"})
      m.push_back({name, load_model(test_robots() + "/" + name + ".xml")});
    m.push_back({"gantry", load_model_from_string(kGantry)});
    m.push_back({"zoo", load_model_from_string(kZoo)});
    return m;
  }();
  return models;
}

// Numbers of type real are floats, so that all engines start from the same state.
struct State {
  std::vector<double> qpos, qvel, ctrl, qfrc, xfrc, mocap_pos, mocap_quat, act = {};

  Inputs inputs() const {
    return {.ctrl = ctrl,
            .qfrc_applied = qfrc,
            .xfrc_applied = xfrc,
            .mocap_pos = mocap_pos,
            .mocap_quat = mocap_quat,
            .act = act};
  }
};

class RandomStates {
 public:
  explicit RandomStates(unsigned seed = 1) : rng_(seed) {}

  // Forces act on the bodies where `pushed`.
  State operator()(const Model& m, bool pushed = true) {
    State s{m.qpos0, reals(m.nv, 2), reals(m.nu, 1.5), reals(m.nv, 1), reals(6 * m.nbody, 3), {},
            {}};
    if (!pushed) std::fill(s.xfrc.begin(), s.xfrc.end(), 0.0);
    for (int j = 0; j < m.njnt; ++j) {
      double* q = &s.qpos[static_cast<std::size_t>(m.jnt_qposadr[static_cast<std::size_t>(j)])];
      switch (m.jnt_type[static_cast<std::size_t>(j)]) {
        case JointType::free:
          for (int k = 0; k < 3; ++k) q[k] += real(2);
          quat(q + 3);
          break;
        case JointType::ball: quat(q); break;
        case JointType::slide:
        case JointType::hinge: q[0] += real(1.5); break;
      }
    }
    s.mocap_pos = reals(3 * m.nmocap, 1);
    s.mocap_quat = std::vector<double>(static_cast<std::size_t>(4 * m.nmocap));
    for (int k = 0; k < m.nmocap; ++k) quat(&s.mocap_quat[static_cast<std::size_t>(4 * k)]);
    s.act = reals(m.na, 1.2);
    return s;
  }
  double real(double scale) {
    return static_cast<float>(std::uniform_real_distribution<double>(-scale, scale)(rng_));
  }

 private:
  std::vector<double> reals(int n, double scale) {
    std::vector<double> x;
    for (int i = 0; i < n; ++i) x.push_back(real(scale));
    return x;
  }
  // not quite unit: users are not exact
  void quat(double* q) {
    double n2 = 0;
    for (int k = 0; k < 4; ++k) q[k] = real(1), n2 += q[k] * q[k];
    for (int k = 0; k < 4; ++k) q[k] *= 1.01 / std::sqrt(n2);
  }
  std::mt19937 rng_;
};

template <class S>
void set_state(Env<S>& env, int lane, const State& s) {
  env.set(Field::qpos, lane, s.qpos);
  env.set(Field::qvel, lane, s.qvel);
  env.set(Field::act, lane, s.act);
  env.set(Field::qacc_warmstart, lane, std::vector<double>(s.qvel.size()));
  env.set(Field::ctrl, lane, s.ctrl);
  env.set(Field::qfrc_applied, lane, s.qfrc);
  env.set(Field::xfrc_applied, lane, s.xfrc);
  env.set(Field::mocap_pos, lane, s.mocap_pos);
  env.set(Field::mocap_quat, lane, s.mocap_quat);
}
// In every lane.
template <class S>
void set_state(Env<S>& env, const State& s) {
  for (int lane = 0; lane < env.lanes(); ++lane) set_state(env, lane, s);
}

// |a - b| <= tolerance * max |b|, or * scale where that is larger.
inline void expect_near(const std::vector<double>& a, const std::vector<double>& b,
                        double tolerance, const std::string& what, double scale = 0) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (const double x : b) scale = std::max(scale, std::fabs(x));
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(std::fabs(a[i] - b[i]), tolerance * scale)
        << what << "[" << i << "]: " << a[i] << " against " << b[i];
}

inline void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b,
                             const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(std::memcmp(&a[i], &b[i], sizeof(double)), 0)
        << what << "[" << i << "]: " << a[i] << " against " << b[i];
}

// check(env, forward) after `run` at random states, beside what the reference engine says there.
template <class S, class F, class Check>
void beside_the_reference(const NamedModel& model, const F& run, const Check& check) {
  const Reference ref(model.model);
  RandomStates random;
  for (int i = 0; i < 20; ++i) {
    const State s = random(*model.model);
    Env<S> env(*model.model);
    set_state(env, s);
    run(physics::TeamOfOne(), env.m(), env.e);
    check(env, ref.forward(s.qpos, s.qvel, s.inputs()));
  }
}

// `run(team, m, e)` gives the same bits in a scrambled order, and on four threads.
template <class S, class F>
void expect_any_team(const NamedModel& model, const F& run, const std::vector<Field>& fields) {
  const State s = RandomStates(7)(*model.model);
  Env<S> one(*model.model), other(*model.model);
  set_state(one, s);
  run(physics::TeamOfOne(), one.m(), one.e);
  const auto same = [&](const char* team) {
    for (const Field f : fields)
      expect_same_bits(other.get(f), one.get(f),
                       model.name + ", " + team + ", " + one.spec(f).name);
  };
  set_state(other, s);
  run(ShuffledTeam(3), other.m(), other.e);
  same("shuffled");
  if constexpr (physics::kLanes<S> == 1) {
    Env<S> threaded(*model.model);
    set_state(threaded, s);
    ThreadTeam::run(4, [&](const ThreadTeam& team) { run(team, threaded.m(), threaded.e); });
    for (const Field f : fields)
      expect_same_bits(threaded.get(f), one.get(f), model.name + ", threads, " + one.spec(f).name);
  }
}

// A lane among strangers gives the same bits as among copies of itself.
template <class F>
void expect_independent_lanes(const NamedModel& model, const F& run,
                              const std::vector<Field>& fields, const std::vector<State>& states) {
  using S = TestPack;
  Env<S> mixed(*model.model);
  const int n = static_cast<int>(states.size());
  for (int lane = 0; lane < mixed.lanes(); ++lane)
    set_state(mixed, lane, states[static_cast<std::size_t>(lane % n)]);
  run(physics::TeamOfOne(), mixed.m(), mixed.e);
  for (int lane = 0; lane < std::min(n, mixed.lanes()); ++lane) {
    Env<S> copies(*model.model);
    set_state(copies, states[static_cast<std::size_t>(lane)]);
    run(physics::TeamOfOne(), copies.m(), copies.e);
    for (const Field f : fields)
      expect_same_bits(mixed.get(f, lane), copies.get(f, lane),
                       model.name + ", lane " + std::to_string(lane) + ", " + mixed.spec(f).name);
  }
}
template <class F>
void expect_independent_lanes(const NamedModel& model, const F& run,
                              const std::vector<Field>& fields) {
  RandomStates random(5);
  std::vector<State> states;
  // the first is not pushed, the others are
  for (int i = 0; i < TestPack::kVectors * physics::kNativeLanes; ++i)
    states.push_back(random(*model.model, i > 0));
  expect_independent_lanes(model, run, fields, states);
}

}  // namespace stiction::test

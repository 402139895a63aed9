// Contact-rich states of robots and of loose shapes, and the stage run on them.
#pragma once

#include <random>
#include <string>

#include "data.h"
#include "physics/contact/collide.h"
#include "physics/env.h"
#include "physics/teams.h"
#include "physics/tree/kinematics.h"
#include "reference/contact/contacts.h"
#include "reference/tree/dynamics.h"

namespace stiction::test {

namespace ref = reference;
using Rng = std::mt19937_64;

inline double uniform(Rng& rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}

// Loose bodies of every shape over two planes, a hinged chain, a mocap body, explicit pairs.
inline const char* const kShapes = R"(<mujoco model="shapes">
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom type="plane" size="0 0 1" pos="-0.6 0 0" euler="0 80 0"/>
    <geom name="block" type="box" size=".3 .2 .1" pos=".2 .1 0"/>
    <body mocap="true" pos="0 .3 .2"><geom type="capsule" size=".05 .2" euler="90 0 0"/></body>
    <body pos="0 0 .2"><freejoint/><geom name="ball" type="sphere" size=".1" friction=".4"/></body>
    <body pos=".1 .1 .3"><freejoint/><geom type="capsule" size=".06 .15" priority="1"/></body>
    <body pos="-.2 .1 .3"><freejoint/><geom type="ellipsoid" size=".06 .1 .15"/></body>
    <body pos="-.2 -.2 .3"><freejoint/><geom type="cylinder" size=".1 .05"/></body>
    <body pos=".2 -.3 .3"><freejoint/><geom name="box" type="box" size=".1 .06 .08" friction="2"/></body>
    <body pos=".5 0 .4">
      <joint type="slide" axis="0 0 1"/><joint type="ball"/>
      <geom type="capsule" size=".05 .1"/>
      <body pos="0 0 -.2"><joint type="hinge" axis="0 1 0"/>
        <geom type="capsule" size=".04 .1" pos="0 0 -.1" condim="1"/>
        <geom type="sphere" size=".06" pos="0 0 -.2" margin=".02"/></body>
    </body>
  </worldbody>
  <contact><pair geom1="ball" geom2="box" friction=".3 .3"/></contact>
</mujoco>)";

inline const std::vector<std::string>& robots() {
  static const std::vector<std::string> names = {
      "anymal_c", "g1", "g1_feetonly", "go1", "go1_feetonly", "go2", "h1", "h1_feetonly", "panda"};
  return names;
}
// On a floor of its own.
inline ModelPtr robot_on_plane(const std::string& name) {
  const std::string xml = "<mujoco><include file=\"" + name + ".xml\"/><worldbody>" +
                          "<geom type=\"plane\" size=\"0 0 1\"/></worldbody></mujoco>";
  return load_model_from_string(xml, nullptr, {}, test_robots());
}

// Puts the lowest candidate of a robot with a free base about onto the floor.
inline void lower(const Model& m, Rng& rng, std::vector<double>& qpos) {
  if (m.njnt == 0 || m.jnt_type[0] != JointType::free) return;
  double least = 1e9;
  for (const auto& p : ref::candidate_points(m, {}, ref::kinematics(m, qpos, {}, {})))
    if (m.geom_type[at(p.geom1)] == GeomType::plane) least = std::min(least, p.gap);
  if (least < 1e9) qpos[2] -= least + uniform(rng, -0.005, 0.03);
}

// One state with what the stages before collide() would have computed.
struct CollideState {
  std::vector<double> qpos, qvel, v_free, A, anchor;
};

inline CollideState random_state(const Model& m, Rng& rng, bool robot = false) {
  CollideState s{m.qpos0, {}, {}, {}, {}};
  for (int j = 0; j < m.njnt; ++j) {
    double* q = &s.qpos[at(m.jnt_qposadr[at(j)])];
    const JointType type = m.jnt_type[at(j)];
    if (type == JointType::free) {
      for (int k = 0; k < 3; ++k) q[k] += uniform(rng, -0.1, 0.1);
      q[2] += uniform(rng, -0.5, 0.02);
    }
    if (type == JointType::hinge || type == JointType::slide) q[0] += uniform(rng, -0.5, 0.5);
    if (type == JointType::free) q += 3;
    if (type == JointType::free || type == JointType::ball) {
      const double size = uniform(rng, 0, 1);
      double length = 0;
      for (int k = 0; k < 4; ++k) q[k] += size * uniform(rng, -1, 1), length += q[k] * q[k];
      for (int k = 0; k < 4; ++k) q[k] /= std::sqrt(length);
    }
  }
  if (robot) lower(m, rng, s.qpos);
  const double speed = std::pow(10, uniform(rng, -2, 0.7));
  for (int i = 0; i < m.nv; ++i) {
    s.qvel.push_back(speed * uniform(rng, -1, 1));
    s.v_free.push_back(s.qvel.back() + 0.2 * speed * uniform(rng, -1, 1));
  }
  Rng of_anchors(rng());  // the next states don't depend on how many slots there are
  for (int i = 0; i < 3 * m.nslot; ++i) s.anchor.push_back(1e-4 * uniform(of_anchors, -1, 1));
  MatX A = ref::mass_matrix(m, ref::kinematics(m, s.qpos, {}, {}));
  A.diagonal() *= 1.01;
  for (int i = 0; i < m.nv; ++i)
    for (int j = 0; j <= i; ++j) s.A.push_back(A(i, j));
  return s;
}

template <class S>
void put_state(Env<S>& env, int lane, const CollideState& s) {
  env.set(Field::qpos, lane, s.qpos);
  env.set(Field::qvel, lane, s.qvel);
  env.set(Field::v_free, lane, s.v_free);
  env.set(Field::A, lane, s.A);
  if (env.m().opt.anchored) env.set(Field::anchor, lane, s.anchor);
}

template <class S, class Team>
void run_collide(const Team& team, Env<S>& env) {
  physics::mocap(team, env.m(), env.e, 1);
  physics::kinematics(team, env.m(), env.e);
  physics::body_velocities(team, env.m(), env.e, env.e.mocap_twist, env.e.qvel, env.e.cvel0);
  physics::inverse_diagonal(team, env.m(), env.e);
  physics::collide(team, env.m(), env.e);
}

}  // namespace stiction::test

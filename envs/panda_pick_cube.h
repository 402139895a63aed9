// PandaPickCube: an arm with a gripper brings a cube to where it is asked for, as MuJoCo Playground's task of that name.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

struct PandaPickCube {
  static constexpr int kArm = 7, kRobot = 9, kActuators = 8;  // joints; with those of the fingers
  // qpos: arm, fingers, cube
  static constexpr int kCube = kRobot, kPositions = kCube + 7, kVelocities = kRobot + 6;
  static constexpr int num_obs = kPositions + kVelocities + 3 + 6 + 6 + 3 + 3 + 6 + kActuators;
  static constexpr int num_actions = kActuators, num_metrics = 10,
                       num_memory = 1;  // whether the cube was reached

  double action_scale;                              // of a control step, rad or m
  double hold_weight, success_distance;             // of what the source has not; m
  double home[kRobot], ctrl[kActuators], place[3];  // joints, servos and cube at the start
  int cube, hand;                                   // bodies
  double grip[3];  // of the gripper's site in the hand, whose axes it has

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView&, TaskEnv<S>& env) const {
    team.once([&] {
      EnvView<S>& e = env.fields;
      Draw draw(env.seed, env.episode, Purpose::reset);
      for (int i = 0; i < kRobot; ++i) e.qpos[i] = home[i];
      for (int i = 0; i < kActuators; ++i) e.ctrl[i] = S(ctrl[i]);
      for (int k = 0; k < 2; ++k) e.qpos[kCube + k] = place[k] + draw.uniform(-0.2, 0.2);
      e.qpos[kCube + 2] = place[2];
      for (int k = 0; k < 2; ++k) e.mocap_pos[k] = place[k] + draw.uniform(-0.2, 0.2);
      e.mocap_pos[2] = place[2] + draw.uniform(0.2, 0.4);
    });
  }

  // An action is a change of the servos' targets.
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView&, TaskEnv<S>& env) const {
    EnvView<S>& e = env.fields;
    team.for_each(kActuators, [&](int i) {
      const double to =
          static_cast<double>(e.ctrl[i]) + action_scale * static_cast<double>(env.action[i]);
      e.ctrl[i] = S(within_control(e, i, to));
    });
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView&, TaskEnv<S>& env, bool first) const {
    const EnvView<S>& e = env.fields;
    const Mat3<S> gripper = body_axes(e, hand), box = body_axes(e, cube);
    const Vec3<double> origin = physics::load3(e.xpos, hand), at = physics::load3(e.xpos, cube);
    const Vec3<S> reach = gripper * Vec3<S>{S(grip[0]), S(grip[1]), S(grip[2])};
    const Vec3<double> tip = {origin.x + static_cast<double>(reach.x),
                              origin.y + static_cast<double>(reach.y),
                              origin.z + static_cast<double>(reach.z)};
    const Vec3<double> to = physics::load3(e.mocap_pos, 0);
    write_observation(team, env, gripper, box, tip, at, to);
    if (!first) judge(team, env, box, tip, at, to);
  }

 private:
  // m: from the gripper to the centre of a cube that is held, from open fingers to those at the cube, off the floor,
  // from the target
  static constexpr double kInHand = 0.02, kClosed = 0.02, kLifted = 0.1, kFar = 0.5;

  template <class S>
  STICTION_FN static double matrix_error(const Mat3<S>& box) {  // of two rows, from the identity
    const S rows[6] = {box.x.x - S(1), box.y.x, box.z.x, box.x.y, box.y.y - S(1), box.z.y};
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += static_cast<double>(rows[k]) * static_cast<double>(rows[k]);
    return physics::vsqrt(sum);
  }
  // 1 − tanh x,  x >= 0
  STICTION_FN static double nearness(double x) {
    const double y = exp(-2 * x);
    return 2 * y / (1 + y);
  }

  template <class Team, class S>
  STICTION_FN void write_observation(const Team& team, TaskEnv<S>& env, const Mat3<S>& gripper,
                                     const Mat3<S>& box, const Vec3<double>& tip,
                                     const Vec3<double>& at, const Vec3<double>& to) const {
    const EnvView<S>& e = env.fields;
    float* obs = env.obs;
    team.for_each(kPositions, [&](int i) { obs[i] = static_cast<float>(e.qpos[i]); });
    team.for_each(kVelocities, [&](int i) { obs[kPositions + i] = static_cast<float>(e.qvel[i]); });
    team.for_each(kActuators, [&](int i) {
      obs[num_obs - kActuators + i] =
          static_cast<float>(static_cast<double>(e.ctrl[i]) - e.qpos[i]);
    });
    team.once([&] {
      float* o = obs + kPositions + kVelocities;
      const auto put = [&](const Vec3<double>& v) { write3(o, v), o += 3; };
      // the second and the third row: columns are the axes
      const auto rows = [&](const Mat3<S>& a) {
        const S numbers[6] = {a.x.y, a.y.y, a.z.y, a.x.z, a.y.z, a.z.z};
        for (int k = 0; k < 6; ++k) *o++ = static_cast<float>(numbers[k]);
      };
      put(tip), rows(gripper), rows(box);
      put(at - tip), put(to - at);
      const S turn[6] = {S(1) - box.x.x, -box.y.x, -box.z.x, -box.x.y, S(1) - box.y.y, -box.z.y};
      for (int k = 0; k < 6; ++k) *o++ = static_cast<float>(turn[k]);
    });
  }

  template <class Team, class S>
  STICTION_FN void judge(const Team& team, TaskEnv<S>& env, const Mat3<S>& box,
                         const Vec3<double>& tip, const Vec3<double>& at,
                         const Vec3<double>& to) const {
    const EnvView<S>& e = env.fields;
    const double apart = physics::norm(to - at), reach = physics::norm(at - tip);
    const bool reached = env.memory[0] > S(0) || reach < 0.012;
    const double bent = physics::vsqrt(team.template sum<double>(kArm, [&](int i) {
      const double d = e.qpos[i] - home[i];
      return d * d;
    }));
    bool touches = false;  // pads and hand, the floor
    for (int k = 0; k < 3; ++k) touches = touches || e.sensordata[k] > S(0);
    const double near = nearness(5 * reach), straight = nearness(bent);
    const double there = reached ? nearness(5 * (0.9 * apart + 0.1 * matrix_error(box))) : 0.0;
    const double clear = touches ? 0.0 : 1.0;
    const bool out =
        physics::vmax(physics::vmax(std::fabs(at.x), std::fabs(at.y)), std::fabs(at.z)) > 1 ||
        at.z < 0;
    const double open = 0.5 * (e.qpos[kArm] + e.qpos[kArm + 1]);
    const double held = reach < kInHand ? 1.0 : 0.0;
    const double grasp = held * physics::clamp((home[kArm] - open) / kClosed, 0.0, 1.0);
    const double lift = held * physics::clamp((at.z - place[2]) / kLifted, 0.0, 1.0);
    const double carry = held * physics::clamp(1 - apart / kFar, 0.0, 1.0);
    env.reward = S(4 * near + 8 * there + 0.25 * clear + 0.3 * straight +
                   hold_weight * (grasp + lift + carry));
    env.terminated = out;
    team.sync();  // all threads have read the memory
    team.once([&] {
      env.memory[0] = S(reached ? 1 : 0);
      const double success = apart < success_distance ? 1.0 : 0.0;
      const double numbers[num_metrics] = {near,  there, clear, straight, out ? 1.0 : 0.0,
                                           apart, grasp, lift,  carry,    success};
      for (int k = 0; k < num_metrics; ++k) env.metric[k] = static_cast<float>(numbers[k]);
    });
  }
};

}  // namespace stiction::envs

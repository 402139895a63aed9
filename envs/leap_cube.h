// LeapCube: a hand turns the cube that lies in it about the vertical, after MuJoCo Playground's LeapCubeRotateZAxis.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

struct LeapCube {
  static constexpr int kHand = 16, kFingers = 4;  // joints, each with a servo
  static constexpr int kTurn = kHand + 3;  // in qpos: hand, then place and orientation of the cube
  static constexpr int num_obs = 3 * kHand + 3 + 6 + 6 + 3 * kFingers;
  static constexpr int num_actions = kHand, num_metrics = 5;
  // orientation of the cube at the beginning of the control step; angle turned since the reset
  static constexpr int kAngle = 4, num_memory = 5;

  double action_scale, drop_cost, success_angle;  // rad; rad; rad
  double home[kHand], place[3];                   // joints and cube at the start
  double joint_noise, place_noise;                // of the start, rad and m
  double hold[3];                                 // where the cube is held, in the world
  double lowest;                                  // below this the cube is dropped, m
  int distal[kFingers];                           // last bodies of the fingers
  double tip[kFingers][3];                        // their tips, in these bodies

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView&, TaskEnv<S>& env) const {
    team.once([&] {
      EnvView<S>& e = env.fields;
      Draw draw(env.seed, env.episode, Purpose::reset);
      for (int i = 0; i < kHand; ++i) {
        const double q = within_control(e, i, home[i] + draw.uniform(-joint_noise, joint_noise));
        e.qpos[i] = q, e.ctrl[i] = S(q);
      }
      for (int k = 0; k < 2; ++k)
        e.qpos[kHand + k] = place[k] + draw.uniform(-place_noise, place_noise);
      e.qpos[kHand + 2] = place[2];
      const auto half = physics::sincos(draw.uniform(-kPi, kPi) / 2);  // about the vertical
      physics::store4(e.qpos + kTurn, 0, Quat<double>{half.cos, 0.0, 0.0, half.sin});
    });
  }

  // An action moves the servos' targets away from the home pose.
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView&, TaskEnv<S>& env) const {
    EnvView<S>& e = env.fields;
    team.for_each(kHand, [&](int i) {
      const double to = home[i] + action_scale * static_cast<double>(env.action[i]);
      e.ctrl[i] = S(within_control(e, i, to));
    });
    team.for_each(4, [&](int k) { env.memory[k] = S(e.qpos[kTurn + k]); });
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView&, TaskEnv<S>& env, bool first) const {
    const EnvView<S>& e = env.fields;
    float* obs = env.obs;
    team.for_each(kHand, [&](int i) {
      obs[i] = static_cast<float>(e.qpos[i]);
      obs[kHand + i] = static_cast<float>(e.qvel[i]);
      obs[2 * kHand + i] = static_cast<float>(static_cast<double>(e.ctrl[i]) - e.qpos[i]);
    });
    const Vec3<double> at = physics::load3(e.qpos + kHand, 0);
    team.once([&] {
      float* o = obs + 3 * kHand;
      const Mat3<double> axes = physics::matrix(physics::load4(e.qpos + kTurn, 0));
      write3(o, at - physics::load3(hold, 0));
      write3(o + 3, axes.x), write3(o + 6, axes.y);
      write3(o + 9, physics::widen3(physics::load3(e.qvel + kHand, 0)));
      write3(o + 12, axes * physics::widen3(physics::load3(e.qvel + kHand, 1)));
    });
    team.for_each(kFingers, [&](int f) {
      const Vec3<double> tip_at =
          physics::load3(e.xpos, distal[f]) +
          physics::rotate(physics::load4(e.xquat, distal[f]), physics::load3(tip[f], 0));
      write3(obs + 3 * kHand + 15 + 3 * f, tip_at - at);
    });
    if (!first) judge(team, env, at);
  }

 private:
  // Turned in the control step: the vertical part of the rotation vector from the orientation before to that after.
  template <class Team, class S>
  STICTION_FN void judge(const Team& team, TaskEnv<S>& env, const Vec3<double>& at) const {
    const S* m = env.memory;
    const Quat<double> before = {static_cast<double>(m[0]), static_cast<double>(m[1]),
                                 static_cast<double>(m[2]), static_cast<double>(m[3])};
    const Quat<double> now = physics::load4(env.fields.qpos + kTurn, 0);
    const double step = physics::log_quat(physics::normalized(now * physics::conjugate(before))).z;
    const double angle = static_cast<double>(m[kAngle]) + step;
    const bool dropped = at.z < lowest;
    const double cost = dropped ? -drop_cost : 0.0;
    env.reward = S(step + cost);
    env.terminated = dropped;
    team.sync();  // all threads have read the memory
    team.once([&] { env.memory[kAngle] = S(angle); });
    write_metrics(team, env,
                  {step, cost, step / env.dt, angle, angle >= success_angle ? 1.0 : 0.0});
  }
};

}  // namespace stiction::envs

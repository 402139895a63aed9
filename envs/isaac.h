// What the tasks of IsaacGymEnvs share: a robot whose torso is body 1 on a free joint runs towards a
// far target along x; every other joint is a hinge with limits and a motor, in the same order.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

inline constexpr double kIsaacTarget = 1000.0;  // x of the target, m; y and z are 0

// The torso against the target.
struct IsaacHeading {
  double yaw, roll;        // in (−π, π]
  double angle_to_target;  // from the target's z where one expects its y, as in IsaacGymEnvs
  double up, heading;      // z of the torso's z axis; its x axis along the horizontal to the target
  double distance;         // horizontal, m
};

STICTION_FN IsaacHeading isaac_heading(const double* pos, const double* quat) {
  const double w = quat[0], x = quat[1], y = quat[2], z = quat[3];
  IsaacHeading t;
  t.yaw = angle(2 * (w * z + x * y), w * w + x * x - y * y - z * z);
  t.roll = angle(2 * (w * x + y * z), w * w - x * x - y * y + z * z);
  const double dx = kIsaacTarget - pos[0], dy = -pos[1];
  t.distance = std::sqrt(dx * dx + dy * dy);
  t.angle_to_target = angle(-pos[2], dx) - t.yaw;
  t.up = w * w - x * x - y * y + z * z;
  const double forward_x = w * w + x * x - y * y - z * z, forward_y = 2 * (x * y + w * z);
  t.heading = (forward_x * dx + forward_y * dy) / t.distance;
  return t;
}

// The same angle in [0, 2π).
STICTION_FN double positive_angle(double a) {
  const double b = std::fmod(a, 2 * kPi);
  return b < 0 ? b + 2 * kPi : b;
}

// Hinge i: position scaled so that its limits are −1 and 1.
template <class S>
STICTION_FN double scaled_position(const EnvView<S>& e, int i) {
  const double low = e.jnt_range[2 * (i + 1)], high = e.jnt_range[2 * (i + 1) + 1];
  return (2 * e.qpos[7 + i] - high - low) / (high - low);
}

template <class S>
STICTION_FN S clipped_action(const TaskEnv<S>& env, int i) {
  return clip(static_cast<S>(env.action[i]), -1.0, 1.0);
}

// Velocity of the torso in its own axes.
template <class S>
STICTION_FN Vec3<S> torso_velocity(const EnvView<S>& e) {
  return physics::transposed(body_axes(e, 1), physics::load3(e.qvel, 0));
}

// Contact force on body b and its torque about the origin of the body's frame, in its axes.
template <class S>
STICTION_FN void write_foot_sensor(float* to, const EnvView<S>& e, int b, double scale) {
  const Mat3<S> axes = body_axes(e, b);
  const Vec3<S> centre = axes * physics::narrow3<S>(physics::load3(e.body_ipos, b));
  const Vec3<S> force = physics::load3(e.xfrc_contact, 2 * b);
  const Vec3<S> torque = physics::load3(e.xfrc_contact, 2 * b + 1) + physics::cross(centre, force);
  const S s = static_cast<S>(scale);
  write6(to,
         Spatial<S>{s * physics::transposed(axes, force), s * physics::transposed(axes, torque)});
}

// Upright and at rest at `height`; hinges at 0 moved into their limits + U(±0.2), within the limits.
template <class Team, class S>
STICTION_FN void isaac_reset(const Team& team, const ModelView& m, TaskEnv<S>& env, double height) {
  team.once([&] {
    EnvView<S>& e = env.fields;
    Draw draw(env.seed, env.episode, Purpose::reset);
    e.qpos[2] = height;
    for (int i = 0; i < m.nv - 6; ++i) {
      const double low = e.jnt_range[2 * (i + 1)], high = e.jnt_range[2 * (i + 1) + 1];
      const double start = physics::clamp(0.0, low, high);
      e.qpos[7 + i] = physics::clamp(start + draw.uniform(-0.2, 0.2), low, high);
    }
    for (int i = 6; i < m.nv; ++i) e.qvel[i] = static_cast<S>(draw.uniform(-0.1, 0.1));
  });
}

// What the robots share: numbers, a step's beginning and its reward.
struct IsaacRobot {
  double heading_weight = 0, up_weight = 0, actions_cost = 0, energy_cost = 0;
  double dof_velocity_scale = 0, contact_force_scale = 0, joints_at_limit_cost = 0;
  double death_cost = 0, termination_height = 0, alive_reward = 0;

  static constexpr int num_metrics = 7, num_memory = 4;

  // Clipped actions to ctrl; where the torso is before the step.
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    team.for_each(m.nu, [&](int i) { env.fields.ctrl[i] = clipped_action(env, i); });
    team.for_each(2, [&](int k) { keep<S>(env.memory + 2 * k, env.fields.xpos[3 + k]); });
  }

 protected:
  // Reward, end and metrics; power and at_limit as the robot weighs its joints.
  template <class Team, class S>
  STICTION_FN void judge(const Team& team, const ModelView& m, TaskEnv<S>& env,
                         const IsaacHeading& t, const S& power, const S& at_limit) const {
    const auto actions = team.template sum<S>(m.nu, [&](int i) {
      const S a = clipped_action(env, i);
      return a * a;
    });
    // approach to the target per time: the difference of potentials −distance / dt
    const double dx = kIsaacTarget - kept<S>(env.memory), y = kept<S>(env.memory + 2);
    const double progress = (std::sqrt(dx * dx + y * y) - t.distance) / env.dt;
    const double ahead = t.heading > 0.8 ? 1.0 : t.heading / 0.8;
    const double terms[num_metrics] = {progress,
                                       t.up > 0.93 ? up_weight : 0.0,
                                       heading_weight * ahead,
                                       -actions_cost * static_cast<double>(actions),
                                       -energy_cost * static_cast<double>(power),
                                       -joints_at_limit_cost * static_cast<double>(at_limit),
                                       static_cast<double>(env.fields.qvel[0])};
    double reward = alive_reward;
    for (int k = 0; k < num_metrics - 1; ++k) reward += terms[k];
    env.terminated = env.fields.qpos[2] < termination_height;
    env.reward = static_cast<S>(env.terminated ? death_cost : reward);
    write_metrics(team, env, terms);
  }
};

}  // namespace stiction::envs

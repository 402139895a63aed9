// Gymnasium's Humanoid-v5: run forward on two legs.
#pragma once

#include "envs/humanoid_observation.h"

namespace stiction::envs {

struct Humanoid : HumanoidObservation {
  double forward_reward_weight = 1.25, ctrl_cost_weight = 0.1, contact_cost_weight = 5e-7;
  double healthy_reward = 5, reset_noise_scale = 0.01;
  double healthy_z_range[2] = {1.0, 2.0}, contact_cost_range[2] = {-kUnbounded, 10.0};
  bool terminate_when_unhealthy = true;

  int num_obs = 348;
  static constexpr int num_actions = 17, num_metrics = 9, num_memory = 4;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    add_noise_to_robot(team, m, env, reset_noise_scale, Noise::uniform);
  }

  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    apply_action(team, m, env);
    const EnvView<S>& e = env.fields;
    const Vec3<S> centre = robot_centre(m, e);
    team.for_each(2, [&](int k) {
      keep<S>(env.memory + 2 * k, e.xpos[3 + k] + physics::widen<S>(k == 0 ? centre.x : centre.y));
    });
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& env,
                           bool first) const {
    const EnvView<S>& e = env.fields;
    const Vec3<S> centre = robot_centre(m, e);
    write_observation(team, m, env, centre);
    if (first) return;

    const double contact = contact_cost_weight * squared_forces(team, m, env, centre);
    const double contact_cost = clip(contact, contact_cost_range[0], contact_cost_range[1]);
    const auto speed = [&](int k) {
      const double now = e.xpos[3 + k] + physics::widen<S>(k == 0 ? centre.x : centre.y);
      return (now - kept<S>(env.memory + 2 * k)) / env.dt;
    };
    const bool healthy = e.qpos[2] > healthy_z_range[0] && e.qpos[2] < healthy_z_range[1];
    const double forward = forward_reward_weight * speed(0);
    const double ctrl = ctrl_cost_weight * static_cast<double>(squared_actions(team, m, env));
    const double survive = healthy ? healthy_reward : 0;
    env.reward = static_cast<S>(forward + survive - ctrl - contact_cost);
    env.terminated = terminate_when_unhealthy && !healthy;
    const double x = e.qpos[0], y = e.qpos[1];
    write_metrics(team, env,
                  {survive, forward, -ctrl, -contact_cost, x, y, std::sqrt(x * x + y * y), speed(0),
                   speed(1)});
  }
};

}  // namespace stiction::envs

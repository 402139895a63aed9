// Gymnasium's Ant-v5: run forward on four legs.
//
// Positions and cfrc_ext belong to the state after the step and to the contacts of its last physics
// step; in MuJoCo positions and cfrc_ext are one physics step older.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

struct Ant {
  double forward_reward_weight = 1, ctrl_cost_weight = 0.5, contact_cost_weight = 5e-4;
  double healthy_reward = 1, reset_noise_scale = 0.1;
  double healthy_z_range[2] = {0.2, 1.0}, contact_force_range[2] = {-1.0, 1.0};
  bool terminate_when_unhealthy = true;
  bool exclude_current_positions_from_observation = true;
  bool include_cfrc_ext_in_observation = true;
  int main_body = 1;  // whose speed is rewarded

  int num_obs = 105;
  static constexpr int num_actions = 8, num_metrics = 9, num_memory = 4;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    add_noise_to_robot(team, m, env, reset_noise_scale, Noise::normal);
  }

  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    apply_action(team, m, env);
    team.for_each(2,
                  [&](int k) { keep<S>(env.memory + 2 * k, env.fields.xpos[3 * main_body + k]); });
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& env,
                           bool first) const {
    const EnvView<S>& e = env.fields;
    const int skip = exclude_current_positions_from_observation ? 2 : 0;
    observe_state(team, m, env, skip, kUnbounded);
    float* obs = env.obs + m.nq - skip + m.nv;

    const Vec3<S> centre = robot_centre(m, e);
    const auto wrench = [&](int i) {
      return clip(external_wrench(e, i + 1, centre), contact_force_range);
    };
    if (include_cfrc_ext_in_observation)
      team.for_each(m.nbody - 1, [&](int i) { write6(obs + 6 * i, wrench(i)); });
    if (first) return;

    const S contact =
        team.template sum<S>(m.nbody - 1, [&](int i) { return sum_of_squares(wrench(i)); });
    const auto speed = [&](int k) {
      return (e.xpos[3 * main_body + k] - kept<S>(env.memory + 2 * k)) / env.dt;
    };
    const double z = e.qpos[2];
    const bool healthy = z >= healthy_z_range[0] && z <= healthy_z_range[1];
    const double forward = forward_reward_weight * speed(0);
    const double ctrl = ctrl_cost_weight * static_cast<double>(squared_actions(team, m, env));
    const double contact_cost = contact_cost_weight * static_cast<double>(contact);
    const double survive = healthy ? healthy_reward : 0;
    env.reward = static_cast<S>(forward + survive - ctrl - contact_cost);
    env.terminated = terminate_when_unhealthy && !healthy;
    const double x = e.qpos[0], y = e.qpos[1];
    write_metrics(team, env,
                  {forward, -ctrl, -contact_cost, survive, x, y, std::sqrt(x * x + y * y), speed(0),
                   speed(1)});
  }
};

}  // namespace stiction::envs

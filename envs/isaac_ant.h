// Ant of IsaacGymEnvs: run to a target 1 km ahead.
//
// The foot sensors are the contact wrench on the foot. In the source they come from the articulation's
// constraint solver, whose inner forces are not documented.
#pragma once

#include "envs/isaac.h"

namespace stiction::envs {

struct IsaacAnt {
  double heading_weight = 0.5, up_weight = 0.1, actions_cost = 0.005, energy_cost = 0.05;
  double dof_velocity_scale = 0.2, contact_force_scale = 0.1, joints_at_limit_cost = 0.1;
  double death_cost = -2.0, termination_height = 0.31, alive_reward = 0.5;
  int foot[4] = {};  // bodies: front left, front right, left back, right back

  static constexpr int nobs = 60, naction = 8, nmetric = 7, nmemory = 4;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    isaac_reset(team, m, env, 0.44);
  }

  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    isaac_act(team, m, env);
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView&, TaskEnv<S>& env, bool first) const {
    const EnvView<S>& e = env.fields;
    const IsaacHeading t = isaac_heading(e.xpos + 3, e.xquat + 4);
    float* obs = env.obs;
    team.once([&] {
      obs[0] = static_cast<float>(e.qpos[2]);
      write6(obs + 1, Spatial<S>{torso_velocity(e), physics::load3(e.qvel, 1)});
      const double angles[5] = {positive_angle(t.yaw), positive_angle(t.roll), t.angle_to_target,
                                t.up, t.heading};
      for (int k = 0; k < 5; ++k) obs[7 + k] = static_cast<float>(angles[k]);
    });
    const S velocity_scale = static_cast<S>(dof_velocity_scale);
    team.for_each(naction, [&](int i) {
      obs[12 + i] = static_cast<float>(scaled_position(e, i));
      obs[20 + i] = static_cast<float>(velocity_scale * e.qvel[6 + i]);
      obs[52 + i] = first ? 0.0f : static_cast<float>(clipped_action(env, i));
    });
    team.for_each(
        4, [&](int f) { write_foot_sensor(obs + 28 + 6 * f, e, foot[f], contact_force_scale); });
    if (first) return;

    const auto actions = team.template sum<S>(naction, [&](int i) {
      const S a = clipped_action(env, i);
      return a * a;
    });
    const auto power = team.template sum<S>(naction, [&](int i) {
      return physics::vabs(clipped_action(env, i) * velocity_scale * e.qvel[6 + i]);
    });
    const auto at_limit = team.template sum<S>(
        naction, [&](int i) { return scaled_position(e, i) > 0.99 ? S(1) : S(0); });
    const double terms[nmetric - 1] = {isaac_progress(env, t.distance),
                                       t.up > 0.93 ? up_weight : 0.0,
                                       heading_reward(heading_weight, t.heading),
                                       -actions_cost * static_cast<double>(actions),
                                       -energy_cost * static_cast<double>(power),
                                       -joints_at_limit_cost * static_cast<double>(at_limit)};
    double reward = alive_reward;
    for (const double term : terms) reward += term;
    env.terminated = e.qpos[2] < termination_height;
    env.reward = static_cast<S>(env.terminated ? death_cost : reward);
    team.once([&] {
      for (int k = 0; k < nmetric - 1; ++k) env.metric[k] = static_cast<float>(terms[k]);
      env.metric[nmetric - 1] = static_cast<float>(e.qvel[0]);
    });
  }
};

}  // namespace stiction::envs

// Ant of IsaacGymEnvs: run to a target 1 km ahead.
//
// The foot sensors are the contact wrench on the foot. In the source they come from the articulation's
// constraint solver, whose inner forces are not documented.
#pragma once

#include "envs/isaac.h"

namespace stiction::envs {

struct IsaacAnt : IsaacRobot {
  int foot[4] = {};  // bodies: front left, front right, left back, right back

  static constexpr int num_obs = 60, num_actions = 8;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    isaac_reset(team, m, env, 0.44);
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& env,
                           bool first) const {
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
    team.for_each(num_actions, [&](int i) {
      obs[12 + i] = static_cast<float>(scaled_position(e, i));
      obs[20 + i] = static_cast<float>(velocity_scale * e.qvel[6 + i]);
      obs[52 + i] = static_cast<float>(clipped_action(env, i));
    });
    team.for_each(
        4, [&](int f) { write_foot_sensor(obs + 28 + 6 * f, e, foot[f], contact_force_scale); });
    if (first) return;

    const auto power = team.template sum<S>(num_actions, [&](int i) {
      return physics::vabs(clipped_action(env, i) * velocity_scale * e.qvel[6 + i]);
    });
    const auto at_limit = team.template sum<S>(
        num_actions, [&](int i) { return scaled_position(e, i) > 0.99 ? S(1) : S(0); });
    judge(team, m, env, t, power, at_limit);
  }
};

}  // namespace stiction::envs

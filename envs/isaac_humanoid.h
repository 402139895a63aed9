// Humanoid of IsaacGymEnvs: run to a target 1 km ahead.
//
// The joint forces are those of the motors, the foot sensors the contact wrench on the foot. In the
// source both come from the articulation's solver, whose inner forces are not documented.
#pragma once

#include "envs/isaac.h"

namespace stiction::envs {

struct IsaacHumanoid : IsaacRobot {
  double angular_velocity_scale = 0.25;
  int foot[2] = {};  // bodies: right, left

  static constexpr int num_obs = 108, num_actions = 21;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    isaac_reset(team, m, env, 1.34);
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& env,
                           bool first) const {
    const EnvView<S>& e = env.fields;
    const IsaacHeading t = isaac_heading(e.xpos + 3, e.xquat + 4);
    float* obs = env.obs;
    team.once([&] {
      obs[0] = static_cast<float>(e.qpos[2]);
      const S turning = static_cast<S>(angular_velocity_scale);
      write6(obs + 1, Spatial<S>{torso_velocity(e), turning * physics::load3(e.qvel, 1)});
      const double angles[5] = {wrapped_angle(t.yaw), wrapped_angle(t.roll),
                                wrapped_angle(t.angle_to_target), t.up, t.heading};
      for (int k = 0; k < 5; ++k) obs[7 + k] = static_cast<float>(angles[k]);
    });
    const S velocity_scale = static_cast<S>(dof_velocity_scale);
    const S force_scale = static_cast<S>(contact_force_scale);
    team.for_each(num_actions, [&](int i) {
      obs[12 + i] = static_cast<float>(scaled_position(e, i));
      obs[33 + i] = static_cast<float>(velocity_scale * e.qvel[6 + i]);
      obs[54 + i] = static_cast<float>(force_scale * e.qfrc_actuator[6 + i]);
      obs[87 + i] = static_cast<float>(clipped_action(env, i));
    });
    team.for_each(
        2, [&](int f) { write_foot_sensor(obs + 75 + 6 * f, e, foot[f], contact_force_scale); });
    if (first) return;

    // effort of a motor against the strongest
    S strongest = S(0);
    for (int i = 0; i < num_actions; ++i)
      strongest = physics::vmax(e.actuator_gear[6 * i], strongest);
    const auto share = [&](int i) { return e.actuator_gear[6 * i] / strongest; };
    const auto power = team.template sum<S>(num_actions, [&](int i) {
      return share(i) * physics::vabs(clipped_action(env, i) * velocity_scale * e.qvel[6 + i]);
    });
    const auto at_limit = team.template sum<S>(num_actions, [&](int i) {
      const double over = std::fabs(scaled_position(e, i)) - 0.98;
      return over > 0 ? share(i) * static_cast<S>(over / 0.02) : S(0);
    });
    judge(team, m, env, t, power, at_limit);
  }
};

}  // namespace stiction::envs

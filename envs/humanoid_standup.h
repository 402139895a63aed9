// Gymnasium's HumanoidStandup-v5: stand up from lying on the back. An episode never terminates.
#pragma once

#include "envs/humanoid_observation.h"

namespace stiction::envs {

struct HumanoidStandup : HumanoidObservation {
  double uph_cost_weight = 1, ctrl_cost_weight = 0.1, impact_cost_weight = 5e-7;
  double impact_cost_range[2] = {-kUnbounded, 10.0}, reset_noise_scale = 0.01;
  int frame_skip = 5;  // physics steps of a control step

  int num_obs = 348;
  static constexpr int num_actions = 17, num_metrics = 6, num_memory = 0;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    add_noise_to_robot(team, m, env, reset_noise_scale, Noise::uniform);
  }

  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    apply_action(team, m, env);
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& env,
                           bool first) const {
    const EnvView<S>& e = env.fields;
    const Vec3<S> centre = robot_centre(m, e);
    write_observation(team, m, env, centre);
    if (first) return;

    // Gymnasium divides the height by the physics step, not by the control step
    const double up = uph_cost_weight * e.qpos[2] / (env.dt / frame_skip);
    const double ctrl = ctrl_cost_weight * static_cast<double>(squared_actions(team, m, env));
    const double impact = clip(impact_cost_weight * squared_forces(team, m, env, centre),
                               impact_cost_range[0], impact_cost_range[1]);
    env.reward = static_cast<S>(up - ctrl - impact + 1);
    env.terminated = false;
    write_metrics(team, env, {up, -ctrl, -impact, e.qpos[0], e.qpos[1], e.qpos[2] - e.qpos0[2]});
  }
};

}  // namespace stiction::envs

// Cartpole of IsaacGymEnvs: keep a pole upright on a cart that slides along y.
#pragma once

#include "envs/locomotion.h"

namespace stiction::envs {

struct IsaacCartpole {
  double reset_dist = 3.0;  // m

  static constexpr int num_obs = 4, num_actions = 1, num_metrics = 2, num_memory = 0;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView&, TaskEnv<S>& env) const {
    team.once([&] {
      Draw draw(env.seed, env.episode, Purpose::reset);
      for (int i = 0; i < 2; ++i) env.fields.qpos[i] = draw.uniform(-0.1, 0.1);
      for (int i = 0; i < 2; ++i) env.fields.qvel[i] = static_cast<S>(draw.uniform(-0.25, 0.25));
    });
  }

  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& env) const {
    apply_action(team, m, env);
  }

  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView&, TaskEnv<S>& env, bool first) const {
    constexpr double kHalfPi = 1.5707963267948966;
    const EnvView<S>& e = env.fields;
    const double x = e.qpos[0], angle = e.qpos[1];
    const auto v = static_cast<double>(e.qvel[0]), rate = static_cast<double>(e.qvel[1]);
    const double numbers[num_obs] = {x, v, angle, rate};
    team.for_each(num_obs,
                  [&](int i) { env.obs[i] = static_cast<float>(clip(numbers[i], -5.0, 5.0)); });
    if (first) return;

    env.terminated = std::fabs(x) > reset_dist || std::fabs(angle) > kHalfPi;
    const double reward = 1 - angle * angle - 0.01 * std::fabs(v) - 0.005 * std::fabs(rate);
    env.reward = static_cast<S>(env.terminated ? -2.0 : reward);
    team.once([&] {
      env.metric[0] = static_cast<float>(x);
      env.metric[1] = static_cast<float>(angle);
    });
  }
};

}  // namespace stiction::envs

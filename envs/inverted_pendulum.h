// Gymnasium's InvertedPendulum-v5: a pole on a cart.
#pragma once

#include "envs/gymnasium.h"

namespace stiction::envs {

struct InvertedPendulum {
  double noise;  // reset_noise_scale

  static constexpr int num_obs = 4, num_actions = 1, num_metrics = 1, num_memory = 0;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    add_noise(team, m, e, noise, Noise::uniform);
  }
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    apply_action(team, m, e);
  }
  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& e, bool first) const {
    observe_state(team, m, e, 0, kUnbounded);
    if (first) return;
    e.terminated = !(physics::vabs(e.fields.qpos[1]) <= Wide<S>(0.2));
    e.reward = S(e.terminated ? 0.0 : 1.0);
    team.once([&] { e.metric[0] = static_cast<float>(e.reward); });
  }
};

}  // namespace stiction::envs

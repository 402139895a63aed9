// Gymnasium's HalfCheetah-v5.
#pragma once

#include "envs/gymnasium.h"

namespace stiction::envs {

struct HalfCheetah {
  double forward_weight, ctrl_cost, noise;
  int first_qpos;  // 1: the observation leaves out rootx
  int num_obs;

  static constexpr int num_actions = 6, num_metrics = 4, num_memory = 2;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    add_noise(team, m, e, noise, Noise::normal);
  }
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    act_and_keep_x(team, m, e);
  }
  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& e, bool first) const {
    observe_state(team, m, e, first_qpos, kUnbounded);
    if (first) return;
    const S speed = x_velocity(e);
    const S forward = S(forward_weight) * speed;
    const S ctrl = S(-ctrl_cost) * squared_actions<Team, S>(team, m, e);
    e.reward = forward + ctrl;
    e.terminated = false;
    team.once([&] {
      e.metric[0] = static_cast<float>(forward);
      e.metric[1] = static_cast<float>(ctrl);
      e.metric[2] = static_cast<float>(e.fields.qpos[0]);
      e.metric[3] = static_cast<float>(speed);
    });
  }
};

}  // namespace stiction::envs

// Gymnasium's Swimmer-v5: three links in a plane that push a viscous medium. An episode never terminates.
#pragma once

#include "envs/gymnasium.h"

namespace stiction::envs {

struct Swimmer {
  double forward_weight, ctrl_cost, noise;
  int first_qpos;  // 2: the observation leaves out the place
  int num_obs;

  static constexpr int num_actions = 2, num_metrics = 7, num_memory = 4;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    add_noise(team, m, e, noise, Noise::uniform);
  }
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    apply_action(team, m, e);
    team.once([&] {
      keep<S>(e.memory, e.fields.qpos[0]);
      keep<S>(e.memory + 2, e.fields.qpos[1]);
    });
  }
  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& e, bool first) const {
    observe_state(team, m, e, first_qpos, kUnbounded);
    if (first) return;
    using W = Wide<S>;
    const W x = e.fields.qpos[0], y = e.fields.qpos[1];
    const S vx = physics::narrow<S>((x - kept<S>(e.memory)) / W(e.dt));
    const S vy = physics::narrow<S>((y - kept<S>(e.memory + 2)) / W(e.dt));
    const S forward = S(forward_weight) * vx;
    const S ctrl = S(-ctrl_cost) * squared_actions<Team, S>(team, m, e);
    e.reward = forward + ctrl;
    e.terminated = false;
    team.once([&] {
      float* const metric = e.metric;
      metric[0] = static_cast<float>(forward);
      metric[1] = static_cast<float>(ctrl);
      metric[2] = static_cast<float>(x);
      metric[3] = static_cast<float>(y);
      metric[4] = static_cast<float>(physics::vsqrt(x * x + y * y));
      metric[5] = static_cast<float>(vx);
      metric[6] = static_cast<float>(vy);
    });
  }
};

}  // namespace stiction::envs

// Gymnasium's Hopper-v5 and Walker2d-v5: forward in a plane without falling.
#pragma once

#include "envs/gymnasium.h"

namespace stiction::envs {

struct PlanarWalker {
  double forward_weight, ctrl_cost, healthy_reward, noise;
  bool ends_unhealthy;
  double state_low, state_high;  // bounds of qpos and qvel from index 2 on; Walker2d: infinite
  double z_low, z_high, angle_low, angle_high;
  int first_qpos;  // 1: the observation leaves out rootx
  int num_obs, num_actions;

  static constexpr int num_metrics = 6, num_memory = 2;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    add_noise(team, m, e, noise, Noise::uniform);
  }
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    act_and_keep_x(team, m, e);
  }
  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& e, bool first) const {
    observe_state(team, m, e, first_qpos, 10.0);
    if (first) return;
    const Wide<S>* qpos = e.fields.qpos;
    const S speed = x_velocity(e);
    const S forward = S(forward_weight) * speed;
    const S ctrl = S(-ctrl_cost) * squared_actions<Team, S>(team, m, e);
    const bool well = healthy<Team, S>(team, m, e);
    const S survive = well ? S(healthy_reward) : S(0.0);
    e.reward = forward + survive + ctrl;
    e.terminated = ends_unhealthy && !well;
    team.once([&] {
      e.metric[0] = static_cast<float>(forward);
      e.metric[1] = static_cast<float>(ctrl);
      e.metric[2] = static_cast<float>(survive);
      e.metric[3] = static_cast<float>(qpos[0]);
      e.metric[4] = static_cast<float>(qpos[1] - e.fields.qpos0[1]);
      e.metric[5] = static_cast<float>(speed);
    });
  }

 private:
  template <class Team, class S>
  STICTION_FN bool healthy(const Team& team, const ModelView& m, const TaskEnv<S>& e) const {
    const Wide<S>* qpos = e.fields.qpos;
    const S outside = team.template sum<S>(m.nq - 2 + m.nv, [&](int i) {
      const Wide<S> x =
          i < m.nq - 2 ? qpos[2 + i] : physics::widen<S>(e.fields.qvel[i - (m.nq - 2)]);
      return S(x > state_low && x < state_high ? 0.0 : 1.0);
    });
    return outside == S(0.0) && qpos[1] > z_low && qpos[1] < z_high && qpos[2] > angle_low &&
           qpos[2] < angle_high;
  }
};

}  // namespace stiction::envs

// Gymnasium's InvertedDoublePendulum-v5: two poles on a cart.
#pragma once

#include "envs/gymnasium.h"
#include "physics/base/vec.h"

namespace stiction::envs {

struct InvertedDoublePendulum {
  double healthy_reward, noise;
  int tip_site;

  static constexpr int num_obs = 9, num_actions = 1, num_metrics = 3, num_memory = 0;

  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    add_noise(team, m, e, noise, Noise::normal);
  }
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    apply_action(team, m, e);
  }
  // The force at the limit of the slider is that of the last physics step, the tip is where it is now.
  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& e, bool first) const {
    const auto& f = e.fields;
    float* obs = e.obs;
    team.for_each(2, [&](int i) {
      const auto angle = physics::sincos(f.qpos[1 + i]);
      obs[1 + i] = static_cast<float>(angle.sin);
      obs[3 + i] = static_cast<float>(angle.cos);
    });
    team.for_each(3, [&](int i) {
      obs[5 + i] = static_cast<float>(physics::clamp(f.qvel[i], S(-10.0), S(10.0)));
    });
    team.once([&] {
      obs[0] = static_cast<float>(f.qpos[0]);
      obs[8] = static_cast<float>(physics::clamp(f.qfrc_constraint[0], S(-10.0), S(10.0)));
    });
    if (first) return;

    using W = Wide<S>;
    const int body = m.site_bodyid[tip_site];
    const auto tip =
        physics::load3(f.xpos, body) +
        physics::rotate(physics::load4(f.xquat, body), physics::load3(f.site_pos, tip_site));
    const S x = physics::narrow<S>(tip.x), below = physics::narrow<S>(tip.z - W(2.0));
    const S distance = S(0.01) * x * x + below * below;
    const S speed = S(1e-3) * f.qvel[1] * f.qvel[1] + S(5e-3) * f.qvel[2] * f.qvel[2];
    e.terminated = tip.z <= W(1.0);
    const S survive = e.terminated ? S(0.0) : S(healthy_reward);
    e.reward = survive - distance - speed;
    team.once([&] {
      e.metric[0] = static_cast<float>(survive);
      e.metric[1] = static_cast<float>(-distance);
      e.metric[2] = static_cast<float>(-speed);
    });
  }
};

}  // namespace stiction::envs

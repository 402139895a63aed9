// Gymnasium's Reacher-v5: bring the fingertip of a planar arm to a target.
#pragma once

#include "envs/gymnasium.h"

namespace stiction::envs {

struct Reacher {
  double distance_weight, control_weight;
  int fingertip, target;  // bodies

  static constexpr int num_obs = 10, num_actions = 2, num_metrics = 2, num_memory = 0;

  // The target is drawn in a square until it lies in the circle; it rests.
  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    team.once([&] {
      Draw draw(e.seed, e.episode, Purpose::reset);
      for (int i = 0; i < m.nq - 2; ++i) e.fields.qpos[i] += Wide<S>(draw.uniform(-0.1, 0.1));
      for (int i = 0; i < m.nv - 2; ++i) e.fields.qvel[i] += S(draw.uniform(-0.005, 0.005));
      double x, y;
      do {
        x = draw.uniform(-0.2, 0.2), y = draw.uniform(-0.2, 0.2);
      } while (x * x + y * y >= 0.04);
      e.fields.qpos[m.nq - 2] = Wide<S>(x), e.fields.qpos[m.nq - 1] = Wide<S>(y);
    });
  }
  template <class Team, class S>
  STICTION_FN void act(const Team& team, const ModelView& m, TaskEnv<S>& e) const {
    apply_action(team, m, e);
  }
  template <class Team, class S>
  STICTION_FN void observe(const Team& team, const ModelView& m, TaskEnv<S>& e, bool first) const {
    const auto& f = e.fields;
    float* obs = e.obs;
    const Wide<S>*tip = f.xpos + 3 * fingertip, *goal = f.xpos + 3 * target;
    team.for_each(2, [&](int i) {
      const auto angle = physics::sincos(f.qpos[i]);
      obs[i] = static_cast<float>(angle.cos);
      obs[2 + i] = static_cast<float>(angle.sin);
      obs[4 + i] = static_cast<float>(f.qpos[2 + i]);
      obs[6 + i] = static_cast<float>(f.qvel[i]);
      obs[8 + i] = static_cast<float>(tip[i] - goal[i]);
    });
    if (first) return;
    const S d[] = {physics::narrow<S>(tip[0] - goal[0]), physics::narrow<S>(tip[1] - goal[1]),
                   physics::narrow<S>(tip[2] - goal[2])};
    const S distance =
        S(-distance_weight) * physics::vsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const S control = S(-control_weight) * squared_actions<Team, S>(team, m, e);
    e.reward = distance + control;
    e.terminated = false;
    team.once([&] {
      e.metric[0] = static_cast<float>(distance);
      e.metric[1] = static_cast<float>(control);
    });
  }
};

}  // namespace stiction::envs

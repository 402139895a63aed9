// Gymnasium's Pusher-v5: push a cylinder to a goal on a table with an arm of seven joints.
#pragma once

#include "envs/gymnasium.h"

namespace stiction::envs {

struct Pusher {
  double near_weight, distance_weight, control_weight;
  int tips, object, goal;  // bodies

  static constexpr int num_obs = 23, num_actions = 7, num_metrics = 3, num_memory = 0;
  static constexpr int kArm =
      7;  // joints; then the slides of the object and of the goal, y before x

  // The object is drawn in a rectangle until it is 0.17 m from the goal; both rest.
  template <class Team, class S>
  STICTION_FN void reset(const Team& team, const ModelView&, TaskEnv<S>& e) const {
    team.once([&] {
      Draw draw(e.seed, e.episode, Purpose::reset);
      double y, x;
      do {
        y = draw.uniform(-0.3, 0.0), x = draw.uniform(-0.2, 0.2);
      } while (y * y + x * x <= 0.17 * 0.17);
      e.fields.qpos[kArm] = Wide<S>(y), e.fields.qpos[kArm + 1] = Wide<S>(x);
      for (int i = 0; i < kArm; ++i) e.fields.qvel[i] += S(draw.uniform(-0.005, 0.005));
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
    const Wide<S>*tip = f.xpos + 3 * tips, *at = f.xpos + 3 * object, *to = f.xpos + 3 * goal;
    team.for_each(kArm, [&](int i) {
      obs[i] = static_cast<float>(f.qpos[i]);
      obs[kArm + i] = static_cast<float>(f.qvel[i]);
    });
    team.for_each(3, [&](int i) {
      obs[14 + i] = static_cast<float>(tip[i]);
      obs[17 + i] = static_cast<float>(at[i]);
      obs[20 + i] = static_cast<float>(to[i]);
    });
    if (first) return;
    const auto distance = [](const Wide<S>* a, const Wide<S>* b) {
      return physics::norm(physics::narrow3<S>(physics::load3(a, 0) - physics::load3(b, 0)));
    };
    const S near = S(-near_weight) * distance(at, tip);
    const S far = S(-distance_weight) * distance(at, to);
    const S control = S(-control_weight) * squared_actions<Team, S>(team, m, e);
    e.reward = far + control + near;
    e.terminated = false;
    team.once([&] {
      e.metric[0] = static_cast<float>(far);
      e.metric[1] = static_cast<float>(control);
      e.metric[2] = static_cast<float>(near);
    });
  }
};

}  // namespace stiction::envs

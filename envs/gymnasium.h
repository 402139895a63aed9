// What Gymnasium's MuJoCo tasks share.
#pragma once

#include <limits>

#include "envs/task.h"
#include "physics/base/functions.h"

namespace stiction::envs {

using physics::Wide;

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

enum class Noise : int { uniform, normal };

// qpos += U(±scale), then qvel += U(±scale) or scale N(0, 1), all numbers in a row of draws.
template <class Team, class S>
STICTION_FN void add_noise(const Team& team, const ModelView& m, TaskEnv<S>& e, double scale,
                           Noise velocities) {
  team.once([&] {
    Draw draw(e.seed, e.episode, Purpose::reset);
    for (int i = 0; i < m.nq; ++i) e.fields.qpos[i] += Wide<S>(draw.uniform(-scale, scale));
    for (int i = 0; i < m.nv; ++i)
      e.fields.qvel[i] +=
          S(velocities == Noise::normal ? scale * draw.normal() : draw.uniform(-scale, scale));
  });
}

// ctrl = action; the motors clamp to their ctrlrange.
template <class Team, class S>
STICTION_FN void apply_action(const Team& team, const ModelView& m, TaskEnv<S>& e) {
  team.for_each(m.nu, [&](int i) { e.fields.ctrl[i] = S(e.action[i]); });
}

// For tasks that reward motion along x = qpos[0]: act, and the mean velocity over the control step.
template <class Team, class S>
STICTION_FN void act_and_keep_x(const Team& team, const ModelView& m, TaskEnv<S>& e) {
  apply_action(team, m, e);
  team.once([&] { keep<S>(e.memory, e.fields.qpos[0]); });
}
template <class S>
STICTION_FN S x_velocity(const TaskEnv<S>& e) {
  return physics::narrow<S>((e.fields.qpos[0] - kept<S>(e.memory)) / Wide<S>(e.dt));
}

// qpos from `first` on, then qvel clipped to ±bound.
template <class Team, class S>
STICTION_FN void observe_state(const Team& team, const ModelView& m, TaskEnv<S>& e, int first,
                               double bound) {
  float* obs = e.obs;
  team.for_each(m.nq - first,
                [&](int i) { obs[i] = static_cast<float>(e.fields.qpos[first + i]); });
  team.for_each(m.nv, [&](int i) {
    obs[m.nq - first + i] =
        static_cast<float>(physics::clamp(e.fields.qvel[i], S(-bound), S(bound)));
  });
}

template <class Team, class S>
STICTION_FN S squared_actions(const Team& team, const ModelView& m, const TaskEnv<S>& e) {
  return team.template sum<S>(m.nu, [&](int i) { return S(e.action[i]) * S(e.action[i]); });
}

}  // namespace stiction::envs

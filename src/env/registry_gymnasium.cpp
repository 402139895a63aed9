// Gymnasium's planar MuJoCo tasks, version 5: options with Gymnasium's names and defaults.
#include "env/registry.h"
#include "envs/half_cheetah.h"
#include "envs/inverted_pendulum.h"

namespace stiction::env {
namespace {

const TaskOptionInfo kForwardWeight{"forward_reward_weight", "weight of the forward velocity", 1.0};
const TaskOptionInfo kExcludePosition{"exclude_current_positions_from_observation",
                                      "leave the x position out of the observation", true};

TaskOptionInfo ctrl_cost(double weight) {
  return {"ctrl_cost_weight", "weight of the squared actions", weight};
}
TaskOptionInfo reset_noise(double scale) {
  return {"reset_noise_scale", "of the noise on the state at the beginning of an episode", scale};
}

TaskEntry inverted_pendulum() {
  return {.id = "InvertedPendulum-v5",
          .summary = "balance a pole on a cart",
          .max_episode_steps = 1000,
          .frame_skip = 2,
          .options = {reset_noise(0.01)},
          .asset = [](const TaskOptions&) -> std::string { return "inverted_pendulum.xml"; },
          .make =
              [](const TaskOptions& o, const Model&) {
                return runner(envs::InvertedPendulum{.noise = o.not_negative("reset_noise_scale")},
                              {.metrics = {"reward_survive"}});
              }};
}

TaskEntry half_cheetah() {
  return {.id = "HalfCheetah-v5",
          .summary = "run forward with two legs in a plane",
          .max_episode_steps = 1000,
          .frame_skip = 5,
          .options = {kForwardWeight, ctrl_cost(0.1), reset_noise(0.1), kExcludePosition},
          .asset = [](const TaskOptions&) -> std::string { return "half_cheetah.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                const int skipped = o.flag("exclude_current_positions_from_observation") ? 1 : 0;
                return runner(
                    envs::HalfCheetah{.forward_weight = o.number("forward_reward_weight"),
                                      .ctrl_cost = o.number("ctrl_cost_weight"),
                                      .noise = o.not_negative("reset_noise_scale"),
                                      .first_qpos = skipped,
                                      .nobs = m.nq - skipped + m.nv},
                    {.metrics = {"reward_forward", "reward_ctrl", "x_position", "x_velocity"}});
              }};
}

}  // namespace

void add_gymnasium_tasks(std::vector<TaskEntry>& tasks) {
  tasks.push_back(inverted_pendulum());
  tasks.push_back(half_cheetah());
}

}  // namespace stiction::env

// Gymnasium's planar MuJoCo tasks, version 5: options with Gymnasium's names and defaults.
#include <limits>

#include "env/registry.h"
#include "envs/half_cheetah.h"
#include "envs/inverted_double_pendulum.h"
#include "envs/inverted_pendulum.h"
#include "envs/planar_walker.h"
#include "envs/pusher.h"
#include "envs/reacher.h"
#include "envs/swimmer.h"

namespace stiction::env {
namespace {

const TaskOptionInfo kForwardWeight{"forward_reward_weight", "weight of the forward velocity", 1.0};
const TaskOptionInfo kExcludePosition{"exclude_current_positions_from_observation",
                                      "leave the x position out of the observation", true};

const TaskOptionInfo kEndsUnhealthy{"terminate_when_unhealthy",
                                    "end the episode of an unhealthy robot", true};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TaskOptionInfo ctrl_cost(double weight) {
  return {"ctrl_cost_weight", "weight of the squared actions", weight};
}
TaskOptionInfo reset_noise(double scale) {
  return {"reset_noise_scale", "of the noise on the state at the beginning of an episode", scale};
}

TaskOptionInfo healthy_reward(double reward) {
  return {"healthy_reward", "reward of every step without a fall", reward};
}
TaskOptionInfo healthy_range(const std::string& of, const std::string& what, double low,
                             double high) {
  return {"healthy_" + of + "_range", "bounds of " + what + ", beyond which the robot is unhealthy",
          std::vector<double>{low, high}};
}
int skipped_positions(const TaskOptions& o) {
  return o.flag("exclude_current_positions_from_observation") ? 1 : 0;
}

TaskEntry inverted_pendulum() {
  return {.id = "InvertedPendulum-v5",
          .summary = "balance a pole on a cart",
          .max_episode_steps = 1000,
          .reward_threshold = 950.0,
          .frame_skip = 2,
          .options = {reset_noise(0.01)},
          .asset = [](const TaskOptions&) -> std::string { return "inverted_pendulum.xml"; },
          .make =
              [](const TaskOptions& o, const Model&) {
                return runner(envs::InvertedPendulum{.noise = o.not_negative("reset_noise_scale")},
                              {.metrics = {"reward_survive"}});
              }};
}

TaskEntry inverted_double_pendulum() {
  return {.id = "InvertedDoublePendulum-v5",
          .summary = "balance two poles, one upon the other, on a cart",
          .max_episode_steps = 1000,
          .reward_threshold = 9100.0,
          .frame_skip = 5,
          .options = {healthy_reward(10.0), reset_noise(0.1)},
          .asset = [](const TaskOptions&) -> std::string { return "inverted_double_pendulum.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                return runner(
                    envs::InvertedDoublePendulum{.healthy_reward = o.number("healthy_reward"),
                                                 .noise = o.not_negative("reset_noise_scale"),
                                                 .tip_site = m.site("tip")},
                    {.metrics = {"reward_survive", "distance_penalty", "velocity_penalty"}});
              }};
}

TaskEntry reacher() {
  return {.id = "Reacher-v5",
          .summary = "bring the fingertip of a planar arm to a target",
          .max_episode_steps = 50,
          .reward_threshold = -3.75,
          .frame_skip = 2,
          .options = {{"reward_dist_weight", "weight of the distance to the target", 1.0},
                      {"reward_control_weight", "weight of the squared actions", 1.0}},
          .asset = [](const TaskOptions&) -> std::string { return "reacher.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                return runner(envs::Reacher{.distance_weight = o.number("reward_dist_weight"),
                                            .control_weight = o.number("reward_control_weight"),
                                            .fingertip = m.body("fingertip"),
                                            .target = m.body("target")},
                              {.metrics = {"reward_dist", "reward_ctrl"}});
              }};
}

TaskEntry pusher() {
  return {
      .id = "Pusher-v5",
      .summary = "push a cylinder to a goal with an arm of seven joints",
      .max_episode_steps = 100,
      .reward_threshold = 0.0,
      .frame_skip = 5,
      .options = {{"reward_near_weight", "weight of the distance from the object to the arm's tips",
                   0.5},
                  {"reward_dist_weight", "weight of the distance from the object to the goal", 1.0},
                  {"reward_control_weight", "weight of the squared actions", 0.1}},
      .asset = [](const TaskOptions&) -> std::string { return "pusher.xml"; },
      .make =
          [](const TaskOptions& o, const Model& m) {
            return runner(envs::Pusher{.near_weight = o.number("reward_near_weight"),
                                       .distance_weight = o.number("reward_dist_weight"),
                                       .control_weight = o.number("reward_control_weight"),
                                       .tips = m.body("tips_arm"),
                                       .object = m.body("object"),
                                       .goal = m.body("goal")},
                          {.metrics = {"reward_dist", "reward_ctrl", "reward_near"}});
          }};
}

TaskEntry swimmer() {
  return {.id = "Swimmer-v5",
          .summary = "swim forward with three links in a viscous medium",
          .max_episode_steps = 1000,
          .reward_threshold = 360.0,
          .frame_skip = 4,
          .options = {kForwardWeight, ctrl_cost(1e-4), reset_noise(0.1), kExcludePosition},
          .asset = [](const TaskOptions&) -> std::string { return "swimmer.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                const int skipped = 2 * skipped_positions(o);
                return runner(
                    envs::Swimmer{.forward_weight = o.number("forward_reward_weight"),
                                  .ctrl_cost = o.number("ctrl_cost_weight"),
                                  .noise = o.not_negative("reset_noise_scale"),
                                  .first_qpos = skipped,
                                  .num_obs = m.nq - skipped + m.nv},
                    {.metrics = {"reward_forward", "reward_ctrl", "x_position", "y_position",
                                 "distance_from_origin", "x_velocity", "y_velocity"}});
              }};
}

// Hopper and Walker2d.
std::unique_ptr<TaskRunner> planar_walker(const TaskOptions& o, const Model& m,
                                          std::pair<double, double> state) {
  const auto [z_low, z_high] = o.range("healthy_z_range");
  const auto [angle_low, angle_high] = o.range("healthy_angle_range");
  const int skipped = skipped_positions(o);
  return runner(envs::PlanarWalker{.forward_weight = o.number("forward_reward_weight"),
                                   .ctrl_cost = o.number("ctrl_cost_weight"),
                                   .healthy_reward = o.number("healthy_reward"),
                                   .noise = o.not_negative("reset_noise_scale"),
                                   .ends_unhealthy = o.flag("terminate_when_unhealthy"),
                                   .state_low = state.first,
                                   .state_high = state.second,
                                   .z_low = z_low,
                                   .z_high = z_high,
                                   .angle_low = angle_low,
                                   .angle_high = angle_high,
                                   .first_qpos = skipped,
                                   .num_obs = m.nq - skipped + m.nv,
                                   .num_actions = m.nu},
                {.metrics = {"reward_forward", "reward_ctrl", "reward_survive", "x_position",
                             "z_distance_from_origin", "x_velocity"}});
}

TaskEntry hopper() {
  return {
      .id = "Hopper-v5",
      .summary = "hop forward on one leg in a plane",
      .max_episode_steps = 1000,
      .reward_threshold = 3800.0,
      .frame_skip = 4,
      .options = {kForwardWeight, ctrl_cost(1e-3), healthy_reward(1.0), kEndsUnhealthy,
                  healthy_range("state", "every coordinate but x and z", -100, 100),
                  healthy_range("z", "the height of the torso, m", 0.7, kInfinity),
                  healthy_range("angle", "the pitch of the torso, rad", -0.2, 0.2),
                  reset_noise(5e-3), kExcludePosition},
      .engine = legged_engine(),
      .asset = [](const TaskOptions&) -> std::string { return "hopper.xml"; },
      .make = [](const TaskOptions& o,
                 const Model& m) { return planar_walker(o, m, o.range("healthy_state_range")); }};
}

TaskEntry walker2d() {
  return {.id = "Walker2d-v5",
          .summary = "walk forward on two legs in a plane",
          .max_episode_steps = 1000,
          .frame_skip = 4,
          .options = {kForwardWeight, ctrl_cost(1e-3), healthy_reward(1.0), kEndsUnhealthy,
                      healthy_range("z", "the height of the torso, m", 0.8, 2.0),
                      healthy_range("angle", "the pitch of the torso, rad", -1.0, 1.0),
                      reset_noise(5e-3), kExcludePosition},
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "walker2d.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                return planar_walker(o, m, {-kInfinity, kInfinity});
              }};
}

TaskEntry half_cheetah() {
  return {.id = "HalfCheetah-v5",
          .summary = "run forward with two legs in a plane",
          .max_episode_steps = 1000,
          .reward_threshold = 4800.0,
          .frame_skip = 5,
          .options = {kForwardWeight, ctrl_cost(0.1), reset_noise(0.1), kExcludePosition},
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "half_cheetah.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                const int skipped = skipped_positions(o);
                return runner(
                    envs::HalfCheetah{.forward_weight = o.number("forward_reward_weight"),
                                      .ctrl_cost = o.number("ctrl_cost_weight"),
                                      .noise = o.not_negative("reset_noise_scale"),
                                      .first_qpos = skipped,
                                      .num_obs = m.nq - skipped + m.nv},
                    {.metrics = {"reward_forward", "reward_ctrl", "x_position", "x_velocity"}});
              }};
}

}  // namespace

void add_gymnasium_tasks(std::vector<TaskEntry>& tasks) {
  for (const auto task : {inverted_pendulum, inverted_double_pendulum, reacher, pusher, swimmer,
                          hopper, walker2d, half_cheetah})
    tasks.push_back(task());
}

}  // namespace stiction::env

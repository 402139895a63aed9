// Robots with a free joint: Gymnasium's Ant, Humanoid and HumanoidStandup, version 5, and the tasks of IsaacGymEnvs,
// with the options of their sources.
#include "env/registry.h"
#include "envs/ant.h"
#include "envs/humanoid.h"
#include "envs/humanoid_standup.h"
#include "envs/isaac_ant.h"
#include "envs/isaac_cartpole.h"
#include "envs/isaac_humanoid.h"
#include "stiction/error.h"

namespace stiction::env {
namespace {

using Pair = std::vector<double>;

void copy(const std::pair<double, double>& from, double* to) {
  to[0] = from.first, to[1] = from.second;
}

int body(const Model& m, const std::string& name) {
  return m.body(name);
}

std::vector<TaskOptionInfo> gymnasium_options(double forward, double ctrl, double contact,
                                              double survive, Pair heights, double noise) {
  return {
      {"forward_reward_weight", "weight of the forward velocity", forward},
      {"ctrl_cost_weight", "weight of the squared actions", ctrl},
      {"contact_cost_weight", "weight of the squared contact forces", contact},
      {"healthy_reward", "for every step while healthy", survive},
      {"terminate_when_unhealthy", "the episode ends when the height leaves healthy_z_range", true},
      {"healthy_z_range", "heights of the torso that are healthy, m", std::move(heights)},
      {"reset_noise_scale", "of the noise on the state at the beginning of an episode", noise},
      {"exclude_current_positions_from_observation", "leave x and y out of the observation", true},
      {"include_cfrc_ext_in_observation", "contact wrenches on the bodies, 6 numbers each", true}};
}

template <class Task>
Task with_gymnasium_options(const TaskOptions& o) {
  Task t;
  t.forward_reward_weight = o.number("forward_reward_weight");
  t.ctrl_cost_weight = o.number("ctrl_cost_weight");
  t.contact_cost_weight = o.number("contact_cost_weight");
  t.healthy_reward = o.number("healthy_reward");
  t.terminate_when_unhealthy = o.flag("terminate_when_unhealthy");
  copy(o.range("healthy_z_range"), t.healthy_z_range);
  t.reset_noise_scale = o.not_negative("reset_noise_scale");
  t.exclude_current_positions_from_observation =
      o.flag("exclude_current_positions_from_observation");
  t.include_cfrc_ext_in_observation = o.flag("include_cfrc_ext_in_observation");
  return t;
}

std::unique_ptr<TaskRunner> make_ant(const TaskOptions& o, const Model& m) {
  auto t = with_gymnasium_options<envs::Ant>(o);
  copy(o.range("contact_force_range"), t.contact_force_range);
  t.main_body = body(m, o.text("main_body"));
  t.num_obs = m.nq + m.nv - (t.exclude_current_positions_from_observation ? 2 : 0) +
              (t.include_cfrc_ext_in_observation ? 6 * (m.nbody - 1) : 0);
  return runner(t, {.metrics = {"reward_forward", "reward_ctrl", "reward_contact", "reward_survive",
                                "x_position", "y_position", "distance_from_origin", "x_velocity",
                                "y_velocity"}});
}

TaskEntry ant() {
  auto options = gymnasium_options(1, 0.5, 5e-4, 1, {0.2, 1.0}, 0.1);
  options.push_back({"contact_force_range", "contact wrenches are clipped to it", Pair{-1, 1}});
  options.push_back({"main_body", "body whose velocity is rewarded", std::string("torso")});
  return {.id = "Ant-v5",
          .summary = "run forward on four legs",
          .max_episode_steps = 1000,
          .reward_threshold = 6000.0,
          .frame_skip = 5,
          .options = std::move(options),
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "ant.xml"; },
          .make = make_ant};
}

std::vector<TaskOptionInfo> humanoid_observation_options() {
  return {{"include_cinert_in_observation", "inertias of the bodies, 10 numbers each", true},
          {"include_cvel_in_observation", "velocities of the bodies, 6 numbers each", true},
          {"include_qfrc_actuator_in_observation", "motor torques of the joints", true}};
}

// Selects the parts of the observation that the options request, and counts their numbers.
template <class Task>
void choose_observation(const TaskOptions& o, const Model& m, Task& t) {
  t.exclude_current_positions_from_observation =
      o.flag("exclude_current_positions_from_observation");
  t.include_cinert_in_observation = o.flag("include_cinert_in_observation");
  t.include_cvel_in_observation = o.flag("include_cvel_in_observation");
  t.include_qfrc_actuator_in_observation = o.flag("include_qfrc_actuator_in_observation");
  t.include_cfrc_ext_in_observation = o.flag("include_cfrc_ext_in_observation");
  const int moving = m.nbody - 1;
  t.num_obs = m.nq + m.nv - (t.exclude_current_positions_from_observation ? 2 : 0) +
              (t.include_cinert_in_observation ? 10 * moving : 0) +
              (t.include_cvel_in_observation ? 6 * moving : 0) +
              (t.include_qfrc_actuator_in_observation ? m.nv - 6 : 0) +
              (t.include_cfrc_ext_in_observation ? 6 * moving : 0);
}

std::unique_ptr<TaskRunner> make_humanoid(const TaskOptions& o, const Model& m) {
  auto t = with_gymnasium_options<envs::Humanoid>(o);
  copy(o.range("contact_cost_range"), t.contact_cost_range);
  choose_observation(o, m, t);
  return runner(t, {.metrics = {"reward_survive", "reward_forward", "reward_ctrl", "reward_contact",
                                "x_position", "y_position", "distance_from_origin", "x_velocity",
                                "y_velocity"}});
}

TaskEntry humanoid() {
  auto options = gymnasium_options(1.25, 0.1, 5e-7, 5, {1.0, 2.0}, 0.01);
  options.push_back(
      {"contact_cost_range", "the contact cost is clipped to it", Pair{-envs::kUnbounded, 10}});
  for (auto& option : humanoid_observation_options()) options.push_back(std::move(option));
  return {.id = "Humanoid-v5",
          .summary = "run forward on two legs",
          .max_episode_steps = 1000,
          .frame_skip = 5,
          .options = std::move(options),
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "humanoid.xml"; },
          .make = make_humanoid};
}

TaskEntry humanoid_standup() {
  std::vector<TaskOptionInfo> options = {
      {"uph_cost_weight", "weight of the height over the physics step", 1.0},
      {"ctrl_cost_weight", "weight of the squared actions", 0.1},
      {"impact_cost_weight", "weight of the squared contact forces", 5e-7},
      {"impact_cost_range", "the impact cost is clipped to it", Pair{-envs::kUnbounded, 10}},
      {"reset_noise_scale", "of the noise on the state at the beginning of an episode", 0.01},
      {"exclude_current_positions_from_observation", "leave x and y out of the observation", true},
      {"include_cfrc_ext_in_observation", "contact wrenches on the bodies, 6 numbers each", true}};
  for (auto& option : humanoid_observation_options()) options.push_back(std::move(option));
  return {.id = "HumanoidStandup-v5",
          .summary = "stand up from lying on the back",
          .max_episode_steps = 1000,
          .frame_skip = 5,
          .options = std::move(options),
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "humanoid_standup.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                envs::HumanoidStandup t;
                t.uph_cost_weight = o.number("uph_cost_weight");
                t.ctrl_cost_weight = o.number("ctrl_cost_weight");
                t.impact_cost_weight = o.number("impact_cost_weight");
                copy(o.range("impact_cost_range"), t.impact_cost_range);
                t.reset_noise_scale = o.not_negative("reset_noise_scale");
                t.frame_skip = o.count("frame_skip");
                choose_observation(o, m, t);
                return runner(t,
                              {.metrics = {"reward_linup", "reward_quadctrl", "reward_impact",
                                           "x_position", "y_position", "z_distance_from_origin"}});
              }};
}

// ---- IsaacGymEnvs. An episode ends when its counter reaches the limit minus one.

TaskEntry isaac_cartpole() {
  return {.id = "IsaacCartpole",
          .summary = "keep a pole upright on a cart; IsaacGymEnvs' Cartpole",
          .max_episode_steps = 499,
          .frame_skip = 2,
          .options = {{"reset_dist", "the episode ends beyond this cart position, m", 3.0}},
          .asset = [](const TaskOptions&) -> std::string { return "isaac_cartpole.xml"; },
          .make =
              [](const TaskOptions& o, const Model&) {
                envs::IsaacCartpole t;
                t.reset_dist = o.not_negative("reset_dist");
                return runner(t, {.metrics = {"cart_position", "pole_angle"}});
              }};
}

std::vector<TaskOptionInfo> isaac_options(double actions, double velocity, double force,
                                          double limit, double death, double height) {
  return {{"heading_weight", "reward for facing the target", 0.5},
          {"up_weight", "reward for being upright", 0.1},
          {"actions_cost", "weight of the squared actions", actions},
          {"energy_cost", "weight of action times joint velocity", 0.05},
          {"dof_velocity_scale", "of the joint velocities in the observation", velocity},
          {"contact_force_scale", "of the foot sensors in the observation", force},
          {"joints_at_limit_cost", "for joints near a limit", limit},
          {"death_cost", "reward of the step that ends in a fall", death},
          {"termination_height", "of the torso, below it the robot has fallen, m", height}};
}

template <class Task>
Task with_isaac_options(const TaskOptions& o, double alive_reward) {
  Task t;
  t.alive_reward = alive_reward;
  t.heading_weight = o.number("heading_weight");
  t.up_weight = o.number("up_weight");
  t.actions_cost = o.number("actions_cost");
  t.energy_cost = o.number("energy_cost");
  t.dof_velocity_scale = o.number("dof_velocity_scale");
  t.contact_force_scale = o.number("contact_force_scale");
  t.joints_at_limit_cost = o.number("joints_at_limit_cost");
  t.death_cost = o.number("death_cost");
  t.termination_height = o.number("termination_height");
  return t;
}

const std::vector<std::string> kIsaacMetrics = {
    "reward_progress", "reward_up",     "reward_heading", "reward_actions",
    "reward_energy",   "reward_limits", "x_velocity"};

TaskEntry isaac_ant() {
  return {.id = "IsaacAnt",
          .summary = "run to a far target on four legs; IsaacGymEnvs' Ant",
          .max_episode_steps = 999,
          .frame_skip = 2,
          .options = isaac_options(0.005, 0.2, 0.1, 0.1, -2, 0.31),
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "isaac_ant.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                auto t = with_isaac_options<envs::IsaacAnt>(o, 0.5);
                const char* feet[] = {"front_left_foot", "front_right_foot", "left_back_foot",
                                      "right_back_foot"};
                for (int f = 0; f < 4; ++f) t.foot[f] = body(m, feet[f]);
                return runner(t, {.metrics = kIsaacMetrics});
              }};
}

TaskEntry isaac_humanoid() {
  return {.id = "IsaacHumanoid",
          .summary = "run to a far target on two legs; IsaacGymEnvs' Humanoid",
          .max_episode_steps = 999,
          .frame_skip = 2,
          .options = isaac_options(0.01, 0.1, 0.01, 0.25, -1, 0.8),
          .engine = legged_engine(),
          .asset = [](const TaskOptions&) -> std::string { return "isaac_humanoid.xml"; },
          .make =
              [](const TaskOptions& o, const Model& m) {
                auto t = with_isaac_options<envs::IsaacHumanoid>(o, 2.0);
                t.foot[0] = body(m, "right_foot"), t.foot[1] = body(m, "left_foot");
                return runner(t, {.metrics = kIsaacMetrics});
              }};
}

}  // namespace

void add_locomotion_tasks(std::vector<TaskEntry>& tasks) {
  tasks.push_back(ant());
  tasks.push_back(humanoid());
  tasks.push_back(humanoid_standup());
  tasks.push_back(isaac_cartpole());
  tasks.push_back(isaac_ant());
  tasks.push_back(isaac_humanoid());
}

}  // namespace stiction::env

// Go2Flat and Go2Rough: the values of their two presets, and the options that change them.
#include <algorithm>
#include <iomanip>
#include <sstream>
#include <tuple>

#include "env/registry.h"
#include "envs/go2.h"
#include "stiction/error.h"
#include "stiction/terrain.h"

namespace stiction::env {
namespace {

using envs::Go2Flat;
using envs::Go2Rough;
using envs::kLeggedGymWeights;
using envs::kMjlabWeights;

constexpr const char* kLegNames[envs::kLegs] = {"FL", "FR", "RL", "RR"};

// Default joint positions of the legs and action scales, by joint of a leg.
template <class Ground>
void set_servos(envs::Go2<Ground>& t, double left_hip, const double (&front)[2],
                const double (&hind)[2], const double (&scale)[3]) {
  for (int leg = 0; leg < envs::kLegs; ++leg) {
    const double* bent = leg < 2 ? front : hind;
    const double joint[3] = {leg % 2 == 0 ? left_hip : -left_hip, bent[0], bent[1]};
    for (int j = 0; j < 3; ++j) t.target[3 * leg + j] = joint[j], t.scale[3 * leg + j] = scale[j];
  }
}

// legged_gym: its task anymal_c_flat, with gains, action scale, default pose (Isaac Lab's)
// and added mass of the Go2. At 0.42 m no foot of a random pose penetrates flat ground.
template <class Task>
Task legged_gym() {
  Task t{};
  set_servos(t, 0.1, {0.8, -1.5}, {1.0, -1.5}, {0.25, 0.25, 0.25});
  t.command = {.x = {-1, 1}, .y = {-1, 1}, .yaw = {-1.5, 1.5}, .interval = {4, 4}, .least = 0.2};
  const double observed[5] = {2, 0.25, 2, 0.25, 0.05}, noise[5] = {0.1, 0.2, 0.05, 0.01, 1.5};
  std::copy_n(observed, 5, t.observed), std::copy_n(noise, 5, t.noise);
  std::copy_n(kLeggedGymWeights, envs::kRewardTerms, t.weight);
  t.push_interval[0] = t.push_interval[1] = 15;
  t.push_linear[0] = t.push_linear[1] = 1;
  t.push_sets = true;
  t.start_height[0] = t.start_height[1] = 0.42;
  t.start_velocity = 0.5;
  t.start_joint[0] = 0.5, t.start_joint[1] = 1.5;
  // its U(0, 1.5) averaged with the ground's 1
  t.own_friction = true, t.friction[0] = 0.5, t.friction[1] = 1.25;
  t.own_mass = true, t.added_mass[0] = -1, t.added_mass[1] = 3;
  return t;
}

// mjlab 1.6: its flat Go1 task, with the same servos, pose and events. The legs of both robots are equally long.
template <class Task>
Task mjlab() {
  Task t{};
  set_servos(t, -0.1, {0.9, -1.8}, {0.9, -1.8}, {0.372753, 0.372753, 0.248502});
  t.command = {.x = {-1, 1},
               .y = {-1, 1},
               .yaw = {-0.5, 0.5},
               .interval = {3, 8},
               .p_stand = 0.1,
               .p_heading = 0.3,
               .p_forward = 0.2};
  t.command_last = t.mjlab = true;
  const double observed[5] = {1, 1, 1, 1, 1}, noise[5] = {0.5, 0.2, 0.05, 0.01, 1.5};
  std::copy_n(observed, 5, t.observed), std::copy_n(noise, 5, t.noise);
  std::copy_n(kMjlabWeights, envs::kRewardTerms, t.weight);
  t.push_interval[0] = 1, t.push_interval[1] = 3;
  const double linear[3] = {0.5, 0.5, 0.4}, angular[3] = {0.52, 0.52, 0.78};
  std::copy_n(linear, 3, t.push_linear), std::copy_n(angular, 3, t.push_angular);
  t.start_height[0] = 0.278 + 0.01, t.start_height[1] = 0.278 + 0.05;
  t.start_xy = 0.5, t.start_yaw = 3.14;
  t.start_joint[0] = t.start_joint[1] = 1;
  t.own_friction = t.feet_only = true, t.friction[0] = 0.3, t.friction[1] = 1.5;
  const double centre[3] = {0.025, 0.025, 0.03};
  t.own_centre = true, std::copy_n(centre, 3, t.centre);
  t.encoder = 0.015;
  return t;
}

// Differences of their rough tasks.
Go2Rough rough_legged_gym() {
  Go2Rough t = legged_gym<Go2Rough>();
  t.command.yaw[0] = -1, t.command.yaw[1] = 1;
  t.command.interval[0] = t.command.interval[1] = 10;
  t.command.p_heading = 1;
  t.start_xy = 1;
  t.weight[4] = 0, t.weight[5] = -1e-5, t.weight[7] = 1;  // orientation, torques, feet_air_time
  t.weight[envs::kRewardTerms] = 0;
  t.height_offset = 0.5, t.height_clip[0] = -1, t.height_clip[1] = 1;
  t.height_noise = 0.1, t.height_scale = 5;
  return t;
}
Go2Rough rough_mjlab() {
  Go2Rough t = mjlab<Go2Rough>();
  t.weight[envs::kRewardTerms] = -0.1;
  t.height_clip[0] = -5, t.height_clip[1] = 5;
  t.height_noise = 0.1, t.height_scale = 0.2;
  return t;
}

bool is_mjlab(const TaskOptions& o) {
  return o.choice("preset", {"mjlab", "legged_gym"}) == "mjlab";
}

// An empty option leaves the preset's value.
void set_range(const TaskOptions& o, const std::string& name, double (&range)[2]) {
  for (const TaskOptionInfo& option : o.all())
    if (option.name == name && !std::get<std::vector<double>>(option.value).empty())
      std::tie(range[0], range[1]) = o.range(name);
}

// Sets what both tasks look up in the model and what the options change; names of the rewards, then `more`.
template <class Task>
std::unique_ptr<TaskRunner> make_go2(Task t, const TaskOptions& o, const Model& m,
                                     const std::vector<std::string>& terms,
                                     const std::vector<std::string>& more) {
  t.action_bound = o.not_negative("action_clip");
  set_range(o, "command_x", t.command.x);
  set_range(o, "command_y", t.command.y);
  set_range(o, "command_yaw", t.command.yaw);
  if (!o.flag("observation_noise")) std::fill_n(t.noise, 5, 0.0), t.encoder = t.height_noise = 0;
  if (!o.flag("pushes")) t.push_interval[0] = t.push_interval[1] = 0;
  if (!o.flag("randomize")) t.own_friction = t.own_mass = t.own_centre = false;

  t.base_mass = m.body_mass[1];
  std::copy_n(m.body_ipos.begin() + 3, 3, t.base_centre);
  t.first_geom = m.geom("trunk");
  for (int leg = 0; leg < envs::kLegs; ++leg) {
    const std::string name = kLegNames[leg];
    t.foot[leg] = m.body(name + "_foot"), t.thigh[leg] = m.body(name + "_thigh");
    t.calf[leg] = m.body(name + "_calf"), t.foot_geom[leg] = m.geom(name + "_foot");
  }

  const auto& common = t.mjlab ? envs::kMjlabTerms : envs::kLeggedGymTerms;
  TaskSetup setup;
  for (const char* term : common) setup.metrics.push_back(std::string("reward_") + term);
  for (const std::string& term : terms) setup.metrics.push_back("reward_" + term);
  setup.metrics.insert(setup.metrics.end(), {"error_lin_vel", "error_ang_vel"});
  setup.metrics.insert(setup.metrics.end(), more.begin(), more.end());
  setup.action_low.assign(Task::num_actions, static_cast<float>(-t.action_bound));
  setup.action_high.assign(Task::num_actions, static_cast<float>(t.action_bound));
  if (t.own_friction) setup.own.push_back("geom_friction");
  if (t.own_mass) setup.own.push_back("body_mass");
  if (t.own_centre) setup.own.push_back("body_ipos");
  return runner(t, std::move(setup));
}

std::unique_ptr<TaskRunner> make_flat(const TaskOptions& o, const Model& m) {
  return make_go2(is_mjlab(o) ? mjlab<Go2Flat>() : legged_gym<Go2Flat>(), o, m, {}, {});
}

TerrainOptions terrain_of(const TaskOptions& o) {
  TerrainOptions t;
  const bool own = o.choice("terrain", {"preset", "mjlab", "legged_gym"}) == "preset";
  const bool from_mjlab = own ? is_mjlab(o) : o.text("terrain") == "mjlab";
  t.patches = from_mjlab ? mjlab_patches() : legged_gym_patches();
  t.border = from_mjlab ? 20 : 25;
  t.levels = o.count("levels"), t.columns = o.count("columns");
  t.seed = static_cast<std::uint64_t>(o.not_negative("terrain_seed"));
  return t;
}

// Returns -1 or an index below `count`.
int place_of(const TaskOptions& o, const char* name, int count) {
  const double x = o.number(name);
  if (x < -1 || x >= count || x != std::floor(x)) {
    std::ostringstream s;
    s << "Go2Rough: " << name << " = " << x << ": must be -1 or a whole number below " << count;
    throw ArgumentError(s.str());
  }
  return static_cast<int>(x);
}

std::unique_ptr<TaskRunner> make_rough(const TaskOptions& o, const Model& m) {
  Go2Rough t = is_mjlab(o) ? rough_mjlab() : rough_legged_gym();
  const TerrainOptions terrain = terrain_of(o);
  envs::PatchedGround& g = t.ground;
  g.levels = terrain.levels, g.columns = terrain.columns, g.patch = terrain.patch;
  g.start_levels = std::min(6, g.levels);
  g.lowest = m.geom_pos[3 * static_cast<std::size_t>(m.geom("floor")) + 2];
  g.seconds = 20;
  g.level = place_of(o, "level", g.levels), g.column = place_of(o, "column", g.columns);
  return make_go2(t, o, m, {t.mjlab ? "collision" : "stumble"}, {"terrain_level"});
}

// Replaces the floor by a height field.
void lay_terrain(const TaskOptions& o, TaskModel& m) {
  const Terrain t = make_terrain(terrain_of(o));
  const std::string file = "terrain.bin", plane = "type=\"plane\" size=\"0 0 1\"",
                    world = "<worldbody>";
  std::ostringstream field;
  field << std::setprecision(12) << "type=\"hfield\" hfield=\"terrain\" pos=\"0 0 " << t.lowest
        << '"';
  const std::size_t floor = m.xml.find(plane);
  if (floor == std::string::npos) throw Error("Go2Rough: its model has no floor");
  m.xml.replace(floor, plane.size(), field.str());
  m.xml.insert(m.xml.find(world), "<asset>" + t.hfield_element("terrain", file) + "</asset>\n  ");
  m.assets[file] = t.hfield_file();
}

std::string go2_asset(const TaskOptions& o) {
  return is_mjlab(o) ? "go2_mjlab.xml" : "go2_legged_gym.xml";
}

std::vector<TaskOptionInfo> go2_options() {
  const std::vector<double> preset;
  return {
      {"preset", "'mjlab' or 'legged_gym': whose values", std::string("mjlab")},
      {"action_clip", "actions are clipped to ± this; there the servos reach their limits", 5.0},
      {"command_x", "range of the forward velocity, m/s; (): the preset's", preset},
      {"command_y", "range of the velocity to the left, m/s; (): the preset's", preset},
      {"command_yaw", "range of the yaw rate, rad/s; (): the preset's", preset},
      {"observation_noise", "with the preset's noise", true},
      {"pushes", "sudden changes of the base's velocity", true},
      {"randomize", "friction, mass and centre of mass of each environment", true}};
}

}  // namespace

void add_go2_tasks(std::vector<TaskEntry>& tasks) {
  tasks.push_back({.id = "Go2Flat",
                   .summary = "a quadruped follows velocity commands on flat ground",
                   .max_episode_steps = 1000,
                   .frame_skip = 4,
                   .options = go2_options(),
                   .engine = legged_engine(),
                   .asset = go2_asset,
                   .make = make_flat});
  std::vector<TaskOptionInfo> rough = go2_options();
  rough.insert(rough.end(),
               {{"terrain", "'mjlab' or 'legged_gym': whose patches; 'preset': the preset's",
                 std::string("preset")},
                {"terrain_seed", "of obstacles and noise", 0.0},
                {"levels", "of difficulty", 10.0},
                {"columns", "patches side by side at each level", 20.0},
                {"level", "where all robots are; -1: by merit", -1.0},
                {"column", "where all robots are; -1: each on one of its own", -1.0}});
  tasks.push_back({.id = "Go2Rough",
                   .summary = "a quadruped follows velocity commands over slopes, stairs and "
                              "obstacles that get harder",
                   .max_episode_steps = 1000,
                   .frame_skip = 4,
                   .options = rough,
                   .engine = legged_engine(),
                   .asset = go2_asset,
                   .make = make_rough,
                   .furnish = lay_terrain});
}

}  // namespace stiction::env

// The tasks of arms and hands.
#include <algorithm>

#include "env/registry.h"
#include "envs/leap_cube.h"
#include "envs/panda_pick_cube.h"

namespace stiction::env {
namespace {

using envs::LeapCube;
using envs::PandaPickCube;

std::unique_ptr<TaskRunner> make_panda(const TaskOptions& o, const Model& m) {
  PandaPickCube t{};
  t.action_scale = o.not_negative("action_scale");
  t.hold_weight = o.not_negative("hold_weight");
  t.success_distance = o.not_negative("success_distance");
  std::copy_n(m.key_qpos.begin(), PandaPickCube::kRobot, t.home);
  std::copy_n(m.key_qpos.begin() + PandaPickCube::kCube, 3, t.place);
  std::copy_n(m.key_ctrl.begin(), PandaPickCube::kActuators, t.ctrl);
  t.cube = m.body("box"), t.hand = m.body("hand");
  std::copy_n(m.site_pos.begin() + 3 * m.site("gripper"), 3, t.grip);
  TaskSetup setup;
  setup.metrics = {"gripper_box",
                   "box_target",
                   "no_floor_collision",
                   "robot_target_qpos",
                   "out_of_bounds",
                   "box_distance",
                   "grasp",
                   "lift",
                   "carry",
                   "success"};
  setup.action_low.assign(PandaPickCube::num_actions, -1.0f);
  setup.action_high.assign(PandaPickCube::num_actions, 1.0f);
  return runner(t, std::move(setup));
}

std::unique_ptr<TaskRunner> make_leap(const TaskOptions& o, const Model& m) {
  LeapCube t{};
  t.action_scale = o.not_negative("action_scale"), t.drop_cost = o.not_negative("drop_cost");
  t.success_angle = o.number("success_angle");
  t.joint_noise = o.not_negative("joint_noise"), t.place_noise = o.not_negative("place_noise");
  t.lowest = -0.05;
  std::copy_n(m.key_qpos.begin(), LeapCube::kHand, t.home);
  std::copy_n(m.key_qpos.begin() + LeapCube::kHand, 3, t.place);
  std::copy_n(m.site_pos.begin() + 3 * m.site("hold"), 3, t.hold);
  constexpr const char* kNames[] = {"if", "mf", "rf", "th"};
  for (int f = 0; f < LeapCube::kFingers; ++f) {
    const std::string name = kNames[f];
    t.distal[f] = m.body(name + "_ds");
    std::copy_n(m.site_pos.begin() + 3 * m.site(name + "_tip"), 3, t.tip[f]);
  }
  TaskSetup setup;
  setup.metrics = {"reward_spin", "reward_drop", "spin", "turned", "success"};
  setup.action_low.assign(LeapCube::num_actions, -1.0f);
  setup.action_high.assign(LeapCube::num_actions, 1.0f);
  return runner(t, std::move(setup));
}

}  // namespace

void add_manipulation_tasks(std::vector<TaskEntry>& tasks) {
  tasks.push_back(
      {.id = "PandaPickCube",
       .summary = "an arm with a gripper brings a cube to where it is asked for",
       .max_episode_steps = 150,
       .frame_skip = 4,
       .options = {{"action_scale",
                    "change of the servos' targets in a control step by an action of 1, rad or m",
                    0.04},
                   {"hold_weight", "of closing the fingers at the cube, lifting and carrying it",
                    0.0},
                   {"success_distance", "of the cube from its target, m", 0.05}},
       .engine = legged_engine(),
       .asset = [](const TaskOptions&) -> std::string { return "panda_pick_cube.xml"; },
       .make = make_panda});
  tasks.push_back(
      {.id = "LeapCube",
       .summary = "a hand turns a cube about the vertical without dropping it",
       .max_episode_steps = 500,
       .frame_skip = 5,
       .options = {{"action_scale", "from the home pose to a servo's target at an action of 1, rad",
                    0.6},
                   {"drop_cost", "of a drop, in radians of turning", 5.0},
                   {"success_angle", "turned since the start, rad", 6.283185307179586},
                   {"joint_noise", "uniform, of the joints at the start, rad", 0.1},
                   {"place_noise", "uniform, of the cube at the start, m", 0.01}},
       .engine = legged_engine(),
       .asset = [](const TaskOptions&) -> std::string { return "leap_cube.xml"; },
       .make = make_leap});
}

}  // namespace stiction::env

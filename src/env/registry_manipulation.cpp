// The tasks of arms and hands.
#include <algorithm>

#include "env/registry.h"
#include "envs/panda_pick_cube.h"

namespace stiction::env {
namespace {

using envs::PandaPickCube;

std::unique_ptr<TaskRunner> make_panda(const TaskOptions& o, const Model& m) {
  PandaPickCube t{};
  t.action_scale = o.not_negative("action_scale");
  std::copy_n(m.key_qpos.begin(), PandaPickCube::kRobot, t.home);
  std::copy_n(m.key_qpos.begin() + PandaPickCube::kCube, 3, t.place);
  std::copy_n(m.key_ctrl.begin(), PandaPickCube::kActuators, t.ctrl);
  t.cube = m.body("box"), t.hand = m.body("hand");
  std::copy_n(m.site_pos.begin() + 3 * m.site("gripper"), 3, t.grip);
  TaskSetup setup;
  setup.metrics = {"gripper_box",       "box_target",    "no_floor_collision",
                   "robot_target_qpos", "out_of_bounds", "box_distance"};
  setup.action_low.assign(PandaPickCube::num_actions, -1.0f);
  setup.action_high.assign(PandaPickCube::num_actions, 1.0f);
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
                    0.04}},
       .engine = legged_engine(),
       .asset = [](const TaskOptions&) -> std::string { return "panda_pick_cube.xml"; },
       .make = make_panda});
}

}  // namespace stiction::env

// The tasks of robots on a free joint, of arms and of hands on every team, with the defaults of the registry.
#include "env/task_teams.h"
#include "envs/ant.h"
#include "envs/go2.h"
#include "envs/humanoid.h"
#include "envs/humanoid_standup.h"
#include "envs/isaac_ant.h"
#include "envs/isaac_cartpole.h"
#include "envs/isaac_humanoid.h"
#include "envs/leap_cube.h"
#include "envs/panda_pick_cube.h"

namespace stiction::test {
namespace {

// Long enough to be in contact at the end.
template <class Task>
void check_registered(const std::string& id, int steps,
                      const std::map<std::string, TaskOption>& given = {}) {
  const env::TaskEntry& entry = env::find_task(id);
  const env::TaskOptions options(id, entry.options, given);
  const env::TaskModel source = env::model_of(entry, options);
  const ModelPtr model = load_model_from_string(source.xml, source.assets);
  const auto runner = entry.make(options, *model);
  check_teams(dynamic_cast<const env::Runner<Task>&>(*runner).task(), model, steps);
}

TEST(TaskTeams, Ant) {
  check_registered<envs::Ant>("Ant-v5", 60);
}
TEST(TaskTeams, Humanoid) {
  check_registered<envs::Humanoid>("Humanoid-v5", 80);
}
TEST(TaskTeams, HumanoidStandup) {
  check_registered<envs::HumanoidStandup>("HumanoidStandup-v5", 80);
}
TEST(TaskTeams, IsaacCartpole) {
  check_registered<envs::IsaacCartpole>("IsaacCartpole", 2);
}
TEST(TaskTeams, IsaacAnt) {
  check_registered<envs::IsaacAnt>("IsaacAnt", 40);
}
TEST(TaskTeams, IsaacHumanoid) {
  check_registered<envs::IsaacHumanoid>("IsaacHumanoid", 40);
}
TEST(TaskTeams, Go2Flat) {
  check_registered<envs::Go2Flat>("Go2Flat", 60, {{"preset", std::string("mjlab")}});
  check_registered<envs::Go2Flat>("Go2Flat", 60, {{"preset", std::string("legged_gym")}});
}
TEST(TaskTeams, Go2Rough) {
  for (const char* preset : {"mjlab", "legged_gym"})
    check_registered<envs::Go2Rough>(
        "Go2Rough", 60, {{"preset", std::string(preset)}, {"levels", 2.0}, {"columns", 5.0}});
}
TEST(TaskTeams, PandaPickCube) {
  check_registered<envs::PandaPickCube>("PandaPickCube", 4);
}
TEST(TaskTeams, LeapCube) {
  check_registered<envs::LeapCube>("LeapCube", 20);
}

}  // namespace
}  // namespace stiction::test

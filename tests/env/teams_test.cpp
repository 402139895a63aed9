// The planar tasks on every team.
#include <limits>

#include "env/task_teams.h"
#include "envs/half_cheetah.h"
#include "envs/inverted_double_pendulum.h"
#include "envs/inverted_pendulum.h"
#include "envs/planar_walker.h"
#include "envs/pusher.h"
#include "envs/reacher.h"
#include "envs/swimmer.h"

namespace stiction::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(TaskTeams, InvertedPendulum) {
  check_teams(envs::InvertedPendulum{.noise = 0.01}, "inverted_pendulum.xml");
}
TEST(TaskTeams, InvertedDoublePendulum) {
  check_teams(envs::InvertedDoublePendulum{.healthy_reward = 10, .noise = 0.1, .tip_site = 0},
              "inverted_double_pendulum.xml");
}
TEST(TaskTeams, Reacher) {
  check_teams(envs::Reacher{.distance_weight = 1, .control_weight = 1, .fingertip = 3, .target = 4},
              "reacher.xml");
}
TEST(TaskTeams, Pusher) {
  check_teams(envs::Pusher{.near_weight = 0.5,
                           .distance_weight = 1,
                           .control_weight = 0.1,
                           .tips = 10,
                           .object = 11,
                           .goal = 12},
              "pusher.xml");
}
TEST(TaskTeams, Swimmer) {
  check_teams(
      envs::Swimmer{
          .forward_weight = 1, .ctrl_cost = 1e-4, .noise = 0.1, .first_qpos = 2, .num_obs = 8},
      "swimmer.xml");
}
TEST(TaskTeams, HalfCheetah) {
  check_teams(
      envs::HalfCheetah{
          .forward_weight = 1, .ctrl_cost = 0.1, .noise = 0.1, .first_qpos = 1, .num_obs = 17},
      "half_cheetah.xml");
}
TEST(TaskTeams, PlanarWalker) {
  check_teams(envs::PlanarWalker{.forward_weight = 1,
                                 .ctrl_cost = 0.1,
                                 .healthy_reward = 1,
                                 .noise = 0.1,
                                 .ends_unhealthy = true,
                                 .state_low = -100,
                                 .state_high = 100,
                                 .z_low = 0.8,
                                 .z_high = kInf,
                                 .angle_low = -0.2,
                                 .angle_high = 0.2,
                                 .first_qpos = 0,
                                 .num_obs = 18,
                                 .num_actions = 6},
              "walker2d.xml");
}

}  // namespace
}  // namespace stiction::test

// Every kind of task: what a device has kernels for.
#pragma once

#include <type_traits>

#include "envs/ant.h"
#include "envs/go2.h"
#include "envs/half_cheetah.h"
#include "envs/humanoid.h"
#include "envs/humanoid_standup.h"
#include "envs/inverted_double_pendulum.h"
#include "envs/inverted_pendulum.h"
#include "envs/isaac_ant.h"
#include "envs/isaac_cartpole.h"
#include "envs/isaac_humanoid.h"
#include "envs/leap_cube.h"
#include "envs/panda_pick_cube.h"
#include "envs/planar_walker.h"
#include "envs/pusher.h"
#include "envs/reacher.h"
#include "envs/swimmer.h"

namespace stiction::envs {

template <class... Tasks>
struct TaskList {
  static constexpr int size = sizeof...(Tasks);
  // Place of a task in the list; beyond its end: it is not there.
  template <class Task>
  static constexpr int place() {
    constexpr bool same[] = {std::is_same_v<Task, Tasks>...};
    int k = 0;
    while (k < size && !same[k]) ++k;
    return k;
  }
  template <class Task>
  static constexpr bool has = place<Task>() < size;
};

using AllTasks = TaskList<InvertedPendulum, InvertedDoublePendulum, Reacher, Swimmer, HalfCheetah,
                          PlanarWalker, Ant, Humanoid, HumanoidStandup, IsaacCartpole, IsaacAnt,
                          IsaacHumanoid, Go2Flat, Go2Rough, Pusher, PandaPickCube, LeapCube>;

// Those whose models a thread may have: small, without pairs or a medium (fits_thread in cuda/launch.h).
using TasksByThread = TaskList<InvertedPendulum, InvertedDoublePendulum, Reacher, IsaacCartpole>;

template <class Task>
inline constexpr int kTaskKind = [] {
  static_assert(AllTasks::has<Task>, "add the task to AllTasks");
  return AllTasks::place<Task>();
}();

}  // namespace stiction::envs

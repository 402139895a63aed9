// The kernel of a task: the work of a team on one environment before and after the physics of a control step.
//
//   act | frame_skip steps, refresh | observe | forces, refresh of those that begin | first
#pragma once

#include "cuda/arena.h"
#include "cuda/step_status.h"
#include "envs/all.h"
#include "envs/episode.h"

namespace stiction::cuda {

enum class EpisodePhase : int {
  act,      // before the physics steps
  observe,  // after them; environments that begin an episode then have its initial state
  begin,    // as observe, without a step
  first,    // the observation of environments that began an episode
  show,     // the observation of all environments
};

struct EpisodeLaunch {
  envs::EpisodeArrays arrays;
  EpisodePhase phase;
  bool restart;  // episode numbers start at 0
  bool clear;    // clears the results of environments that began an episode
};

// Tasks run by a single thread if the physics does; all others by a warp.
template <class Task>
inline constexpr bool kTaskByThread = envs::TasksByThread::has<Task>;

}  // namespace stiction::cuda

STICTION_PHYSICS_BEGIN

using cuda::EpisodeLaunch;
using cuda::EpisodePhase;

// One environment as seen by its task; only the addresses in use are read.
template <class Task>
STICTION_FN envs::TaskEnv<float> task_env(const Launch& l, const EpisodeLaunch& k, const Task& task,
                                          int env) {
  envs::TaskEnv<float> e{};
#define X(kind, type, name, rows, columns, producer, meaning)         \
  if constexpr (FieldKind::kind != FieldKind::scratch)                \
    e.fields.name = reinterpret_cast<decltype(EnvView<float>::name)>( \
        row_of(l, static_cast<int>(Field::name), env));
#include "physics/base/fields.def"
#undef X
  envs::bind_episode(task, k.arrays, env, e);
  return e;
}

template <class Team, class Task>
STICTION_FN void begin_episode(const Team& team, const ModelView& m, const Launch& l,
                               const EpisodeLaunch& k, const Task& task, int env,
                               envs::TaskEnv<float>& e) {
  reset_environment<Drives::strings>(team, m, l, env, e.fields);  // a task's robot has no act
  envs::begin_episode(team, k.arrays, env, k.restart);
  e.episode = k.arrays.episode[env], e.step = 0;
  task.reset(team, m, e);
}

// The end of a step, after the task has observed.
template <class Team>
STICTION_FN void end_step(const Team& team, const envs::EpisodeArrays& a, int env,
                          const envs::TaskEnv<float>& e) {
  envs::make_finite(team, e.metric, a.num_metrics);
  envs::keep_final_obs(team, a, envs::row_begin(env, a.num_obs), a.num_obs);
  team.once([&] {
    a.reward[env] = e.reward;
    a.terminated[env] = e.terminated ? 1 : 0;
    envs::end_step(a, env);
  });
}

// Runs a phase for one environment.
template <class Team, class Task>
STICTION_FN void run_task(const Team& team, const ModelView& m, const Launch& l,
                          const EpisodeLaunch& k, const Task& task, int env) {
  const envs::EpisodeArrays& a = k.arrays;
  const EpisodePhase phase = k.phase;
  const bool of_some = phase == EpisodePhase::begin || phase == EpisodePhase::first;
  if (of_some && a.begins[env] == 0) return;
  if (phase == EpisodePhase::observe) team.once([&] { ++a.length[env]; });
  envs::TaskEnv<float> e = task_env(l, k, task, env);

  if (phase == EpisodePhase::act) {
    if (!envs::take_actions(team, a.given + envs::row_begin(env, a.num_actions),
                            a.action + envs::row_begin(env, a.num_actions), a.num_actions))
      team.once([&] { record_status(a.status, env, Status::bad_control); });
    task.act(team, m, e);
    return;
  }
  if (phase != EpisodePhase::begin) {
    task.observe(team, m, e, phase != EpisodePhase::observe);
    envs::make_finite(team, e.obs, a.num_obs);
  }
  if (phase == EpisodePhase::observe) end_step(team, a, env, e);
  if (phase == EpisodePhase::first && k.clear) envs::clear_results(team, a, env);
  const bool begins = a.begin != envs::Begin::disabled && a.begins[env] != 0;
  if (phase == EpisodePhase::begin || (phase == EpisodePhase::observe && begins))
    begin_episode(team, m, l, k, task, env, e);
}

STICTION_PHYSICS_END

// What surrounds a task in a control step: the actions that it sees, ends of episodes, sums, and
// how the next episode begins. One text for all devices; on the CPU the loops over numbers run over
// many environments at once.
#pragma once

#include <cstddef>
#include <limits>

#include "envs/task.h"
#include "physics/base/env_status.h"
#include "physics/base/functions.h"

namespace stiction::envs {

// As stiction::Autoreset.
enum class Begin : int { same_step, next_step, disabled };

// Where the numbers of all environments are: arrays (num_envs) or (num_envs, columns), dense.
struct EpisodeArrays {
  std::uint64_t* seed;
  std::uint32_t* episode;  // number of the running one; the next is one more
  std::int32_t *length, *final_length;
  double* sum;  // of the rewards
  float *episode_return, *final_return;
  std::uint8_t* ended;   // next_step: begins its next episode in the next step
  std::uint8_t* begins;  // begins an episode in this step
  std::byte* memory;     // of the task
  const float* given;    // (num_actions) the user's actions
  // (num_actions) of the last step with 0 for what is not finite: the task and the motors see the same;
  // 0 at the beginning of an episode
  float* action;

  // results, of one of two sets
  float *obs, *final_obs;  // (num_obs)
  float* metrics;          // (num_metrics)
  float* reward;
  std::uint8_t *terminated, *truncated;

  physics::StatusArrays status;  // of the batch

  int num_obs, num_actions, num_metrics, memory_bytes;  // of one environment
  int kept_bytes;  // at the end of the memory, beyond the end of an episode
  int max_steps;   // 0: without limit
  Begin begin;
  double dt;  // of a control step, s
};

// Index of the first number of environment i.
STICTION_FN std::size_t row_begin(int i, int columns) {
  return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns);
}

// Fills a TaskEnv but for its fields; num_obs, num_actions, num_metrics, num_memory are those of the task.
template <class S, class Task>
STICTION_FN void bind_episode(const Task& task, const EpisodeArrays& a, int i, TaskEnv<S>& e) {
  e.action = a.action + row_begin(i, task.num_actions);
  e.obs = a.obs + row_begin(i, task.num_obs);
  e.metric = a.metrics + row_begin(i, task.num_metrics);
  e.memory = reinterpret_cast<S*>(a.memory) + row_begin(i, task.num_memory);
  e.seed = a.seed[i], e.episode = a.episode[i], e.step = a.length[i];
  e.dt = a.dt;
}

// The nearest finite number; 0 of what is none.
STICTION_FN float nearest_finite(float x) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return x != x ? 0.0f : physics::clamp(x, -kLargest, kLargest);
}
STICTION_FN bool is_number(float x) {
  return physics::vabs(x) <= std::numeric_limits<float>::max();
}

template <class Team>
STICTION_FN void make_finite(const Team& team, float* x, int n) {
  team.for_each(n, [&](int k) { x[k] = nearest_finite(x[k]); });
}

// n actions from the given ones; returns whether all were numbers.
template <class Team>
STICTION_FN bool take_actions(const Team& team, const float* given, float* action, int n) {
  team.for_each(n, [&](int k) { action[k] = is_number(given[k]) ? given[k] : 0.0f; });
  return team.template sum<int>(n, [&](int k) { return is_number(given[k]) ? 0 : 1; }) == 0;
}

// End of the episode and sums, after the task observed; then who begins the next one. By one
// thread of a team.
STICTION_FN void end_step(const EpisodeArrays& a, int i) {
  a.reward[i] = nearest_finite(a.reward[i]);
  if (a.ended[i] == 0) {  // else this step only begins the next episode
    if (physics::is_frozen(a.status, i)) a.terminated[i] = 1, a.reward[i] = 0;
    a.truncated[i] = a.terminated[i] == 0 && a.max_steps > 0 && a.length[i] >= a.max_steps;
    a.sum[i] += static_cast<double>(a.reward[i]);
    a.episode_return[i] = nearest_finite(static_cast<float>(a.sum[i]));
    if (a.terminated[i] != 0 || a.truncated[i] != 0)
      a.final_length[i] = a.length[i], a.final_return[i] = a.episode_return[i];
  }
  if (a.begin == Begin::disabled) return;
  const bool done = a.terminated[i] != 0 || a.truncated[i] != 0;
  const bool begins = a.begin == Begin::same_step ? done : a.ended[i] != 0;
  a.begins[i] = begins;
  a.ended[i] = done && !begins;
}

// Numbers of any type.
using Word = std::uint32_t __attribute__((may_alias));

// Numbers and memory of a new episode in an environment that was reset (reset_environment).
// `restart`: it is episode 0.
template <class Team>
STICTION_FN void begin_episode(const Team& team, const EpisodeArrays& a, int i, bool restart) {
  Word* const memory = reinterpret_cast<Word*>(a.memory + row_begin(i, a.memory_bytes));
  const std::uint32_t episode = restart ? 0 : a.episode[i] + 1;
  const int bytes = a.memory_bytes - (episode == 0 ? 0 : a.kept_bytes);
  team.for_each(bytes / 4, [&](int k) { memory[k] = 0; });
  float* const action = a.action + row_begin(i, a.num_actions);
  team.for_each(a.num_actions, [&](int k) { action[k] = 0; });
  team.sync();  // all threads have read the number of the episode
  team.once([&] {
    a.episode[i] = episode;
    a.length[i] = 0;
    a.sum[i] = 0, a.episode_return[i] = 0;
  });
}

template <class Team>
STICTION_FN void keep_final_obs(const Team& team, const EpisodeArrays& a, std::size_t begin,
                                int n) {
  const float* const obs = a.obs + begin;
  float* const final_obs = a.final_obs + begin;
  team.for_each(n, [&](int k) { final_obs[k] = obs[k]; });
}

// The results of an environment that begins an episode in a step or reset of its own, after the
// first observation.
template <class Team>
STICTION_FN void clear_results(const Team& team, const EpisodeArrays& a, int i) {
  team.once([&] {
    a.reward[i] = 0;
    a.terminated[i] = a.truncated[i] = a.ended[i] = 0;
  });
  float* const metrics = a.metrics + row_begin(i, a.num_metrics);
  team.for_each(a.num_metrics, [&](int k) { metrics[k] = 0; });
  keep_final_obs(team, a, row_begin(i, a.num_obs), a.num_obs);
}

}  // namespace stiction::envs

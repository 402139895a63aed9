// Runs a task: applies its functions to the environments of a batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/layout.h"
#include "envs/all.h"
#include "envs/episode.h"
#include "physics/base/team.h"
#include "stiction/batch.h"

namespace stiction::env {

enum class Phase {
  reset,    // a new episode: writes state and memory
  act,      // before the physics steps
  first,    // after a reset: the observation
  observe,  // after the physics steps: observation, reward, end
};

// The arrays of episodes and the fields of all environments. stride: the bytes between
// environments; 0 if they share a parameter, and with a null base for scratch.
struct Places : envs::EpisodeArrays {
  std::array<std::byte*, physics::kFields> base{};
  std::array<std::size_t, physics::kFields> stride{};
};

struct TaskSetup {
  std::vector<std::string> metrics;  // names, num_metrics of them
  // Bounds of the actions; empty: ctrlrange of the model's actuators.
  std::vector<float> action_low = {}, action_high = {};
  std::vector<std::string> own = {};  // parameters that the task writes, per environment
};

// Returns one of all environments, as its task sees it.
template <class S, class Task>
envs::TaskEnv<S> task_env(const Task& task, const Places& p, int i) {
  envs::TaskEnv<S> e{};
  std::size_t f = 0;
#define X(kind, type, name, rows, columns, producer, meaning)              \
  if constexpr (physics::FieldKind::kind != physics::FieldKind::scratch)   \
    e.fields.name = reinterpret_cast<typename physics::EnvView<S>::type*>( \
        p.base[f] + static_cast<std::size_t>(i) * p.stride[f]);            \
  ++f;
#include "physics/base/fields.def"
#undef X
  envs::bind_episode(task, p, i, e);
  return e;
}

class TaskRunner {
 public:
  TaskRunner(int k, int obs, int actions, int metrics, int numbers, int kept, TaskSetup s)
      : kind(k),
        num_obs(obs),
        num_actions(actions),
        num_metrics(metrics),
        num_memory(numbers),
        num_kept(kept),
        setup(std::move(s)) {}
  virtual ~TaskRunner() = default;

  // Runs a phase for the environments ids[begin] ... ids[end - 1], or begin ... end - 1 if ids is null.
  virtual void run(Phase phase, Precision precision, const physics::ModelView& model,
                   const Places& places, const int* ids, int begin, int end) const = 0;
  virtual const void* plain_task() const = 0;  // the task's struct, of its dynamic type

  const int kind;  // index in envs::AllTasks
  const int num_obs, num_actions, num_metrics, num_memory, num_kept;
  const TaskSetup setup;
};

template <class Task>
class Runner final : public TaskRunner {
 public:
  Runner(const Task& task, TaskSetup s)
      : TaskRunner(envs::kTaskKind<Task>, task.num_obs, task.num_actions, task.num_metrics,
                   task.num_memory, kept_numbers(), std::move(s)),
        task_(task) {}

  static constexpr int kept_numbers() {
    if constexpr (requires { Task::num_kept; }) return Task::num_kept;
    return 0;
  }
  const Task& task() const { return task_; }
  const void* plain_task() const override { return &task_; }

  void run(Phase phase, Precision precision, const physics::ModelView& model, const Places& places,
           const int* ids, int begin, int end) const override {
    if (precision == Precision::float64)
      loop<double>(phase, model, places, ids, begin, end);
    else
      loop<float>(phase, model, places, ids, begin, end);
  }

 private:
  template <class S>
  void loop(Phase phase, const physics::ModelView& m, const Places& p, const int* ids, int begin,
            int end) const {
    using Env = envs::TaskEnv<S>;
    const physics::TeamOfOne team;
    const auto each = [&](const auto& f) { for_each<S>(p, ids, begin, end, f); };
    switch (phase) {
      case Phase::reset: each([&](int, Env& e) { task_.reset(team, m, e); }); break;
      case Phase::act: each([&](int, Env& e) { task_.act(team, m, e); }); break;
      case Phase::first:
        each([&](int, Env& e) {
          task_.observe(team, m, e, true);
          envs::make_finite(team, e.obs, task_.num_obs);
        });
        break;
      case Phase::observe:
        each([&](int i, Env& e) {
          task_.observe(team, m, e, false);
          envs::make_finite(team, e.obs, task_.num_obs);
          p.reward[i] = static_cast<float>(e.reward);
          p.terminated[i] = e.terminated ? 1 : 0;
        });
        break;
    }
  }

  // All inlined, so that only those addresses in a TaskEnv are computed that are used: computing all of them
  // takes longer than a small task.
  template <class S, class F>
  [[gnu::flatten]] void for_each(const Places& p, const int* ids, int begin, int end,
                                 const F& f) const {
    for (int k = begin; k < end; ++k) {
      const int i = ids != nullptr ? ids[k] : k;
      envs::TaskEnv<S> e = task_env<S>(task_, p, i);
      f(i, e);
    }
  }

  Task task_;
};

template <class Task>
std::unique_ptr<TaskRunner> runner(const Task& task, TaskSetup setup) {
  return std::make_unique<Runner<Task>>(task, std::move(setup));
}

}  // namespace stiction::env

// A task at work: its functions applied to the environments of a batch.
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
#include "envs/task.h"
#include "physics/team.h"
#include "stiction/batch.h"

namespace stiction::env {

enum class Phase {
  reset,    // a new episode: writes state and memory
  act,      // before the physics steps
  first,    // after a reset: the observation
  observe,  // after the physics steps: observation, reward, end
};

// Where the numbers of all environments are. A stride is the bytes from one environment to the next;
// 0 where they share a parameter, and with a null base for scratch.
struct Places {
  std::array<std::byte*, physics::kFields> base{};
  std::array<std::size_t, physics::kFields> stride{};
  const float* action = nullptr;  // only in act and observe
  float *obs = nullptr, *metrics = nullptr, *reward = nullptr;
  std::uint8_t* terminated = nullptr;
  std::byte* memory = nullptr;
  const std::uint64_t* seed = nullptr;
  const std::uint32_t* episode = nullptr;
  const std::int32_t* step = nullptr;
  double dt = 0;
};

struct TaskSetup {
  std::vector<std::string> metrics;  // names, nmetric of them
  // Bounds of the actions; empty: ctrlrange of the model's actuators.
  std::vector<float> action_low = {}, action_high = {};
  std::vector<std::string> own = {};  // parameters that the task writes: own to each environment
};

// One environment among all; the counts are those of the task.
template <class S, class Task>
envs::TaskEnv<S> task_env(const Task& task, const Places& p, std::size_t i) {
  envs::TaskEnv<S> e{};
  std::size_t f = 0;
#define X(kind, type, name, rows, columns, producer, meaning)                               \
  if constexpr (physics::FieldKind::kind != physics::FieldKind::scratch)                    \
    e.fields.name =                                                                         \
        reinterpret_cast<typename physics::EnvView<S>::type*>(p.base[f] + i * p.stride[f]); \
  ++f;
#include "physics/fields.def"
#undef X
  if (p.action != nullptr) e.action = p.action + i * static_cast<std::size_t>(task.naction);
  e.obs = p.obs + i * static_cast<std::size_t>(task.nobs);
  e.metric = p.metrics + i * static_cast<std::size_t>(task.nmetric);
  e.memory = reinterpret_cast<S*>(p.memory) + i * static_cast<std::size_t>(task.nmemory);
  e.seed = p.seed[i], e.episode = p.episode[i], e.step = p.step[i];
  e.dt = p.dt;
  return e;
}

class TaskRunner {
 public:
  TaskRunner(int obs, int actions, int metrics, int numbers, TaskSetup s)
      : nobs(obs), naction(actions), nmetric(metrics), nmemory(numbers), setup(std::move(s)) {}
  virtual ~TaskRunner() = default;

  // For the environments ids[begin] ... ids[end - 1], or begin ... end - 1 where ids is null.
  virtual void run(Phase phase, Precision precision, const physics::ModelView& model,
                   const Places& places, const int* ids, int begin, int end) const = 0;

  const int nobs, naction, nmetric, nmemory;
  const TaskSetup setup;
};

template <class Task>
class Runner final : public TaskRunner {
 public:
  Runner(const Task& task, TaskSetup s)
      : TaskRunner(task.nobs, task.naction, task.nmetric, task.nmemory, std::move(s)),
        task_(task) {}

  const Task& task() const { return task_; }

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
      case Phase::reset: each([&](std::size_t, Env& e) { task_.reset(team, m, e); }); break;
      case Phase::act: each([&](std::size_t, Env& e) { task_.act(team, m, e); }); break;
      case Phase::first: each([&](std::size_t, Env& e) { task_.observe(team, m, e, true); }); break;
      case Phase::observe:
        each([&](std::size_t i, Env& e) {
          task_.observe(team, m, e, false);
          p.reward[i] = static_cast<float>(e.reward);
          p.terminated[i] = e.terminated ? 1 : 0;
        });
        break;
    }
  }

  // All inlined, so that of the addresses in a TaskEnv only those in use are computed: all of them
  // cost more than a small task.
  template <class S, class F>
  [[gnu::flatten]] void for_each(const Places& p, const int* ids, int begin, int end,
                                 const F& f) const {
    for (int k = begin; k < end; ++k) {
      const auto i = static_cast<std::size_t>(ids != nullptr ? ids[k] : k);
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

// What an Env is made of: a batch, a task at work on its rows, and two sets of results.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/impl.h"
#include "env/registry.h"
#include "env/runner.h"
#include "stiction/env.h"

namespace stiction {

// The results of one step or reset.
struct EnvResults {
  std::vector<float> obs, reward, final_obs, metrics;
  std::vector<std::uint8_t> terminated, truncated;
};

struct Env::Impl {
  Impl(const std::string& id, const EnvOptions& o);

  // ---- what never changes
  const env::TaskEntry& entry;
  EnvOptions given;
  env::TaskOptions task_options;
  std::string xml;
  LoadReport report;
  ModelPtr model;
  std::unique_ptr<env::TaskRunner> runner;
  TaskInfo info;
  std::vector<float> action_low, action_high;
  Batch batch;
  double dt = 0;

  // ---- episodes
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint32_t> episode;  // number of the running one; the next is one more
  std::vector<std::int32_t> length, final_length;
  std::vector<double> sum;  // of the rewards
  std::vector<float> episode_return, final_return;
  std::vector<float> action;        // of the last step, finite
  cpu::Buffer memory;               // of the task
  std::vector<std::uint8_t> ended;  // next_step: begins its next episode in the next step
  bool begun = false;               // a reset or step after construction
  std::uint64_t steps = 0;

  // ---- results; `now` is the set that was written last
  std::array<EnvResults, 2> results;
  int now = 0;
  std::vector<int> ids;  // environments that begin an episode, room for all

  Batch::Impl& engine() { return *batch.impl_; }
  int num_envs() const { return given.num_envs; }
  // Of the task's memory of one environment.
  std::size_t memory_bytes() const {
    return at(runner->nmemory) *
           (given.precision == Precision::float64 ? sizeof(double) : sizeof(float));
  }
  EnvResults& current() { return results[at(now)]; }
  env::Places places();
  ArrayView view(const char* name, void* data, DType dtype, int columns) const;

  // f(begin, end) over [0, n) in as many parts as there are threads.
  template <class F>
  void share(int n, const F& f);
  void flip();
  void step(std::span<const float> actions, const std::function<void()>& physics);
  void take(std::span<const float> actions, int begin, int end);
  void finish(int begin, int end);
  void reset(std::span<const int> which);
  void observe();
  template <class F>
  void for_saved(const F& f);
  void begin_episodes(std::span<const int> which);
};

}  // namespace stiction

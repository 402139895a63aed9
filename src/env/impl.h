// Implementation of an Env: a batch, a task that works on its rows, and two sets of results. On the
// CPU the task runs here, on a device behind DeviceEpisodes.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/device_episodes.h"
#include "batch/impl.h"
#include "env/episode_memory.h"
#include "env/registry.h"
#include "env/runner.h"
#include "stiction/env.h"

namespace stiction {

struct Env::Impl {
  Impl(const std::string& id, const EnvOptions& o);

  // ---- constant after construction
  const env::TaskEntry& entry;
  EnvOptions given;
  env::TaskOptions task_options;
  env::TaskModel source;
  LoadReport report;
  ModelPtr model;
  std::unique_ptr<env::TaskRunner> runner;
  TaskInfo info;
  std::vector<float> action_low, action_high;
  Batch batch;
  double dt = 0;

  // ---- episodes, in memory of the host or of the batch's device
  env::EpisodeMemory layout;
  cpu::Buffer memory;
  std::unique_ptr<DeviceEpisodes> device;                       // null on the CPU
  std::array<envs::EpisodeArrays, DeviceEpisodes::kSets> sets;  // their result arrays differ
  // The set that was written last. Atomic, like the number of steps: any thread may take a view.
  std::atomic<int> now = 0;
  bool begun = false;  // a reset or step after construction
  std::atomic<std::uint64_t> steps = 0;
  cpu::Pace pace{1};     // for the task's own work
  std::vector<int> ids;  // environments that begin an episode; capacity for all

  Batch::Impl& engine() { return *batch.impl_; }
  int num_envs() const { return given.num_envs; }
  const envs::EpisodeArrays& current() const { return sets[at(now)]; }
  ArrayView view(const char* name, const void* data, DType dtype, int columns) const;
  void check_actions(std::size_t numbers) const;
  void flip();
  // Flips, and starts the new set with the results of the last one.
  void flip_and_keep();

  // Read and write the arrays, wherever they are stored.
  void read(void* to, const void* array, std::size_t bytes) const;
  void write(void* array, const void* from, std::size_t bytes) const;
  template <class F, class G>
  void for_saved(const F& array, const G& number);

  // Everything that a step may change: a step that ends in an exception has no effect.
  struct Before {
    Batch::Impl::Before batch;
    std::vector<std::byte> episodes;  // the arrays of episodes except results
    int now;
    bool begun;
    std::uint64_t steps;
  } before;
  void remember();
  void put_back();

  void step(const float* actions, bool on_device, const std::function<void()>* physics);
  void step_with(const float* actions, const std::function<void()>* physics);
  void reset(std::span<const int> which);
  void observe();

  // ---- step.cpp, on the CPU
  env::Places places();
  // Calls f(begin, end) over [0, n) in parts, in parallel.
  template <class F>
  void share(int n, const F& f);
  void step_here(const float* actions, const std::function<void()>* physics);
  void take(const float* actions, int begin, int end);
  void finish(int begin, int end);
  void begin_episodes(std::span<const int> which, bool restart);
  void clear_results(std::span<const int> which);
};

}  // namespace stiction

// Environments at play on the device of a test, by actions that depend on their names alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "batch/batches.h"
#include "batch/scenes.h"
#include "env/registry.h"
#include "stiction/env.h"

namespace stiction::test {

template <class T>
std::vector<T> row(const ArrayView& v, int env) {
  const std::int64_t columns = v.size() / v.shape[0];
  std::vector<T> all(static_cast<std::size_t>(columns));
  copy_memory(v.device, all.data(), static_cast<const T*>(v.data) + env * columns,
              all.size() * sizeof(T));
  return all;
}

// An action that depends on the environment's name and the step, and on nothing else.
inline void set_actions(std::vector<float>& a, int num_actions, int first, int step) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    const int env = first + static_cast<int>(k) / num_actions,
              i = static_cast<int>(k) % num_actions;
    const double phase = 0.7 * env + 0.31 * step + 1.9 * i;
    a[k] = static_cast<float>(1.2 * std::sin(phase));
  }
}

struct Player {
  Player(const std::string& id, const EnvOptions& o, int first_env = 0)
      : env(id, o),
        first(first_env),
        actions(static_cast<std::size_t>(o.num_envs) *
                static_cast<std::size_t>(env.info().num_actions)) {}
  void step() {
    set_actions(actions, env.info().num_actions, first, static_cast<int>(env.steps()));
    env.step(actions);
  }
  bool done(int i) {
    return row<std::uint8_t>(env.terminated(), i)[0] + row<std::uint8_t>(env.truncated(), i)[0] > 0;
  }
  Env env;
  int first;
  std::vector<float> actions;
};

inline EnvOptions options(int n, Autoreset autoreset = Autoreset::same_step,
                          std::uint64_t seed = 0) {
  EnvOptions o;
  o.num_envs = n;
  o.autoreset = autoreset;
  o.seed = seed;
  o.device = device();
  return o;
}

// All that a step hands out about environment i.
inline std::vector<float> results(Env& e, int i) {
  std::vector<float> all;
  const auto add = [&](const ArrayView& v) {
    const auto x = v.dtype == DType::float32 ? row<float>(v, i) : std::vector<float>{};
    all.insert(all.end(), x.begin(), x.end());
    if (v.dtype == DType::uint8) all.push_back(row<std::uint8_t>(v, i)[0]);
    if (v.dtype == DType::int32) all.push_back(static_cast<float>(row<std::int32_t>(v, i)[0]));
  };
  for (const ArrayView& v :
       {e.obs(), e.reward(), e.terminated(), e.truncated(), e.final_obs(), e.metrics(),
        e.episode_length(), e.episode_return(), e.final_episode_length(), e.final_episode_return()})
    add(v);
  return all;
}

// A device has none.
inline void set_threads(EnvOptions& o, int threads) {
  if (o.device == "cpu") o.threads = threads;
}

// A device and the name of a task. Every process of the tests makes these lists when it starts, so they are from the
// registry: Env::tasks() loads the model of each task.
using TaskOnDevice = std::pair<std::string, std::string>;
inline std::vector<TaskOnDevice> tasks_on_devices(bool with_cpu) {
  std::vector<TaskOnDevice> all;
  for (const std::string& where : device_names(with_cpu))
    for (const env::TaskEntry& t : env::registry()) all.emplace_back(where, t.id);
  return all;
}
inline std::string task_name(const testing::TestParamInfo<TaskOnDevice>& named) {
  std::string name = named.param.first + "_" + named.param.second;
  std::erase(name, '-');
  return name;
}

class EveryTask : public testing::TestWithParam<TaskOnDevice> {
 protected:
  EveryTask() { use_device(GetParam().first); }
  ~EveryTask() override { use_device("cpu"); }
  void SetUp() override {
    if (const std::string why = missing_device(); !why.empty()) GTEST_SKIP() << why;
  }
  static const std::string& task() { return GetParam().second; }
};

}  // namespace stiction::test

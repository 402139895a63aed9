// A task's text on every team: one lane, a thread of a card, lanes in scrambled order, real threads.
#pragma once

#include <gtest/gtest.h>

#include "batch/impl.h"
#include "cuda/group_team.h"
#include "env/registry.h"
#include "physics/teams.h"

namespace stiction::test {

// Everything that the three functions of a task write, in an episode of one control step.
struct Written {
  std::vector<double> state, ctrl, memory;
  std::vector<float> obs, metrics;
  double reward = 0;
  bool terminated = false;
};

template <class S>
struct Scene {
  Scene(const ModelPtr& m, Precision precision)
      : batch(m, {.num_envs = 1, .options = {}, .precision = precision, .threads = 1}),
        host(*m, batch.options()) {
    int f = 0;
    for (const FieldInfo& info : Batch::fields(*m)) {
      if (info.kind == "computed") continue;
      while (host.specs()[at(f)].name != info.name) ++f;
      const ArrayView v = info.kind == "param" ? batch.param(info.name) : batch.field(info.name);
      places.base[at(f)] = static_cast<std::byte*>(v.data);
    }
  }
  Batch batch;
  cpu::HostModel host;
  env::Places places{};
};

// run(f): f(team) on every lane of the team.
template <class S, class Task, class RunTeam>
Written written(const Task& task, const ModelPtr& model, int steps, const RunTeam& run) {
  Scene<S> scene(model, sizeof(S) == 8 ? Precision::float64 : Precision::float32);
  Written w;
  std::vector<float> action(at(task.num_actions)), obs(at(task.num_obs)),
      metrics(at(task.num_metrics));
  for (std::size_t i = 0; i < action.size(); ++i) action[i] = 0.3f - 0.2f * static_cast<float>(i);
  std::vector<S> memory(at(task.num_memory) + 1);
  std::uint64_t seed = 5;
  std::uint32_t episode = 2;
  std::int32_t step = 0;
  env::Places& p = scene.places;
  p.action = action.data(), p.obs = obs.data(), p.metrics = metrics.data();
  p.memory = reinterpret_cast<std::byte*>(memory.data());
  p.seed = &seed, p.episode = &episode, p.length = &step, p.dt = 0.01;
  const physics::ModelView& view = scene.host.view();
  const auto keep_obs = [&] { w.obs.insert(w.obs.end(), obs.begin(), obs.end()); };

  run([&](const auto& team) {
    auto e = env::task_env<S>(task, p, 0);
    task.reset(team, view, e);
  });
  scene.batch.refresh();
  run([&](const auto& team) {
    auto e = env::task_env<S>(task, p, 0);
    task.observe(team, view, e, true);
  });
  keep_obs();
  run([&](const auto& team) {
    auto e = env::task_env<S>(task, p, 0);
    task.act(team, view, e);
  });
  scene.batch.step(steps);
  run([&](const auto& team) {
    auto e = env::task_env<S>(task, p, 0);
    task.observe(team, view, e, false);
    team.once([&] { w.reward = static_cast<double>(e.reward), w.terminated = e.terminated; });
  });
  keep_obs();

  w.metrics = metrics;
  w.memory.assign(memory.begin(), memory.end());
  const auto take = [&](const char* name, std::vector<double>& to) {
    const ArrayView v = scene.batch.field(name);
    for (std::int64_t i = 0; i < v.size(); ++i)
      to.push_back(v.dtype == DType::float64 ? static_cast<double*>(v.data)[i]
                                             : static_cast<double>(static_cast<float*>(v.data)[i]));
  };
  take("qpos", w.state), take("qvel", w.state), take("ctrl", w.ctrl);
  return w;
}

// Sums over the lanes of a team of threads may differ in their last bits.
inline void expect_same(const Written& a, const Written& b, double tolerance) {
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.ctrl, b.ctrl);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.obs, b.obs);
  EXPECT_EQ(a.terminated, b.terminated);
  EXPECT_NEAR(a.reward, b.reward, tolerance);
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i)
    EXPECT_NEAR(a.metrics[i], b.metrics[i], tolerance) << i;
}

template <class S, class Task>
void check_teams_in(const Task& task, const ModelPtr& model, int steps) {
  const Written one =
      written<S>(task, model, steps, [](const auto& f) { f(physics::TeamOfOne()); });
  EXPECT_NE(one.obs, std::vector<float>(one.obs.size(), 0.0f));
  expect_same(one,
              written<S>(task, model, steps,
                         [](const auto& f) { f(physics::GroupTeam(physics::ThreadGroup())); }),
              0);
  for (const std::uint32_t order : {1u, 2u})
    expect_same(one, written<S>(task, model, steps, [&](const auto& f) { f(ShuffledTeam(order)); }),
                0);
  for (const int size : {2, 3})
    expect_same(one,
                written<S>(task, model, steps, [&](const auto& f) { ThreadTeam::run(size, f); }),
                1e-6);
}

// A control step is `steps` physics steps.
template <class Task>
void check_teams(const Task& task, const ModelPtr& model, int steps) {
  check_teams_in<float>(task, model, steps);
  check_teams_in<double>(task, model, steps);
}
template <class Task>
void check_teams(const Task& task, const std::string& asset, int steps = 3) {
  check_teams(task, load_model_from_string(std::string(env::asset(asset))), steps);
}

}  // namespace stiction::test

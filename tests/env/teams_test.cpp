// The tasks' text on every team: one lane, lanes in scrambled order, real threads.
#include "physics/teams.h"

#include <gtest/gtest.h>

#include <limits>

#include "batch/impl.h"
#include "env/registry.h"
#include "envs/half_cheetah.h"
#include "envs/inverted_double_pendulum.h"
#include "envs/inverted_pendulum.h"
#include "envs/planar_walker.h"
#include "envs/reacher.h"

namespace stiction::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Everything that the three functions of a task write, after an episode of one control step.
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
      while (host.specs()[at(f)].name != info.name) ++f;
      const ArrayView v = info.kind == "param" ? batch.param(info.name) : batch.field(info.name);
      places.base[at(f)] = static_cast<std::byte*>(v.data);
    }
  }
  Batch batch;
  cpu::HostModel host;
  env::Places places;
};

// run(f): f(team) on every lane of the team.
template <class S, class Task, class RunTeam>
Written written(const Task& task, const ModelPtr& model, const RunTeam& run) {
  Scene<S> scene(model, sizeof(S) == 8 ? Precision::float64 : Precision::float32);
  Written w;
  std::vector<float> action(at(task.naction)), obs(at(task.nobs)), metrics(at(task.nmetric));
  for (std::size_t i = 0; i < action.size(); ++i) action[i] = 0.3f - 0.2f * static_cast<float>(i);
  std::vector<S> memory(at(task.nmemory) + 1);
  const std::uint64_t seed = 5;
  const std::uint32_t episode = 2;
  std::int32_t step = 0;
  env::Places& p = scene.places;
  p.action = action.data(), p.obs = obs.data(), p.metrics = metrics.data();
  p.memory = reinterpret_cast<std::byte*>(memory.data());
  p.seed = &seed, p.episode = &episode, p.step = &step, p.dt = 0.01;
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
  scene.batch.step(3);
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
void expect_same(const Written& a, const Written& b, double tolerance) {
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
void check(const Task& task, const ModelPtr& model) {
  const Written one = written<S>(task, model, [](const auto& f) { f(physics::TeamOfOne()); });
  EXPECT_NE(one.obs, std::vector<float>(one.obs.size(), 0.0f));
  for (const std::uint32_t order : {1u, 2u})
    expect_same(one, written<S>(task, model, [&](const auto& f) { f(ShuffledTeam(order)); }), 0);
  for (const int size : {2, 3})
    expect_same(one, written<S>(task, model, [&](const auto& f) { ThreadTeam::run(size, f); }),
                1e-6);
}

template <class Task>
void check(const Task& task, const char* asset) {
  const ModelPtr model = load_model_from_string(std::string(env::asset(asset)));
  check<float>(task, model);
  check<double>(task, model);
}

TEST(TaskTeams, InvertedPendulum) {
  check(envs::InvertedPendulum{.noise = 0.01}, "inverted_pendulum.xml");
}
TEST(TaskTeams, InvertedDoublePendulum) {
  check(envs::InvertedDoublePendulum{.healthy_reward = 10, .noise = 0.1, .tip_site = 0},
        "inverted_double_pendulum.xml");
}
TEST(TaskTeams, Reacher) {
  check(envs::Reacher{.distance_weight = 1, .control_weight = 1, .fingertip = 3, .target = 4},
        "reacher.xml");
}
TEST(TaskTeams, HalfCheetah) {
  check(
      envs::HalfCheetah{
          .forward_weight = 1, .ctrl_cost = 0.1, .noise = 0.1, .first_qpos = 1, .nobs = 17},
      "half_cheetah.xml");
}
TEST(TaskTeams, PlanarWalker) {
  check(envs::PlanarWalker{.forward_weight = 1,
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
                           .nobs = 18,
                           .naction = 6},
        "walker2d.xml");
}

}  // namespace
}  // namespace stiction::test

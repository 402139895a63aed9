// Scenes in which everything happens that a step knows: the robots of the test data on a floor, a
// stack of boxes, loose bodies on each other and on an arm, a mocap body that pushes.
#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "batch/batches.h"
#include "physics/solve_models.h"

namespace stiction::test {

inline constexpr const char* kBoxStack = R"(
<mujoco><option timestep="0.004"/>
<worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0 0 .101"><freejoint/><geom type="box" size=".2 .2 .1" mass="2"/></body>
 <body pos=".02 0 .302"><freejoint/><geom type="box" size=".15 .2 .1" mass="1"/></body>
 <body pos="0 .03 .453"><freejoint/><geom type="box" size=".1 .1 .05" mass=".5"/></body>
</worldbody></mujoco>)";

// The block moves where the test puts it.
inline constexpr const char* kPushed = R"(
<mujoco><option timestep="0.004"/>
<worldbody><geom type="plane" size="5 5 1"/>
 <body name="block" mocap="true" pos="-.25 0 .1"><geom type="box" size=".1 .3 .1"/></body>
 <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
 <body pos="0 .22 .08"><freejoint/><geom type="capsule" size=".08 .1" euler="90 0 0" mass="2"/></body>
 <body pos="-.14 -.2 .5"><joint name="a" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.35" size=".04" mass="1"/></body>
</worldbody>
<actuator><position joint="a" kp="10" kv="1"/></actuator></mujoco>)";

inline const std::vector<std::string>& scene_names() {
  static const std::vector<std::string> names = {
      "anymal_c", "g1_capsules", "g1_feetonly", "go1",   "go1_feetonly", "go2",
      "h1",       "h1_feetonly", "panda",       "stack", "pile",         "pushed"};
  return names;
}
// Loaded once.
inline ModelPtr scene(const std::string& name) {
  static std::vector<std::pair<std::string, ModelPtr>> loaded;
  for (const auto& [known, model] : loaded)
    if (known == name) return model;
  ModelPtr m;
  if (name == "stack")
    m = load_model_from_string(kBoxStack);
  else if (name == "pile")
    m = load_model_from_string(kPile);
  else if (name == "pushed")
    m = load_model_from_string(kPushed);
  else
    m = robot(name);
  loaded.emplace_back(name, m);
  return m;
}

// A state and controls that depend on `key` alone, not on where the environment is: near the ground,
// pushed in some direction.
inline void scatter(Batch& b, int env, int key) {
  const Model& m = b.model();
  std::mt19937 rng(static_cast<unsigned>(key) * 7919u + 1u);
  std::uniform_real_distribution<double> uniform(-1, 1);
  BatchState s;
  s.qpos =
      m.nkey > 0 ? std::vector<double>(m.key_qpos.begin(), m.key_qpos.begin() + m.nq) : m.qpos0;
  for (int j = 0; j < m.njnt; ++j) {
    double* q = &s.qpos[at(m.jnt_qposadr[at(j)])];
    if (m.jnt_type[at(j)] == JointType::free) {
      for (int k = 0; k < 2; ++k) q[k] += 0.01 * uniform(rng);
      q[2] += 0.005 * uniform(rng);
    } else if (m.jnt_type[at(j)] != JointType::ball) {
      q[0] += 0.02 * uniform(rng);
    }
  }
  for (int i = 0; i < m.nv; ++i) s.qvel.push_back(0.4 * uniform(rng));
  s.time = {0};
  b.set_state(std::span(&env, 1), s);
  for (int a = 0; a < m.nu; ++a) put(b.field("ctrl"), env, a, 0.5 * uniform(rng));
  for (int k = 0; k < m.nmocap; ++k)
    put(b.field("mocap_pos"), env, 3 * k, number(b, "mocap_pos", env, 3 * k) + 0.1 * uniform(rng));
}

// A test of every scene on every device.
class EveryScene : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  EveryScene() { use_device(GetParam().second); }
  ~EveryScene() override { use_device("cpu"); }
  void SetUp() override {
    if (const std::string why = missing_device(); !why.empty()) GTEST_SKIP() << why;
  }
  const std::string& name() const { return GetParam().first; }
};
inline std::vector<std::pair<std::string, std::string>> scenes_on_devices(bool with_cpu = true) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& where : device_names(with_cpu))
    for (const std::string& name : scene_names()) all.emplace_back(name, where);
  return all;
}
#define STICTION_ON_EVERY_SCENE(suite)                       \
  INSTANTIATE_TEST_SUITE_P(                                  \
      Scenes, suite, testing::ValuesIn(scenes_on_devices()), \
      [](const auto& named) { return named.param.first + "_" + named.param.second; })

inline std::vector<int> up_to(int n) {
  std::vector<int> keys(static_cast<std::size_t>(n));
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

// Environment i starts from keys[i].
inline Batch scattered(const std::string& name, const std::vector<int>& keys,
                       std::optional<int> threads = {}, const Options& options = {}) {
  BatchOptions o = batch_options(static_cast<int>(keys.size()));
  o.threads = threads;
  o.options = options;
  Batch b(scene(name), o);
  for (std::size_t i = 0; i < keys.size(); ++i) scatter(b, static_cast<int>(i), keys[i]);
  b.clear_counts();
  return b;
}

// Calls of several steps; mocap bodies travel, controls change with the call.
inline void advance(Batch& b, int calls, int steps = 4) {
  const Model& m = b.model();
  for (int k = 0; k < calls; ++k) {
    for (int env = 0; env < b.num_envs(); ++env) {
      for (int i = 0; i < m.nmocap; ++i)
        put(b.field("mocap_pos"), env, 3 * i, number(b, "mocap_pos", env, 3 * i) + 0.005);
      for (int a = 0; a < m.nu; ++a)
        put(b.field("ctrl"), env, a, 0.9 * number(b, "ctrl", env, a) + 0.02);
    }
    b.step(steps);
  }
}

// Guards against bits that agree because nothing happens: contacts in every eighth environment and
// step, nobody frozen.
inline void expect_contacts(Batch& b) {
  // in the few steps under a sanitizer the arm reaches nothing
  if (!kSanitized) {
    EXPECT_GT(8 * b.counts().contacts, b.counts().env_steps);
  }
  EXPECT_EQ(b.counts().frozen, 0u);
  EXPECT_EQ(b.status_count(), 0u);
}

}  // namespace stiction::test

// Scenes in which everything happens that a step knows: the robots of the test data on a floor, a
// stack of boxes, drums, meshes, height fields, loose bodies on each other and on an arm, a mocap body that pushes, loops by
// equality constraints, actuators with a state, strings and a medium; four without pairs, which a thread can have.
#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "batch/batches.h"
#include "batch/law_scenes.h"
#include "physics/actuation/actuator_models.h"
#include "physics/solver/solve_models.h"

namespace stiction::test {

inline constexpr const char* kBoxStack = R"(
<mujoco><option timestep="0.004"/>
<worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0 0 .101"><freejoint/><geom type="box" size=".2 .2 .1" mass="2"/></body>
 <body pos=".02 0 .302"><freejoint/><geom type="box" size=".15 .2 .1" mass="1"/></body>
 <body pos="0 .03 .453"><freejoint/><geom type="box" size=".1 .1 .05" mass=".5"/></body>
</worldbody></mujoco>)";

// Cylinders that stand and lie, on a box and on each other, and what leans on them.
inline constexpr const char* kDrums = R"(
<mujoco><option timestep="0.004"/>
<worldbody><geom type="plane" size="5 5 1"/>
 <geom type="box" size=".4 .3 .1" pos="0 0 .1"/>
 <body pos="0 0 .249"><freejoint/><geom type="cylinder" size=".1 .05" mass="1"/></body>
 <body pos=".05 0 .327"><freejoint/><geom type="cylinder" size=".08 .03" mass=".5"/></body>
 <body pos="-.25 0 .259"><freejoint/><geom type="cylinder" size=".06 .12" euler="90 0 0" mass="1"/></body>
 <body pos="-.25 .02 .347"><freejoint/><geom type="capsule" size=".03 .1" euler="90 0 0" mass=".3"/></body>
 <body pos=".25 .1 .258"><freejoint/><geom type="ellipsoid" size=".05 .08 .06" mass=".5"/></body>
 <body pos=".05 0 .395"><freejoint/><geom type="sphere" size=".04" mass=".2"/></body>
 <body pos=".2 -.1 .26"><freejoint/><geom type="ellipsoid" size=".07 .04 .06" mass=".4"/></body>
</worldbody></mujoco>)";

// Meshes on a floor, on a box, on each other and under round shapes: bricks, a prism, and a stone of so many vertices
// that the farthest is climbed to. No edge is along another.
inline std::string rocks() {
  std::string prism, stone;
  for (int i = 0; i < 14; ++i) {
    const double angle = 2 * M_PI * (i / 2) / 7;
    prism += std::to_string(0.1 * std::cos(angle)) + " " + std::to_string(0.1 * std::sin(angle)) +
             (i % 2 == 0 ? " -.05 " : " .05 ");
  }
  for (int i = 0; i < 60; ++i) {
    const double z = 1 - (2 * i + 1) / 60.0, r = std::sqrt(1 - z * z), angle = 2.399963 * i;
    stone += std::to_string(0.08 * r * std::cos(angle)) + " " +
             std::to_string(0.07 * r * std::sin(angle)) + " " + std::to_string(0.06 * z) + " ";
  }
  return R"(<mujoco><option timestep="0.004"/><asset><mesh name="prism" vertex=")" + prism +
         R"("/><mesh name="stone" vertex=")" + stone +
         R"("/><mesh name="brick" vertex="-.1 -.06 -.04 .1 -.06 -.04 -.1 .06 -.04 .1 .06 -.04
   -.1 -.06 .04 .1 -.06 .04 -.1 .06 .04 .1 .06 .04"/></asset>
<worldbody><geom type="plane" size="5 5 1"/><geom type="box" size=".3 .2 .1" pos="0 0 .1" euler="0 0 5"/>
 <body pos="0 0 .249" euler="0 0 13"><freejoint/><geom type="mesh" mesh="prism" mass="1"/></body>
 <body pos=".02 0 .338" euler="0 0 31"><freejoint/><geom type="mesh" mesh="brick" mass=".5"/></body>
 <body pos=".01 .01 .407" euler="0 0 7"><freejoint/><geom type="cylinder" size=".04 .03" mass=".2"/></body>
 <body pos=".2 .1 .259"><freejoint/><geom type="mesh" mesh="stone" mass=".5"/></body>
 <body pos="-.2 .03 .239" euler="0 0 70"><freejoint/><geom type="mesh" mesh="brick" mass=".5"/></body>
 <body pos="-.2 .02 .308" euler="90 20 0"><freejoint/><geom type="capsule" size=".03 .1" mass=".3"/></body>
 <body pos=".5 0 .049"><freejoint/><geom type="mesh" mesh="prism" mass="1"/></body>
 <body pos=".51 .02 .138"><freejoint/><geom type="sphere" size=".04" mass=".2"/></body>
 <body pos="-.5 0 .059"><freejoint/><geom type="mesh" mesh="stone" mass=".5"/></body>
</worldbody></mujoco>)";
}

// Every shape on rough ground that slopes and steps; the ground of the second field tilts with a body.
inline std::string terrain() {
  std::string elevation;
  for (int j = 0; j < 12; ++j)
    for (int i = 0; i < 14; ++i)
      elevation += std::to_string((i * 7 + j * 5) % 6 + (i > 9 ? 12 : 0) + j) + " ";
  return R"(<mujoco><option timestep="0.004"/>
<asset><hfield name="ground" nrow="12" ncol="14" size="1.3 1.1 .2 .1" elevation=")" +
         elevation + R"("/>
 <hfield name="tray" nrow="3" ncol="3" size=".3 .3 .05 .1" elevation="1 1 1 1 0 1 1 1 1"/>
 <mesh name="brick" vertex="-.1 -.07 -.05 .1 -.07 -.05 -.1 .07 -.05 .1 .07 -.05 -.1 -.07 .05 .1 -.07 .05 -.1 .07 .05 .1 .07 .05"/>
</asset>
<worldbody><geom type="hfield" hfield="ground" euler="3 -4 0"/>
 <body pos="-.6 -.5 .06"><freejoint/><geom type="sphere" size=".06" mass=".5"/></body>
 <body pos="-.2 -.4 .1875"><freejoint/><geom type="capsule" size=".04 .1" mass=".6"/></body>
 <body pos=".2 -.4 .1226" euler="30 0 0"><freejoint/><geom type="ellipsoid" size=".1 .07 .05" mass=".7"/></body>
 <body pos="-.6 .3 .0779"><freejoint/><geom type="cylinder" size=".07 .05" mass=".8"/></body>
 <body pos="-.1 .3 .1316" euler="0 10 0"><freejoint/><geom type="box" size=".1 .08 .05" mass=".9"/></body>
 <body pos=".4 .4 .1611"><freejoint/><geom type="mesh" mesh="brick" mass="1"/></body>
 <body pos=".9 0 .8"><joint name="tilt" axis="0 1 0" damping="2"/><geom type="hfield" hfield="tray"/>
  <inertial pos="0 0 0" mass="3" diaginertia=".1 .1 .1"/></body>
 <body pos=".9 .02 .8542"><freejoint/><geom type="sphere" size=".05" mass=".2"/></body>
</worldbody>
<actuator><position joint="tilt" kp="50" kv="2"/></actuator></mujoco>)";
}

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

inline constexpr const char* kCartpole = R"(
<mujoco><option timestep="0.01"/>
<worldbody><body><joint name="x" type="slide" axis="1 0 0" range="-.02 .02" limited="true"/>
 <geom type="box" size=".1 .1 .05" mass="1" contype="0" conaffinity="0"/>
 <body><joint axis="0 1 0" damping=".05"/>
  <geom type="capsule" fromto="0 0 0 0 0 .5" size=".03" mass=".3" contype="0" conaffinity="0"/>
 </body></body></worldbody>
<actuator><motor joint="x" gear="20"/></actuator></mujoco>)";

// As many dofs as a thread takes: two branches, a ball, a tendon, servos, dry friction, springs.
inline constexpr const char* kBranches = R"(
<mujoco><option timestep="0.005"/><default><geom contype="0" conaffinity="0"/></default>
<worldbody><body><joint name="x" type="slide" axis="1 0 0" stiffness="40" damping="1"/>
 <geom type="box" size=".1 .1 .05" mass="1"/>
 <body pos=".1 0 0"><joint type="ball" damping=".02"/>
  <geom type="capsule" fromto="0 0 0 .05 0 -.3" size=".03" mass=".3"/>
  <body pos=".05 0 -.3"><joint name="a" axis="0 1 0" frictionloss=".05"/>
   <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".1"/></body></body>
 <body name="arm" pos="-.1 0 0"><joint name="b" axis="0 1 0" range="-1 .01" limited="true"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass=".2"/>
  <body pos="0 0 -.2"><joint name="c" axis="1 0 0"/>
   <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".1"/>
   <site name="tip" pos="0 0 -.2"/>
   <body pos="0 0 -.2"><joint name="d" axis="0 1 0" armature=".01"/>
    <geom size=".04" mass=".1"/></body></body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="c" coef="1"/><joint joint="d" coef="-.5"/></fixed></tendon>
<actuator><position joint="b" kp="5" kv=".2"/><motor joint="x" gear="3"/>
 <position name="t" tendon="t" kp="2"/></actuator>
<sensor><jointpos joint="a"/><framepos objtype="site" objname="tip"/><actuatorfrc actuator="t"/>
</sensor></mujoco>)";

// Trees side by side on the floor, (6 + links) dofs each: a ball that touches its neighbour's and
// the floor, a servo, and a chain of links at their limits that ends in a ball on the floor.
inline std::string trees(int count, int links) {
  std::string text = R"(<mujoco><option timestep="0.004"/><default>
    <geom mass=".05" contype="0" conaffinity="0"/>
    <default class="ball"><geom contype="1" conaffinity="1" size=".098"/></default>
    <joint limited="true" range="-.02 .05" damping=".02" armature=".002"/></default>
    <worldbody><geom type="plane" size="5 5 1" contype="1" conaffinity="1"/>)";
  std::string servos;
  for (int k = 0; k < count; ++k) {
    const std::string tree = std::to_string(k);
    text += "<body pos='" + std::to_string(0.195 * k) + " 0 .099'>" +
            "<joint type='free' limited='false'/><geom class='ball' size='.1' mass='2'/>";
    for (int i = 0; i < links; ++i) {
      text += i == 0 ? "<body pos='0 .1 0'><joint name='" + tree + "' axis='0 0 1'/>"
                     : std::string("<body pos='0 .05 0'><joint axis='") +
                           (i % 2 == 0 ? "0 0 1'/>" : "1 0 0'/>");
      text += i + 1 == links ? "<geom class='ball'/>"
                             : "<geom type='capsule' fromto='0 0 0 0 .05 0' size='.02'/>";
    }
    for (int i = 0; i <= links; ++i) text += "</body>";
    servos += "<position joint='" + tree + "' kp='5' kv='.1'/>";
  }
  return text + "</worldbody><actuator>" + servos + "</actuator></mujoco>";
}

inline const std::vector<std::string>& scene_names() {
  static const std::vector<std::string> names = {
      "anymal_c", "g1",          "g1_feetonly", "go1",      "go1_feetonly", "go2",
      "h1",       "h1_feetonly", "panda",       "stack",    "pile",         "drums",
      "rocks",    "pushed",      "cartpole",    "branches", "loops",        "linkage",
      "muscles",  "terrain",     "sites",       "rigging",  "stops"};
  return names;
}
inline const std::vector<std::string>& large_scenes() {
  static const std::vector<std::string> names = {"trees66", "trees96", "trees130"};
  return names;
}
// Behind the name of a robot: with sliding friction alone.
inline const std::string kSliding = " sliding";
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
  else if (name == "drums")
    m = load_model_from_string(kDrums);
  else if (name == "rocks")
    m = load_model_from_string(rocks());
  else if (name == "terrain")
    m = load_model_from_string(terrain());
  else if (name == "pushed")
    m = load_model_from_string(kPushed);
  else if (name == "cartpole")
    m = load_model_from_string(kCartpole);
  else if (name == "branches")
    m = load_model_from_string(kBranches);
  else if (name == "loops")
    m = load_model_from_string(kLoops);
  else if (name == "linkage")
    m = load_model_from_string(kLinkage);
  else if (name == "sites")
    m = load_model_from_string(kSites);
  else if (name == "muscles")
    m = load_model_from_string(kMuscles);
  else if (name == "rigging")
    m = load_model_from_string(kRigging);
  else if (name == "stops")
    m = load_model_from_string(kStops);
  else if (name == "bounces")
    m = load_model_from_string(kBounces);
  else if (name == "trees66")
    m = load_model_from_string(trees(3, 16));
  else if (name == "trees96")
    m = load_model_from_string(trees(4, 18));
  else if (name == "trees130")
    m = load_model_from_string(trees(5, 20));
  else if (name.ends_with(kSliding))
    m = load_model_from_string(sliding(robot_mjcf(name.substr(0, name.size() - kSliding.size()))));
  else
    m = robot(name);
  loaded.emplace_back(name, m);
  return m;
}

// Environment i gets a state and controls that depend on keys[i] alone, not on where it is: near the
// ground, pushed in some direction.
inline void scatter(Batch& b, const std::vector<int>& keys) {
  const Model& m = b.model();
  BatchState s;
  std::vector<double> ctrl, mocap = reals(b.field("mocap_pos"));
  for (std::size_t env = 0; env < keys.size(); ++env) {
    std::mt19937 rng(static_cast<unsigned>(keys[env]) * 7919u + 1u);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> qpos =
        m.nkey > 0 ? std::vector<double>(m.key_qpos.begin(), m.key_qpos.begin() + m.nq) : m.qpos0;
    for (int j = 0; j < m.njnt; ++j) {
      double* q = &qpos[at(m.jnt_qposadr[at(j)])];
      if (m.jnt_type[at(j)] == JointType::free) {
        for (int k = 0; k < 2; ++k) q[k] += 0.01 * uniform(rng);
        q[2] += 0.005 * uniform(rng);
      } else if (m.jnt_type[at(j)] == JointType::slide && m.jnt_limited[at(j)] != 0) {
        q[0] = m.jnt_range[at(2 * j)] + 0.001 * uniform(rng);  // fingers all but closed
      } else if (m.jnt_type[at(j)] != JointType::ball) {
        q[0] += 0.02 * uniform(rng);
      }
    }
    s.qpos.insert(s.qpos.end(), qpos.begin(), qpos.end());
    for (int i = 0; i < m.nv; ++i) s.qvel.push_back(0.4 * uniform(rng));
    for (int i = 0; i < m.na; ++i) s.act.push_back(0.5 + 0.5 * uniform(rng));
    s.time.push_back(0);
    for (int a = 0; a < m.nu; ++a) ctrl.push_back(0.5 * uniform(rng));
    for (int k = 0; k < m.nmocap; ++k)
      mocap[at(m.nmocap) * 3 * env + at(3 * k)] += 0.1 * uniform(rng);
  }
  b.set_state(all_ids(b), s);
  put_reals(b.field("ctrl"), ctrl), put_reals(b.field("mocap_pos"), mocap);
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
inline std::vector<std::pair<std::string, std::string>> scenes_on_devices(bool with_cpu = true,
                                                                          bool large = false) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& where : device_names(with_cpu))
    for (const std::string& name : large ? large_scenes() : scene_names())
      all.emplace_back(name, where);
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

// The scene, with sliding friction alone where the law has no other.
inline std::string for_law(const std::string& name, ContactModel law) {
  const ModelPtr m = scene(name);
  return law == ContactModel::lagged || m->nanchor == m->nslot ? name : name + kSliding;
}

// Environment i starts from keys[i].
inline Batch scattered(const std::string& name, const std::vector<int>& keys,
                       std::optional<int> threads = {}, const Options& options = {}) {
  BatchOptions o = batch_options(static_cast<int>(keys.size()));
  o.threads = threads;
  o.options = options;
  Batch b(scene(for_law(name, options.contact_model)), o);
  scatter(b, keys);
  b.clear_counts();
  return b;
}

// Calls of several steps; mocap bodies travel, controls change with the call.
inline void advance(Batch& b, int calls, int steps = 4) {
  const Model& m = b.model();
  for (int k = 0; k < calls; ++k) {
    std::vector<double> mocap = reals(b.field("mocap_pos")), ctrl = reals(b.field("ctrl"));
    for (int env = 0; env < b.num_envs(); ++env)
      for (int i = 0; i < m.nmocap; ++i) mocap[at(3 * (env * m.nmocap + i))] += 0.005;
    for (double& x : ctrl) x = 0.9 * x + 0.02;
    put_reals(b.field("mocap_pos"), mocap), put_reals(b.field("ctrl"), ctrl);
    b.step(steps);
  }
}

// Environment places[i] of a and i of b.
inline void expect_same(Batch& a, const std::vector<int>& places, Batch& b,
                        const std::string& what) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_EQ(bytes(a, places[i]), bytes(b, static_cast<int>(i))) << what << " " << i;
    ASSERT_EQ(status(a, places[i]), status(b, static_cast<int>(i))) << what << " " << i;
  }
}

// Guards against bits that agree because nothing happens: contacts in every eighth environment and
// step, nobody frozen.
inline void expect_contacts(Batch& b) {
  // in the few steps under a sanitizer the arm reaches nothing
  if (!kSanitized && b.model().npair > 0) {
    EXPECT_GT(8 * b.counts().contacts, b.counts().env_steps);
  }
  EXPECT_EQ(b.counts().frozen, 0u);
  EXPECT_EQ(b.status_count(), 0u);
}

}  // namespace stiction::test

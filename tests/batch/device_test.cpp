// A batch on a device beside the same batch on the CPU, and what only a device has.
#include "batch/device.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "batch/emulated_device.h"
#include "batch/scenes.h"
#include "one_solve.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

Batch on(const std::string& where, const std::string& name, const std::vector<int>& keys,
         const Options& options = {}) {
  const std::string before = device();
  use_device(where);
  Batch b = scattered(name, keys, {}, options);
  use_device(before);
  return b;
}

// sqrt(xᵀ A x) with A = M of the configuration.
double norm(const ForwardResult& f, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[i] * f.M[i * x.size() + j] * x[j];
  return std::sqrt(sum);
}

// What works on an environment of the batches that are made meanwhile; "": what the model is given.
class Group {
 public:
  explicit Group(const std::string& name) {
    if (!name.empty()) setenv("STICTION_CUDA_GROUP", name.c_str(), 1);
  }
  ~Group() { unsetenv("STICTION_CUDA_GROUP"); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
};

class DeviceScenes : public EveryScene {
 protected:
  // On a card, of each group of lanes: what the model is given, and the others.
  static std::vector<std::string> groups() {
    return device() == "cuda" ? std::vector<std::string>{"", "warp", "block"}
                              : std::vector<std::string>{""};
  }
  void expect_steps_of_the_cpu(int n, Options o = one_solve(), const std::string& where = device());

 public:
  static std::vector<std::pair<std::string, std::string>> scenes() {
    std::vector<std::pair<std::string, std::string>> all = scenes_on_devices(false);
    for (const std::string& where : device_names(false)) all.emplace_back("bounces", where);
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, DeviceScenes, testing::ValuesIn(DeviceScenes::scenes()),
                         [](const auto& named) {
                           return named.param.first + "_" + named.param.second;
                         });
class DeviceLaws : public DeviceScenes {
 public:
  // Feet, boxes on each other, a mocap body, a gripper.
  static std::vector<std::pair<std::string, std::string>> scenes() {
    std::vector<std::pair<std::string, std::string>> some = scenes_on_devices(false);
    std::erase_if(some, [](const auto& s) {
      return s.first != "go2" && s.first != "stack" && s.first != "pushed" && s.first != "panda";
    });
    return some;
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, DeviceLaws, testing::ValuesIn(DeviceLaws::scenes()),
                         [](const auto& named) {
                           return named.param.first + "_" + named.param.second;
                         });
// Beyond nv = 64, where a card solves by a block.
class LargeScenes : public DeviceScenes {};
INSTANTIATE_TEST_SUITE_P(Large, LargeScenes, testing::ValuesIn(scenes_on_devices(false, true)),
                         [](const auto& named) {
                           return named.param.first + "_" + named.param.second;
                         });

// Solved on to 1e-6 each is well within 1e-4 of the exact step (docs/performance.md, "Accuracy"),
// but for steps that stall before: one in a thousand.
void DeviceScenes::expect_steps_of_the_cpu(int n, Options o, const std::string& where) {
  o.solver_tolerance = 1e-6;
  Batch here = on("cpu", name(), up_to(n), o), there = on(where, name(), up_to(n), o);
  const Model& m = here.model();
  const Reference reference(scene(for_law(name(), o.contact_model)), o);
  double mass = 0;
  for (const double x : m.body_mass) mass += x;
  int far = 0;
  double worst = 0;
  std::string farthest;
  constexpr int kRounds = 5;
  const std::vector<int> all = up_to(n);
  for (int round = 0; round < kRounds; ++round) {
    advance(here, 2);
    const BatchState s = here.get_state(all);
    there.set_state(all, s);
    for (const char* input : {"ctrl", "mocap_pos"})
      put_reals(there.field(input), reals(here.field(input)));
    here.step(), there.step();
    const std::vector<double> v_here = reals(here.field("qvel")),
                              v_there = reals(there.field("qvel"));
    for (int env = 0; env < n; ++env) {
      const double* qpos = &s.qpos[static_cast<std::size_t>(env * m.nq)];
      const double* qvel = &s.qvel[static_cast<std::size_t>(env * m.nv)];
      const std::vector<double> q(qpos, qpos + m.nq), v(qvel, qvel + m.nv);
      const ForwardResult f = reference.forward(q, v, {});
      std::vector<double> difference;
      for (std::size_t i = static_cast<std::size_t>(env * m.nv), k = 0; k < v.size(); ++i, ++k)
        difference.push_back(v_there[i] - v_here[i]);
      const double scale = norm(f, v) + std::sqrt(mass) * 9.81 * *here.options().timestep;
      const double error = norm(f, difference) / scale;
      if (!(error <= 1e-4)) ++far;  // or no number
      if (!std::isnan(worst) && !(error <= worst)) {
        worst = error;
        const auto dof =
            std::max_element(difference.begin(), difference.end(),
                             [](double a, double b) { return std::abs(a) < std::abs(b); });
        const auto k = static_cast<std::size_t>(dof - difference.begin());
        std::ostringstream text;
        text << "round " << round << ", environment " << env << ", dof " << k << " of body "
             << m.dof_bodyid[k] << ": " << *dof << " of "
             << v_here[static_cast<std::size_t>(env * m.nv) + k];
        farthest = text.str();
      }
    }
  }
  EXPECT_LE(far, kRounds * n / 1000 + 1) << worst;
  EXPECT_LT(worst, 3e-3) << farthest;
  if (o.friction_iterations > 1) {
    EXPECT_GT(there.counts().solved_again, 0u);
  }
  expect_contacts(there);
}

// D4.
TEST_P(DeviceScenes, AStepIsThatOfTheCpu) {
  for (const std::string& group : groups()) {
    SCOPED_TRACE(group);
    const Group given(group);
    expect_steps_of_the_cpu(kSanitized || interpreted() ? 8 : group.empty() ? 100 : 40);
  }
}
// The other laws, of each some groups of lanes.
TEST_P(DeviceLaws, AStepIsThatOfTheCpu) {
  Options similar, sap, anchored;
  similar.contact_model = ContactModel::similar;
  sap.contact_model = ContactModel::sap;
  anchored.stiction = Stiction::anchored, anchored.friction_iterations = 3;
  const bool card = device() == "cuda";
  using Groups = std::vector<std::string>;
  for (const auto& [law, on_card, emulated] :
       {std::tuple(similar, Groups{"", "16"}, Groups{"emulated"}),
        std::tuple(sap, Groups{"4", "warp"}, Groups{"emulated"}),
        std::tuple(anchored, Groups{"", "4", "block"}, Groups{"emulated_8"})}) {
    for (const std::string& group : card ? on_card : emulated) {
      SCOPED_TRACE(group);
      const Group given(card ? group : "");
      expect_steps_of_the_cpu(8, law, card ? device() : group);
    }
  }
}
TEST_P(LargeScenes, AStepIsThatOfTheCpu) {
  for (const std::string& group : groups()) {
    SCOPED_TRACE(group);
    const Group given(group);
    expect_steps_of_the_cpu(kSanitized ? 2 : slow() ? 5 : 20);
  }
}

// D6, across devices: the state is the same bits, and the motion goes on.
TEST_P(DeviceScenes, SavedHereRestoredThere) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("stiction_device_" + std::to_string(::getpid()) + GetParam().first))
                               .string();
  Batch here = on("cpu", name(), up_to(5)), there = on(device(), name(), up_to(5));
  const int last = here.model().nbody - 1;
  put(there.param("body_mass"), 2, last, 2.5);
  advance(there, 3);
  there.save(path);
  here.load(path);
  EXPECT_EQ(here.state_hash(), there.state_hash());
  EXPECT_TRUE(here.param_is_own("body_mass"));
  EXPECT_EQ(number(here, "body_mass", 2, last), 2.5);
  for (int env = 0; env < 5; ++env) {
    for (const char* name : {"qpos", "ctrl", "time"})
      for (int i = 0; i < there.field(name).size() / 5; ++i)
        EXPECT_EQ(number(here, name, env, i), number(there, name, env, i)) << name;
    EXPECT_EQ(status(here, env), status(there, env));
  }
  const auto before = here.state_hash();
  here.step(3);
  EXPECT_NE(here.state_hash(), before);
  here.save(path);
  there.load(path);
  EXPECT_EQ(here.state_hash(), there.state_hash());
  // the same bits as from a state that never left the device
  Batch again = on(device(), name(), up_to(5));
  again.load(path);
  there.step(3), again.step(3);
  EXPECT_EQ(there.state_hash(), again.state_hash());
  std::remove(path.c_str());
}

class OnDevice : public EveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, testing::ValuesIn(device_names(false)),
                         [](const auto& named) { return named.param; });

TEST_P(OnDevice, SaysWhereItIs) {
  Batch b(crawler(), batch_options(3));
  EXPECT_EQ(b.device().rfind(device(), 0), 0u);
  EXPECT_EQ(b.isa(), device());
  EXPECT_EQ(b.threads(), 1);
  EXPECT_EQ(b.lanes(), 1);
  EXPECT_NE(b.device_description(), "");
  EXPECT_EQ(b.field("qpos").device, b.device());
  EXPECT_EQ(b.status().device, b.device());
  EXPECT_EQ(b.param("gravity").device, b.device());
  EXPECT_NO_THROW(b.synchronize());
}

TEST_P(OnDevice, RefusesWhatItHasNot) {
  BatchOptions o = batch_options(3);
  o.precision = Precision::float64;
  EXPECT_THAT(error_message([&] { Batch(crawler(), o); }), HasSubstr("float64 runs on"));
  o = batch_options(3);
  o.threads = 2;
  EXPECT_THAT(error_message([&] { Batch(crawler(), o); }), HasSubstr("leave `threads` out"));
}

TEST_P(OnDevice, WhatAStateLeavesOutStays) {
  Batch b(crawler(), batch_options(3));
  b.step(3);
  const double z = number(b, "qpos", 1, 2), time = number(b, "time", 1, 0);
  BatchState s;
  s.qvel.assign(static_cast<std::size_t>(b.model().nv), 0.5);
  const int one = 1;
  b.set_state(std::span(&one, 1), s);
  EXPECT_EQ(number(b, "qpos", 1, 2), z);
  EXPECT_EQ(number(b, "time", 1, 0), time);
  EXPECT_EQ(number(b, "qvel", 1, 2), 0.5);
}

// What crosses between host and device is what the caller gave or asked for.
TEST(Device, ResetsAndCopiesStayOnTheDevice) {
  use_device("emulated");
  auto crossing = [before = emulated_crossings()]() mutable {
    const Crossings now = emulated_crossings(), last = std::exchange(before, now);
    return std::pair(now.fetched - last.fetched, now.sent - last.sent);
  };
  using Rows = std::pair<int, int>;
  Batch b(crawler(), batch_options(8));
  EXPECT_EQ(crossing(), Rows(0, 0));
  const std::vector<int> ids = {6, 2};
  b.step(2);
  b.reset(ids), b.reset();
  b.copy(ids, std::vector<int>{2, 3});
  EXPECT_EQ(crossing(), Rows(0, 0));
  BatchState given;
  given.qvel.assign(static_cast<std::size_t>(2 * b.model().nv), 0.25);
  b.reset(ids, &given);
  EXPECT_EQ(crossing(), Rows(0, 1));
  EXPECT_EQ(number(b, "qvel", 6, 3), 0.25);
  // what a state leaves out becomes zero, and the status is cleared
  b.set_state(ids, given);
  EXPECT_EQ(crossing().first, 0);
  b.param("body_mass"), b.param("gravity");
  EXPECT_EQ(crossing(), Rows(0, 0));
  b.reset(ids);
  EXPECT_EQ(crossing(), Rows(2, 0));
  use_device("cpu");
}

// The host's copies of rows take no memory before something is fetched.
TEST(Device, TheHostHoldsNoRows) {
  if (kSanitized) GTEST_SKIP() << "sanitizers hold memory of their own";
  use_device("emulated");
  const auto resident = [] {
    long pages = 0, unused = 0;
    std::ifstream("/proc/self/statm") >> unused >> pages;
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  };
  BatchOptions o = batch_options(4096);
  const BatchMemory m = batch_memory(*scene("stack"), o);
  EXPECT_GE(m.mirror, 4096 * (m.per_env - 13));
  {  // what a process needs once
    Batch one(scene("stack"), batch_options(1));
    one.step();
  }
  const std::size_t before = resident();
  Batch b(scene("stack"), o);
  b.step();
  b.reset(up_to(4096));
  EXPECT_LT(resident() - before, m.device + m.total + m.mirror / 4);
  use_device("cpu");
}

TEST_P(OnDevice, CopiesFromAndToTheHost) {
  Batch b(crawler(), batch_options(3));
  const ArrayView v = b.field("ctrl");
  const std::vector<float> given = {1, 2, 3, 4, 5, 6};
  b.copy_memory(v.data, given.data(), given.size() * sizeof(float));
  for (int env = 0; env < 3; ++env)
    for (int i = 0; i < 2; ++i) EXPECT_EQ(number(b, "ctrl", env, i), 2 * env + i + 1);
  std::vector<float> back(6);
  b.copy_memory(back.data(), v.data, back.size() * sizeof(float));
  EXPECT_EQ(back, given);
}

TEST_P(OnDevice, ContactsAreThoseOfTheDevicesState) {
  Batch there(crawler(), batch_options(20));
  for (int env = 0; env < 20; ++env) start(there, env, env);
  there.step(60);
  use_device("cpu");
  Batch here(crawler(), batch_options(20));
  use_device(GetParam());
  here.set_state(all_ids(here), there.get_state(all_ids(there)));
  int compared = 0;
  for (int env = 0; env < 20; ++env) {
    for (int a = 0; a < 2; ++a) put(here.field("ctrl"), env, a, number(there, "ctrl", env, a));
    const std::vector<Contact> a = here.contacts(env), b = there.contacts(env);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i, ++compared) {
      EXPECT_EQ(a[i].slot, b[i].slot);
      EXPECT_EQ(a[i].gap, b[i].gap);
      // the order of elimination differs: a dense factor, and a step is solved to 1e-4
      EXPECT_NEAR(a[i].impulse[2], b[i].impulse[2], 1e-3 * (1 + std::fabs(a[i].impulse[2])));
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(Device, NamesThatAreNoneAreRefused) {
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda0", "cuda:-1", "CPU", ""}) {
    BatchOptions o;
    o.device = name;
    EXPECT_THAT(error_message([&] { Batch(crawler(), o); }), HasSubstr("must be 'cpu', 'cuda' or"))
        << name;
  }
  BatchOptions o;
  o.stream = 1;
  EXPECT_THAT(error_message([&] { Batch(crawler(), o); }), HasSubstr("has no streams"));
}

// Where there is no card the message says what to do.
TEST(Device, CudaWorksOrSaysWhatIsMissing) {
  const CudaReport r = cuda_devices();
  EXPECT_EQ(r.problem.empty(), !r.devices.empty());
  BatchOptions o;
  o.device = "cuda:999";
  EXPECT_THAT(error_message([&] { Batch(crawler(), o); }),
              HasSubstr(r.problem.empty() ? "there " : r.problem));
}

// No address of the host is left in a view that was moved.
TEST(Device, AllArraysOfTheModelMove) {
  for (const std::string& name : scene_names()) {
    Options o;
    o.timestep = 0.004, o.solver_tolerance = 1e-4;
    // two of the same: words of their views that differ are addresses
    cpu::HostModel host(*scene(name), o, true), other(*scene(name), o, true);
    for (const bool own : {false, true}) {
      if (own) host.make_own(cpu::Field::actuator_gain), other.make_own(cpu::Field::actuator_gain);
      const physics::ModelView& from = host.view();
      std::vector<std::byte> memory(host.array_bytes());
      const physics::ModelView to = host.copy_arrays(memory.data(), memory.data());
      std::uintptr_t a[sizeof from / sizeof(void*)], b[std::size(a)], c[std::size(a)];
      std::memcpy(a, &from, sizeof a), std::memcpy(b, &other.view(), sizeof b);
      std::memcpy(c, &to, sizeof c);
      const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
      int moved = 0;
      for (std::size_t i = 0; i < std::size(a); ++i) {
        if (a[i] == b[i]) {
          EXPECT_EQ(c[i], a[i]) << name << " word " << i;
          continue;
        }
        ++moved;
        EXPECT_TRUE(c[i] >= begin && c[i] < begin + memory.size()) << name << " word " << i;
      }
      EXPECT_GT(moved, 40) << name;
      EXPECT_EQ(0, std::memcmp(to.dof_bodyid, from.dof_bodyid, sizeof(int) * std::size_t(to.nv)));
      EXPECT_EQ(to.row_num[to.nv - 1], to.nv - 1);
    }
  }
}

// The sums along a tree run from its last body to its first.
TEST(Device, BodiesOfATreeFollowEachOther) {
  for (const std::string& name : scene_names()) {
    Options o;
    o.timestep = 0.004, o.solver_tolerance = 1e-4;
    const cpu::HostModel host(*scene(name), o, true);
    const physics::ModelView& m = host.view();
    int moving = 0, listed = 0;
    for (int b = 0; b < m.nbody; ++b) moving += m.body_treeid[b] >= 0 ? 1 : 0;
    for (int t = 0; t < m.ntree; ++t)
      for (int b = m.tree_body[t]; b < m.tree_end[t]; ++b, ++listed)
        EXPECT_EQ(m.body_treeid[b], t) << name << " body " << b;
    EXPECT_EQ(listed, moving) << name;
  }
}

}  // namespace
}  // namespace stiction::test

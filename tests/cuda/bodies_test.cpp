// Whole steps of the kernels on the lanes of tiles and of a block, and in the arena.
#include <cmath>

#include "batch/emulated_device.h"
#include "batch/scenes.h"
#include "stiction/reference.h"

namespace stiction::test {
namespace {

// Makes a device, and the bytes of its fast memory, those of this test.
class Bodies : public testing::TestWithParam<std::string> {
 protected:
  Bodies() { register_emulated_device(); }
  ~Bodies() override {
    emulated_share() = before_;
    use_device("cpu");
  }
  // Under a sanitizer a lane is a thread.
  static bool too_slow() { return kSanitized && GetParam() != "pushed"; }
  ModelPtr scene_of(const Batch&) const { return scene(GetParam()); }
  double error_of_a_step(Batch& b) const;
  Batch batch(const std::string& where, const std::vector<int>& keys, int share = kAll,
              const Options& options = {}) {
    use_device(where);
    emulated_share() = share;
    return scattered(GetParam(), keys, {}, options);
  }
  static constexpr int kAll = 1 << 16;

 private:
  int before_ = emulated_share();
};
INSTANTIATE_TEST_SUITE_P(Scenes, Bodies, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param; });

// Beyond nv = 64, where a card solves by a block.
INSTANTIATE_TEST_SUITE_P(Large, Bodies, testing::Values("trees66", "trees96", "trees130"),
                         [](const auto& named) { return named.param; });

// What lies in fast memory is lost after each kernel and nothing else is, and what does not fit
// stays in the rows: the same bits with any share.
TEST_P(Bodies, TheArenaChangesNoBit) {
  std::vector<Options> laws(4);
  laws[0].friction_iterations = 1;
  laws[1].friction_iterations = 1, laws[1].stiction = Stiction::anchored;
  // anchors follow the bounds of friction that the last solve left
  laws[2].friction_iterations = 3, laws[2].stiction = Stiction::anchored;
  laws[3].friction_iterations = 1, laws[3].contact_model = ContactModel::sap;
  for (const Options& o : laws) {
    Batch rows = batch("emulated", {0, 1}, 0, o);
    advance(rows, 4);
    for (const int share : {1600, 5000, kAll}) {
      Batch fast = batch("emulated", {0, 1}, share, o);
      advance(fast, 4);
      for (const int env : {0, 1}) ASSERT_EQ(bytes(rows, env), bytes(fast, env)) << share;
    }
  }
}

double norm(const std::vector<double>& M, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[i] * M[i * x.size() + j] * x[j];
  return std::sqrt(sum);
}

// Largest error of one step of any environment against the converged step in double, in the norm of
// A relative to |v| + g dt of all masses together.
double Bodies::error_of_a_step(Batch& b) const {
  use_device("cpu");
  BatchOptions o;
  o.num_envs = b.num_envs(), o.precision = Precision::float64, o.options = b.options();
  o.options.solver_tolerance = 1e-10;
  Batch exact(scene_of(b), o);
  const Reference reference(scene_of(b), o.options);
  exact.set_state(all_ids(b), b.get_state(all_ids(b)));
  for (const char* input : {"ctrl", "mocap_pos", "mocap_quat"}) {
    const std::int64_t n = exact.field(input).size() / b.num_envs();
    for (int env = 0; env < b.num_envs(); ++env)
      for (int i = 0; i < n; ++i) put(exact.field(input), env, i, number(b, input, env, i));
  }
  std::vector<std::vector<double>> A;
  for (int env = 0; env < b.num_envs(); ++env) {
    const BatchState s = b.get_state(std::span(&env, 1));
    A.push_back(reference.step(s.qpos, s.qvel).A);
  }
  exact.step(), b.step();
  double mass = 0, worst = 0;
  for (const double m : b.model().body_mass) mass += m;
  for (int env = 0; env < b.num_envs(); ++env) {
    std::vector<double> v, difference;
    for (int i = 0; i < b.model().nv; ++i) {
      v.push_back(number(exact, "qvel", env, i));
      difference.push_back(number(b, "qvel", env, i) - v.back());
    }
    const double scale = norm(A[at(env)], v) + 9.81 * *b.options().timestep * std::sqrt(mass);
    worst = std::max(worst, norm(A[at(env)], difference) / scale);
  }
  return worst;
}

// D4: float solves to a residual of 1e-4.
TEST_P(Bodies, AStepOnLanesIsTheConvergedStep) {
  if (too_slow()) GTEST_SKIP();
  for (const char* where : {"cpu", "emulated", "emulated_8", "emulated_block"}) {
    Batch b = batch(where, {1});
    EXPECT_LT(error_of_a_step(b), 1e-4) << where;
    b.step();
    EXPECT_LT(error_of_a_step(b), 1e-4) << where;
    EXPECT_EQ(b.counts().frozen, 0u) << where;
    // it begins in the air
    const bool falls = GetParam() == "h1" || b.model().npair == 0;
    EXPECT_EQ(b.counts().contacts > 0, !falls) << where;
  }
}

// Lanes are resumed in another order each time.
TEST_P(Bodies, TheOrderOfTheLanesChangesNoBit) {
  if (too_slow()) GTEST_SKIP();
  for (const char* where : {"emulated_4", "emulated_warp", "emulated_block"}) {
    Batch b = batch(where, {3, 3});
    b.step();
    EXPECT_EQ(bytes(b, 0), bytes(b, 1)) << where;
  }
}

// So that their number may follow the model and the number of environments; with laws that solve
// more than once, too.
TEST_P(Bodies, TheLanesOfATileChangeNoBit) {
  if (too_slow()) GTEST_SKIP();
  Options twice;
  twice.friction_iterations = 2, twice.stiction = Stiction::anchored;
  for (const Options& o : {Options(), twice}) {
    Batch warp = batch("emulated_warp", {1, 2}, kAll, o);
    advance(warp, 2);
    for (const char* where : {"emulated_4", "emulated_8", "emulated_16"}) {
      Batch tile = batch(where, {1, 2}, 5000, o);
      advance(tile, 2);
      for (const int env : {0, 1}) EXPECT_EQ(bytes(tile, env), bytes(warp, env)) << where;
    }
  }
}

struct Records {
  std::vector<std::uint32_t> status;
  std::vector<int> status_step;
  SolverCounts counts;
  std::vector<double> speed;
};
// A run with everything that can happen to an environment, and a second one.
Records records(const std::string& where) {
  register_emulated_device();
  use_device(where);
  Batch b = scattered("pushed", up_to(6));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ArrayView force = b.field("qfrc_applied");
  put(b.field("qpos"), 0, 2, nan);
  put(b.field("mocap_pos"), 1, 1, nan);
  put(b.field("ctrl"), 2, 0, nan);
  // 1 kg: too fast after the second step
  put(force, 3, 0, 0.6 * kVelocityLimit / *b.options().timestep);
  for (int k = 0; k < 4; ++k) put(b.field("mocap_quat"), 4, k, 0);
  b.step(3), b.step(2);
  Records r;
  for (int env = 0; env < b.num_envs(); ++env) {
    r.status.push_back(status(b, env)), r.status_step.push_back(status_step(b, env));
    r.speed.push_back(number(b, "qvel", env, 0));
  }
  r.counts = b.counts();
  use_device("cpu");
  return r;
}

TEST(Records, ByGpuThreadsAreThoseOfTheCpu) {
  const Records cpu = records("cpu");
  EXPECT_EQ(cpu.status[0] & bit(kFrozen), bit(Status::bad_state));
  EXPECT_EQ(cpu.status[1] & bit(Status::bad_control), bit(Status::bad_control));
  EXPECT_EQ(cpu.status[2] & bit(Status::bad_control), bit(Status::bad_control));
  EXPECT_EQ(cpu.status[3] & bit(kFrozen), bit(Status::velocity_limit));
  EXPECT_EQ(cpu.status_step[3], 1);
  EXPECT_EQ(cpu.status[4] & bit(Status::bad_control), bit(Status::bad_control));
  EXPECT_EQ(cpu.status_step[4], 0);  // of the first run; the second one sets the bit again
  EXPECT_EQ(cpu.counts.frozen, 1u);
  for (const char* where : {"emulated_8", "emulated_warp", "emulated_block"}) {
    const Records lanes = records(where);
    EXPECT_EQ(lanes.status, cpu.status) << where;
    EXPECT_EQ(lanes.status_step, cpu.status_step) << where;
    EXPECT_EQ(lanes.counts.env_steps, cpu.counts.env_steps);
    EXPECT_EQ(lanes.counts.contacts, cpu.counts.contacts);
    EXPECT_EQ(lanes.counts.frozen, cpu.counts.frozen);
    EXPECT_EQ(lanes.counts.late_contact, cpu.counts.late_contact);
    std::uint64_t steps = 0;
    for (const std::uint64_t n : lanes.counts.iteration_histogram) steps += n;
    EXPECT_EQ(steps, lanes.counts.env_steps);
    EXPECT_GT(lanes.counts.iterations, 0u);
    for (std::size_t env = 0; env < cpu.speed.size(); ++env)
      EXPECT_NEAR(lanes.speed[env], cpu.speed[env], 1e-3 * (1 + std::abs(cpu.speed[env]))) << env;
  }
}

}  // namespace
}  // namespace stiction::test

// The solve in rounds beside the solve in one piece: the same text around another factorization.
#include <gmock/gmock.h>

#include "batch/device.h"
#include "batch/emulated_device.h"
#include "batch/scenes.h"

#ifdef STICTION_CUDA
#include <cstdlib>

#include "cuda/cusolver.h"
#endif

namespace stiction::test {
namespace {

using testing::HasSubstr;

Options options(LinearSolver solver, int friction_iterations = 1) {
  Options o;
  o.solver_tolerance = 1e-6, o.linear_solver = solver;
  o.friction_iterations = friction_iterations;
  return o;
}

// Largest difference of a velocity after steps from the same states, relative to the largest.
double difference(const std::string& name, const std::string& where, const std::vector<int>& keys,
                  int solves, int steps) {
  use_device(where);
  Batch whole = scattered(name, keys, {}, options(LinearSolver::cholesky, solves));
  Batch rounds = scattered(name, keys, {}, options(LinearSolver::cusolver, solves));
  double worst = 0;
  for (int k = 0; k < steps; ++k) {
    rounds.set_state(all_ids(rounds), whole.get_state(all_ids(whole)));
    whole.step(), rounds.step();
    for (int env = 0; env < whole.num_envs(); ++env) {
      double largest = 0, apart = 0;
      for (int i = 0; i < whole.model().nv; ++i) {
        const double v = number(whole, "qvel", env, i);
        largest = std::max(largest, std::abs(v));
        apart = std::max(apart, std::abs(number(rounds, "qvel", env, i) - v));
      }
      worst = std::max(worst, apart / (0.1 + largest));
    }
  }
  EXPECT_EQ(rounds.counts().env_steps, whole.counts().env_steps);
  EXPECT_EQ(rounds.counts().contacts, whole.counts().contacts);
  EXPECT_NEAR(static_cast<double>(rounds.counts().iterations),
              static_cast<double>(whole.counts().iterations),
              0.05 * static_cast<double>(whole.counts().iterations) + 3);
  EXPECT_EQ(rounds.status_count(), 0u);
  return worst;
}

class Rounds : public testing::TestWithParam<std::string> {
 protected:
  Rounds() { register_emulated_device(); }
  ~Rounds() override { use_device("cpu"); }
};
INSTANTIATE_TEST_SUITE_P(Scenes, Rounds, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param; });

TEST_P(Rounds, AStepIsThatOfOnePiece) {
  const std::vector<int> keys = up_to(kSanitized ? 2 : 12);
  EXPECT_LT(difference(GetParam(), "emulated", keys, 1, 10), 1e-3);
  EXPECT_LT(difference(GetParam(), "emulated", keys, 3, 5), 1e-3);
  EXPECT_LT(difference(GetParam(), "emulated", keys, kAutoFriction, 5), 1e-3);
}

TEST_P(Rounds, OnLanesToo) {
  if (kSanitized && GetParam() != "pushed") GTEST_SKIP();
  EXPECT_LT(difference(GetParam(), "emulated_8", {1}, 1, 2), 1e-3);
  EXPECT_LT(difference(GetParam(), "emulated_block", {1}, 2, 1), 1e-3);
}

// Each environment has its own number of rounds, and those beside it don't matter.
TEST_P(Rounds, EnvironmentsDoNotMeet) {
  use_device("emulated");
  Batch all = scattered(GetParam(), up_to(6), {}, options(LinearSolver::cusolver));
  Batch one = scattered(GetParam(), {4}, {}, options(LinearSolver::cusolver));
  advance(all, 3), advance(one, 3);
  EXPECT_EQ(bytes(all, 4), bytes(one, 0));
  // runs of some environments
  all.reset(std::vector<int>{4, 1}), one.reset();
  EXPECT_EQ(bytes(all, 4), bytes(one, 0));
}

// The library's verdict is the environment's status.
TEST(RoundsOfOne, AMatrixWithoutFactorFreezesItsEnvironment) {
  register_emulated_device();
  use_device("emulated");
  Options o;
  o.linear_solver = LinearSolver::cusolver;
  Batch b = scattered("go1", up_to(4), {}, o), good = scattered("go1", up_to(4), {}, o);
  b.step(2), good.step(2);
  emulated_unfactored() = 2;
  b.step();
  emulated_unfactored() = -1;
  good.step();
  EXPECT_EQ(status(b, 2) & bit(kFrozen), bit(Status::cholesky_failed));
  EXPECT_EQ(b.status_count(), 1u);
  for (const int env : {0, 1, 3}) EXPECT_EQ(bytes(b, env), bytes(good, env)) << env;
  use_device("cpu");
}

TEST(RoundsOfOne, AreRefusedOnTheCpu) {
  BatchOptions o;
  o.options.linear_solver = LinearSolver::cusolver;
  EXPECT_THAT(error_message([&] { Batch(crawler(), o); }),
              HasSubstr("linear_solver = 'cusolver' runs on device = 'cuda' only"));
}

// What is kept between the kernels is counted.
TEST(RoundsOfOne, MemoryIsKnownBeforehand) {
  register_emulated_device();
  BatchOptions o = batch_options(10);
  o.device = "emulated";
  const ModelPtr m = crawler();
  const std::size_t before = batch_memory(*m, o).device;
  o.options.linear_solver = LinearSolver::cusolver;
  const std::size_t nv = static_cast<std::size_t>(m->nv);
  EXPECT_GE(batch_memory(*m, o).device, before + 10 * (nv * nv + nv) * sizeof(float));
}

// They are written once, and copies of environments write from the staging memory to the end.
TEST(RoundsOfOne, CopiesKeepAwayFromTheAddresses) {
  BatchOptions o = batch_options(4096);
  o.device = "cuda", o.options.linear_solver = LinearSolver::cusolver;
  const ModelPtr m = crawler();
  o.options.timestep = m->timestep, o.options.solver_tolerance = 1e-4;
  const cpu::HostModel host(*m, o.options, true);
  const DeviceLayout layout({host, o.options, o});
  EXPECT_LE(layout.addresses + 2 * sizeof(void*) * 4096, layout.staging);
}

#ifdef STICTION_CUDA
// Without a card, too: where the library is looked for, and what is said where it is not.
TEST(Cusolver, IsOpenedAtRunTimeOrTheMessageSaysHow) {
  ASSERT_EQ(setenv("STICTION_CUSOLVER", "/nowhere/libcusolver.so.12", 1), 0);
  EXPECT_THAT(error_message([] { cuda::Cusolver(); }),
              testing::AllOf(HasSubstr("/nowhere/libcusolver.so.12"), HasSubstr("nvidia-cusolver"),
                             HasSubstr("STICTION_CUSOLVER")));
  // a library, but not this one
  ASSERT_EQ(setenv("STICTION_CUSOLVER", "libm.so.6", 1), 0);
  EXPECT_THAT(error_message([] { cuda::Cusolver(); }),
              HasSubstr("libm.so.6 has no cusolverDnCreate"));
  ASSERT_EQ(unsetenv("STICTION_CUSOLVER"), 0);
  EXPECT_THAT(cuda::cusolver_paths(), testing::Contains("libcusolver.so.12"));
}

// On a card that has the library.
class CudaCusolver : public testing::TestWithParam<std::string> {
 protected:
  CudaCusolver() { use_device("cuda"); }
  ~CudaCusolver() override { use_device("cpu"); }
  void SetUp() override {
    const std::string why = missing_device();
    if (!why.empty()) GTEST_SKIP() << why;
    if (const std::string absent = error_message([] { cuda::Cusolver(); }); !absent.empty())
      GTEST_SKIP() << absent;
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, CudaCusolver, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param + "_cuda"; });

TEST_P(CudaCusolver, FindsTheStepOfOurFactorization) {
  EXPECT_LT(difference(GetParam(), "cuda", up_to(200), 1, 10), 1e-3);
  EXPECT_LT(difference(GetParam(), "cuda", up_to(20), 3, 5), 1e-3);
}
#endif

}  // namespace
}  // namespace stiction::test

// Whole steps of the kernels on the lanes of a warp and of a block, and in the arena.
#include <cmath>

#include "batch/emulated_device.h"
#include "batch/scenes.h"
#include "stiction/reference.h"

namespace stiction::test {
namespace {

// Makes a device, and the bytes of its fast memory, those of this test.
class Bodies : public testing::TestWithParam<std::string> {
 protected:
  Bodies() { use_device("emulated"); }
  ~Bodies() override {
    emulated_share() = kAll;
    use_device("cpu");
  }
  ModelPtr scene_of(const Batch&) const { return scene(GetParam()); }
  double error_of_a_step(Batch& b) const;
  Batch batch(const std::string& where, const std::vector<int>& keys, int share = kAll,
              const Options& options = {}) {
    use_device(where);
    emulated_share() = share;
    return scattered(GetParam(), keys, {}, options);
  }
  static constexpr int kAll = 1 << 16;
};
INSTANTIATE_TEST_SUITE_P(Scenes, Bodies, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param; });

// What lies in fast memory is lost after each kernel and nothing else is, and what does not fit
// stays in the rows: the same bits with any share.
TEST_P(Bodies, TheArenaChangesNoBit) {
  for (const Stiction stiction : {Stiction::regularized, Stiction::anchored}) {
    Options o;
    o.stiction = stiction;
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

// Float solves to a residual of 1e-4, to which the packs of the CPU come as close as the lanes.
TEST_P(Bodies, AStepOnLanesIsTheConvergedStep) {
  for (const char* where : {"cpu", "emulated", "emulated_warp", "emulated_block"}) {
    Batch b = batch(where, {0, 1});
    double worst = 0;
    for (int k = 0; k < 3; ++k) {
      worst = std::max(worst, error_of_a_step(b));
      b.step(2);
    }
    printf("%s %s %g contacts %d\n", GetParam().c_str(), where, worst, (int)b.counts().contacts);
    EXPECT_LT(worst, 1e-4) << where;
    EXPECT_EQ(b.counts().frozen, 0u) << where;
  }
}

}  // namespace
}  // namespace stiction::test

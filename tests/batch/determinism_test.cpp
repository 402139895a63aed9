// The bits of an environment depend on its state, inputs and parameters, and on nothing else.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "batch/scenes.h"

namespace stiction::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Determinism : public EveryScene {
 protected:
  Batch make(const std::vector<int>& keys, const Options& options = {}) const {
    return scattered(name(), keys, {}, options);
  }
  const int many_ = slow() ? 40 : 1000;
  const int calls_ = kSanitized ? 3 : 10;  // of four steps
};
STICTION_ON_EVERY_SCENE(Determinism);

TEST_P(Determinism, TwoRunsGiveTheSameBits) {
  Batch a = make(up_to(40)), b = make(up_to(40));
  const Bytes before = bytes(a, 0);
  for (int k = 0; k < calls_; ++k) {
    advance(a, 1), advance(b, 1);
    ASSERT_EQ(a.state_hash(), b.state_hash()) << k;
  }
  expect_same(a, up_to(40), b, "run");
  EXPECT_NE(bytes(a, 0), before);
  EXPECT_NE(bytes(a, 0), bytes(a, 1));
  expect_contacts(a);
}

TEST_P(Determinism, NumberOfEnvironmentsDoesNotMatter) {
  Batch all = make(up_to(many_));
  advance(all, calls_);
  expect_contacts(all);
  for (const int n : {1, 7, 31, 32, 33}) {
    // every 29th environment, in other lanes
    std::vector<int> keys;
    for (int i = 0; i < n; ++i) keys.push_back((29 * i + 5) % many_);
    Batch some = make(keys);
    advance(some, calls_);
    expect_same(all, keys, some, std::to_string(n));
  }
}

TEST_P(Determinism, FourThousandAndNinetySevenAreAsOne) {
  const int n = slow() ? 97 : 4097;
  Batch all = make(up_to(n));
  all.step(3);
  EXPECT_EQ(all.counts().env_steps, 3u * static_cast<unsigned>(n));
  for (const int key : {0, 15, 16, n / 2, n - 2, n - 1}) {
    Batch one = make({key});
    one.step(3);
    expect_same(all, {key}, one, std::to_string(key));
  }
}

TEST_P(Determinism, OrderOfEnvironmentsDoesNotMatter) {
  const int n = slow() ? 40 : 200;
  std::vector<int> shuffled = up_to(n);
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(3));
  Batch straight = make(up_to(n)), permuted = make(shuffled);
  advance(straight, calls_), advance(permuted, calls_);
  expect_same(straight, shuffled, permuted, "permuted");
  expect_contacts(straight);
}

class DeterminismOfThreads : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, DeterminismOfThreads, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param; });

TEST_P(DeterminismOfThreads, ThreadsDoNotMatter) {
  constexpr int kCalls = kSanitized ? 3 : 10;
  Batch one = scattered(GetParam(), up_to(150), 1);
  advance(one, kCalls);
  expect_contacts(one);
  for (const int threads : {2, 3, 8}) {
    Batch many = scattered(GetParam(), up_to(150), threads);
    EXPECT_EQ(many.threads(), threads);
    advance(many, kCalls);
    expect_same(one, up_to(150), many, std::to_string(threads) + " threads");
    EXPECT_EQ(many.counts().iterations, one.counts().iterations);
    EXPECT_EQ(many.counts().contacts, one.counts().contacts);
    // who shares a pack does not depend on who takes it
    EXPECT_EQ(many.counts().pack_steps, one.counts().pack_steps);
    EXPECT_EQ(many.counts().pack_max_iterations, one.counts().pack_max_iterations);
  }
}

// Friction that is solved again in some lanes and not in others, two packs that share a third one: each environment as if
// its pack stepped alone.
TEST_P(DeterminismOfThreads, PacksThatStepSideBySideAreAsOne) {
  Options o;
  o.stiction = Stiction::anchored;
  o.friction_iterations = kAutoFriction;
  const int n = kSanitized ? 20 : 70, calls = kSanitized ? 3 : 10;
  setenv("STICTION_POISON", "1", 1);
  Batch all = scattered(GetParam(), up_to(n), 1, o);
  unsetenv("STICTION_POISON");
  advance(all, calls);
  expect_contacts(all);
  const int lanes = all.lanes();
  for (int first = 0; first < n; first += 3 * lanes + 1) {
    std::vector<int> keys;
    for (int i = first; i < std::min(first + lanes, n); ++i) keys.push_back(i);
    Batch pack = scattered(GetParam(), keys, 1, o);
    EXPECT_LE(pack.memory().per_thread, all.memory().per_thread);
    advance(pack, calls);
    expect_same(all, keys, pack, "a pack from " + std::to_string(first));
  }
}

// Every other environment fares ill: NaN in its state, absurd forces, a blow that freezes it in the
// middle of a call, so many and so fast contacts that it iterates long.
TEST_P(Determinism, NeighboursDoNotMatter) {
  const int n = 64;
  Batch calm = make(up_to(n)), wild = make(up_to(n));
  advance(calm, 1), advance(wild, 1);
  const Model& m = calm.model();
  for (int env = 0; env < n; env += 2) switch (env / 2 % 4) {
      case 0: put(wild.field("qpos"), env, m.nq - 1, kNaN); break;
      case 1: put(wild.field("qfrc_applied"), env, 0, 1e38); break;
      case 2: put(wild.field("qvel"), env, m.nv - 1, 0.9e8); break;
      default:
        for (int i = 0; i < m.nv; ++i) put(wild.field("qvel"), env, i, i % 2 == 0 ? 30 : -30);
    }
  advance(calm, calls_), advance(wild, calls_);
  EXPECT_GE(wild.status_count(), 16u);
  EXPECT_LT(wild.status_count(), 32u);
  for (int env = 1; env < n; env += 2) ASSERT_EQ(bytes(calm, env), bytes(wild, env)) << env;
  expect_contacts(calm);
  EXPECT_GT(wild.counts().iterations, wild.counts().env_steps / 20);
}

TEST_P(Determinism, NothingIsReadThatIsNotDeclared) {
  for (const Stiction s : {Stiction::regularized, Stiction::anchored}) {
    Options o;
    o.stiction = s;
    Batch clean = make(up_to(20), o);
    setenv("STICTION_POISON", "1", 1);
    Batch poisoned = make(up_to(20), o);
    unsetenv("STICTION_POISON");
    advance(clean, calls_), advance(poisoned, calls_);
    expect_same(clean, up_to(20), poisoned, "poisoned");
    expect_contacts(poisoned);
  }
}

TEST_P(Determinism, StepsInOneCallOrInSeveralAreTheSame) {
  Batch a = make(up_to(20)), b = make(up_to(20));
  a.step(12);
  for (int k = 0; k < 12; ++k) b.step();
  expect_same(a, up_to(20), b, "calls");
}

// Restored in place, in another place of another batch, and from a file.
TEST_P(Determinism, RestoredTheMotionIsTheSame) {
  Options o;
  o.stiction = Stiction::anchored;
  Batch a = make(up_to(40), o), b = make(up_to(3), o), c = make({7, 8, 9, 10, 11}, o);
  advance(a, calls_);
  const int from = 37, to = 1;
  const BatchState saved = a.get_state(std::span(&from, 1));
  const auto restore = [&](Batch& batch, int env) {
    batch.set_state(std::span(&env, 1), saved);
    for (const char* input : {"ctrl", "mocap_pos", "mocap_quat"}) {
      const ArrayView v = a.field(input);
      for (int i = 0; i < v.size() / a.num_envs(); ++i)
        put(batch.field(input), env, i, number(a, input, from, i));
    }
  };
  restore(b, to), restore(c, 4);
  const int lockstep = kSanitized ? 12 : slow() ? 40 : 120;
  for (int k = 0; k < lockstep; ++k) {
    a.step(), b.step(), c.step();
    ASSERT_EQ(bytes(a, from), bytes(b, to)) << k;
    ASSERT_EQ(bytes(a, from), bytes(c, 4)) << k;
  }
  const Bytes later = bytes(a, from);
  a.set_state(std::span(&from, 1), saved);
  EXPECT_NE(bytes(a, from), later);
  a.step(lockstep);
  EXPECT_EQ(bytes(a, from), later);
  EXPECT_EQ(a.counts().contacts > 0, a.model().npair > 0);
}

// What falls comes to rest, and stays there to the same bits in all sizes of batches.
class DeterminismOfRest : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(DeterminismOfRest);

TEST_P(DeterminismOfRest, TheStackFallsRestsAndStays) {
  Batch stack = scattered("stack", up_to(20));
  for (int env = 0; env < 20; ++env)
    for (int body = 0; body < 3; ++body)
      put(stack.field("qpos"), env, 7 * body + 2, number(stack, "qpos", env, 7 * body + 2) + 0.05);
  Batch one = scattered("stack", {13});
  const int from = 13, to = 0;
  one.set_state(std::span(&to, 1), stack.get_state(std::span(&from, 1)));
  const double top = number(stack, "qpos", 13, 16);
  stack.step(slow() ? 200 : 500), one.step(slow() ? 200 : 500);
  EXPECT_EQ(bytes(stack, 13), bytes(one, 0));
  EXPECT_LT(number(stack, "qpos", 13, 16), top - 0.04);
  for (int i = 0; i < stack.model().nv; ++i)
    EXPECT_LT(std::fabs(number(stack, "qvel", 13, i)), 0.01);
  EXPECT_GE(number(stack, "ncon", 13, 0), 8);
}

}  // namespace
}  // namespace stiction::test

// The bits of an environment depend on its state, inputs and parameters, and on nothing else.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "batch/batches.h"

namespace stiction::test {
namespace {

constexpr int kSteps = 100;  // from the fall to rest on the floor

Batch make(const std::vector<int>& keys, std::optional<int> threads = {}, Options options = {}) {
  BatchOptions o;
  o.num_envs = static_cast<int>(keys.size());
  o.threads = threads;
  o.options = options;
  Batch b(crawler(), o);
  for (std::size_t i = 0; i < keys.size(); ++i) start(b, static_cast<int>(i), keys[i]);
  return b;
}
std::vector<int> up_to(int n) {
  std::vector<int> keys(static_cast<std::size_t>(n));
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}
void advance(Batch& b) {
  for (int k = 0; k < kSteps / 5; ++k) b.step(5);
}

// Guards against bits that agree because nothing happens.
void expect_motion(Batch& b, const std::string& start_bytes) {
  EXPECT_NE(bytes(b, 0), start_bytes);
  EXPECT_EQ(b.status_count(), 0u);
}

TEST(Determinism, TwoRunsGiveTheSameBits) {
  Batch a = make(up_to(50)), b = make(up_to(50));
  const std::string before = bytes(a, 0);
  advance(a), advance(b);
  expect_motion(a, before);
  for (int env = 0; env < 50; ++env) EXPECT_EQ(bytes(a, env), bytes(b, env));
}

TEST(Determinism, NeitherNumberNorPlaceOfEnvironmentsMatters) {
  Batch all = make(up_to(1000));
  advance(all);
  for (const int n : {1, 7, 31, 32, 33}) {
    // every 29th environment, in other lanes
    std::vector<int> keys;
    for (int i = 0; i < n; ++i) keys.push_back((29 * i + 5) % 1000);
    Batch some = make(keys);
    advance(some);
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(bytes(some, i), bytes(all, keys[static_cast<std::size_t>(i)])) << n << " " << i;
  }
  std::vector<int> shuffled = up_to(1000);
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(3));
  Batch permuted = make(shuffled);
  advance(permuted);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(bytes(permuted, i), bytes(all, shuffled[static_cast<std::size_t>(i)]));
}

TEST(Determinism, ThreadsDoNotMatter) {
  Batch one = make(up_to(100), 1);
  advance(one);
  for (const int threads : {2, 3, 8}) {
    Batch many = make(up_to(100), threads);
    advance(many);
    for (int env = 0; env < 100; ++env) EXPECT_EQ(bytes(one, env), bytes(many, env)) << threads;
    EXPECT_EQ(many.counts().iterations, one.counts().iterations);
    EXPECT_EQ(many.counts().pack_max_iterations, one.counts().pack_max_iterations);
  }
}

TEST(Determinism, NeighboursWithNaNDoNotMatter) {
  Batch calm = make(up_to(64)), poisoned = make(up_to(64));
  calm.step(5), poisoned.step(5);
  for (int env = 0; env < 64; env += 2) {
    put(poisoned.field("qpos"), env, 8, std::numeric_limits<double>::quiet_NaN());
    put(poisoned.field("qfrc_applied"), env, 0, 1e38);
  }
  advance(calm), advance(poisoned);
  EXPECT_EQ(poisoned.status_count(), 32u);
  for (int env = 1; env < 64; env += 2) EXPECT_EQ(bytes(calm, env), bytes(poisoned, env)) << env;
}

TEST(Determinism, NothingIsReadThatIsNotDeclared) {
  for (const Stiction s : {Stiction::regularized, Stiction::anchored}) {
    Options o;
    o.stiction = s;
    Batch clean = make(up_to(40), {}, o);
    setenv("STICTION_POISON", "1", 1);
    Batch poisoned = make(up_to(40), {}, o);
    unsetenv("STICTION_POISON");
    advance(clean), advance(poisoned);
    for (int env = 0; env < 40; ++env) EXPECT_EQ(bytes(clean, env), bytes(poisoned, env)) << env;
    EXPECT_EQ(poisoned.status_count(), 0u);
  }
}

TEST(Determinism, StepsInOneCallOrInSeveralAreTheSame) {
  Batch a = make(up_to(40)), b = make(up_to(40));
  a.step(12);
  for (int k = 0; k < 12; ++k) b.step();
  for (int env = 0; env < 40; ++env) EXPECT_EQ(bytes(a, env), bytes(b, env)) << env;
}

TEST(Determinism, RestoredInAnotherPlaceTheMotionIsTheSame) {
  Batch a = make(up_to(40)), b = make(up_to(3));
  advance(a);
  const int from = 37, to = 1;
  b.set_state(std::span(&to, 1), a.get_state(std::span(&from, 1)));
  for (int i = 0; i < 2; ++i) put(b.field("ctrl"), to, i, number(a, "ctrl", from, i));
  for (int k = 0; k < 120; ++k) {
    a.step(), b.step();
    ASSERT_EQ(bytes(a, from), bytes(b, to)) << k;
  }
}

}  // namespace
}  // namespace stiction::test

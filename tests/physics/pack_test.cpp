// Packs do in every lane what a number does.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "physics/env.h"
#include "physics/teams.h"

namespace stiction::test {
namespace {

using namespace physics;
using S = TestPack;
constexpr int kW = kNativeLanes;

S random_pack(std::mt19937& rng, float scale) {
  std::uniform_real_distribution<float> uniform(-scale, scale);
  S a(0.0);
  for (int i = 0; i < kW; ++i) set_lane(a, i, uniform(rng));
  return a;
}

TEST(Pack, EveryOperationActsLaneByLane) {
  std::mt19937 rng(1);
  for (int round = 0; round < 100; ++round) {
    const S a = random_pack(rng, 10), b = random_pack(rng, 10);
    const Mask<S> less = a < b;
    bool any = false;
    for (int i = 0; i < kW; ++i) {
      const float x = get_lane(a, i), y = get_lane(b, i);
      EXPECT_EQ(get_lane(a + b, i), x + y);
      EXPECT_EQ(get_lane(a * b, i), x * y);
      EXPECT_EQ(get_lane(a / b, i), x / y);
      EXPECT_EQ(get_lane(-a, i), -x);
      EXPECT_EQ(get_lane(vmin(a, b), i), vmin(x, y));
      EXPECT_EQ(get_lane(vmax(a, b), i), vmax(x, y));
      EXPECT_EQ(get_lane(vabs(a), i), std::fabs(x));
      EXPECT_EQ(get_lane(vsqrt(vabs(a)), i), std::sqrt(std::fabs(x)));
      EXPECT_EQ(get_lane(vround(a), i), std::nearbyint(x));
      EXPECT_EQ(get_lane(vcopysign(a, b), i), std::copysign(x, y));
      EXPECT_EQ(get_lane(less, i), x < y);
      EXPECT_EQ(get_lane(select(less, a, b), i), x < y ? x : y);
      EXPECT_EQ(get_lane(widen(a), i), static_cast<double>(x));
      EXPECT_EQ(get_lane(narrow<S>(widen(a)), i), x);
      EXPECT_EQ(get_lane(narrow_mask<S>(widen(a) < widen(b)), i), x < y);
      EXPECT_EQ(get_lane(widen_mask<S>(less), i), x < y);
      any = any || x < y;
    }
    EXPECT_EQ(any_lane(less), any);
  }
}

TEST(Pack, RoundingKeepsSignsTiesAndBigNumbers) {
  for (const float x :
       {0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 8388609.0f, -3e9f, 0.49999997f}) {
    const float rounded = get_lane(vround(S(static_cast<double>(x))), 0);
    EXPECT_EQ(std::signbit(rounded), std::signbit(std::nearbyint(x)));
    EXPECT_EQ(rounded, std::nearbyint(x));
  }
}

TEST(Pack, NotANumberStaysInItsLane) {
  S a(1.0);
  set_lane(a, 1, std::nanf(""));
  EXPECT_FALSE(get_lane(is_finite(a), 1));
  EXPECT_TRUE(get_lane(is_finite(a), 0));
  EXPECT_EQ(get_lane(vmax(a, S(0.0)), 1), 0);
  EXPECT_FALSE(any_lane(!(is_finite(S(3.0)))));
}

TEST(ThreadTeam, CollectivesAgreeInAllLanes) {
  std::vector<double> results(4);
  std::vector<int> list(10);
  ThreadTeam::run(4, [&](const ThreadTeam& team) {
    const double s = team.sum<double>(10, [](int i) { return 0.1 * i; });
    const int n = team.compact(10, list.data(), [](int i) { return i % 3 == 0; });
    EXPECT_EQ(n, 4);
    team.for_each(4, [&](int i) { results[static_cast<std::size_t>(i)] = s; });
  });
  for (const double s : results) EXPECT_EQ(s, results[0]);
  EXPECT_NEAR(results[0], 4.5, 1e-12);
  EXPECT_EQ(list[3], 9);
}

}  // namespace
}  // namespace stiction::test

// The random numbers of the tasks.
#include "envs/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "stiction/draw.h"

namespace stiction::envs {
namespace {

std::vector<std::uint32_t> words(Philox counter, std::uint32_t key0, std::uint32_t key1) {
  const Philox r = philox(counter, key0, key1);
  return {r.x[0], r.x[1], r.x[2], r.x[3]};
}

// Known answers published with Random123.
TEST(Philox, PublishedVectors) {
  using testing::ElementsAre;
  EXPECT_THAT(words({{0, 0, 0, 0}}, 0, 0),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  constexpr std::uint32_t kOnes = 0xffffffffu;
  EXPECT_THAT(words({{kOnes, kOnes, kOnes, kOnes}}, kOnes, kOnes),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(
      words({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u),
      ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

// A different seed, episode, purpose or step is a different row; the same four are the same.
TEST(Draw, RowsDoNotMeet) {
  std::set<std::uint32_t> seen;
  constexpr int kEach = 10;
  int rows = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (const std::uint32_t episode : {0u, 1u, 7u})
      for (const Purpose purpose : {Purpose::reset, Purpose::command, Purpose::noise})
        for (const std::uint32_t step : {0u, 1u, 1000u}) {
          Draw draw(seed, episode, purpose, step), again(seed, episode, purpose, step);
          for (int k = 0; k < kEach; ++k) {
            const std::uint32_t x = draw.bits();
            ASSERT_EQ(x, again.bits());
            seen.insert(x);
          }
          ++rows;
        }
  // of 810 numbers of 32 bits two are equal in one program of ten thousand
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(rows * kEach));
}

struct Moments {
  double mean = 0, variance = 0, correlation = 0, low = 1e9, high = -1e9;
};
template <class F>
Moments moments(int n, const F& next) {
  Moments m;
  double previous = 0;
  for (int i = 0; i < n; ++i) {
    const double x = next();
    m.mean += x / n, m.variance += x * x / n, m.correlation += x * previous / n;
    m.low = std::fmin(m.low, x), m.high = std::fmax(m.high, x);
    previous = x;
  }
  return m;
}

TEST(Draw, UniformAndNormal) {
  constexpr int kNumbers = 200000;
  const double error = 5.0 / std::sqrt(kNumbers);  // five standard errors of unit variance
  Draw draw(3, 0, Purpose::reset);
  const Moments u = moments(kNumbers, [&] { return draw.uniform(-1, 1); });
  EXPECT_NEAR(u.mean, 0, error);
  EXPECT_NEAR(u.variance, 1.0 / 3, error);
  EXPECT_NEAR(u.correlation, 0, error);
  EXPECT_GT(u.low, -1);
  EXPECT_LT(u.high, 1);
  EXPECT_LT(u.low, -0.9999);
  EXPECT_GT(u.high, 0.9999);
  const Moments n = moments(kNumbers, [&] { return draw.normal(); });
  EXPECT_NEAR(n.mean, 0, error);
  EXPECT_NEAR(n.variance, 1, 1.5 * error);
  EXPECT_NEAR(n.correlation, 0, error);
  EXPECT_GT(n.high, 4);
  EXPECT_LT(n.low, -4);
}

// The numbers are these on every machine: no mathematical library has a part in them.
TEST(Draw, NormalNumbersAreTheSameBitsEverywhere) {
  Draw draw(1, 2, Purpose::noise, 3);
  std::uint64_t hash = 0;
  for (int i = 0; i < 10000; ++i)
    hash = hash * 0x9E3779B97F4A7C15u + std::bit_cast<std::uint64_t>(draw.normal());
  EXPECT_EQ(hash, 14349754930744548529u);
}

// From word 5 on: what comes after five words, in every kind of numbers.
TEST(Draw, RowsFromAnyWordOn) {
  const DrawKey key{7, 1, static_cast<std::uint32_t>(Purpose::push), 2};
  Draw draw(7, 1, Purpose::push, 2);
  for (int k = 0; k < 5; ++k) draw.bits();
  Draw same = draw, again = draw;
  std::uint32_t bits[6];
  double uniform[6], normal[6];
  draw_bits(key, 5, bits), draw_uniform(key, 5, uniform), draw_normal(key, 5, normal);
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(bits[k], draw.bits());
    EXPECT_EQ(uniform[k], same.uniform());
    EXPECT_EQ(normal[k], again.normal());
  }
}

}  // namespace
}  // namespace stiction::envs

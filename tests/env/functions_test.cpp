// Elementary functions of the tasks against the mathematical library.
#include "envs/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace stiction::envs {
namespace {

constexpr int kNumbers = 100000;

// Distance in units of the last place of the exact value.
double ulps(double value, long double exact) {
  const double unit = std::ldexp(1.0, std::ilogb(static_cast<double>(exact)) - 52);
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact)) / unit;
}

TEST(EnvFunctions, LogarithmToThreeUlps) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> exponent(-64, 0), small(0, 0x1p-8);
  double worst = 0;
  for (int i = 0; i < kNumbers; ++i)
    for (const double x : {std::exp2(exponent(rng)), 1 - small(rng)})
      worst = std::max(worst, ulps(log(x), std::log(static_cast<long double>(x))));
  for (double x = 1; x >= 0x1p-64; x /= 2)
    for (const double y : {x, std::nextafter(x, 0)})
      worst = std::max(worst, ulps(log(y), std::log(static_cast<long double>(y))));
  EXPECT_LT(worst, 3);
  EXPECT_EQ(log(1), 0);
}

TEST(EnvFunctions, ExponentialToThreeUlps) {
  std::mt19937 rng(1);
  double worst = 0;
  for (const double scale : {1e-9, 0.1, 1.0, 20.0, 708.0}) {
    std::uniform_real_distribution<double> uniform(-scale, 0);
    for (int i = 0; i < kNumbers; ++i) {
      const double x = uniform(rng);
      worst = std::max(worst, ulps(exp(x), std::exp(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, 3);
  EXPECT_EQ(exp(0), 1);
  EXPECT_EQ(exp(-709), 0);
  EXPECT_EQ(exp(-std::numeric_limits<double>::infinity()), 0);
}

TEST(EnvFunctions, AnglesInAllQuadrants) {
  for (double a = -3.1; a < 3.2; a += 0.1) {
    EXPECT_NEAR(angle(2 * std::sin(a), 2 * std::cos(a)), a, 2e-15);
    for (const int turns : {-3, -1, 0, 1, 2})
      EXPECT_NEAR(wrapped_angle(a + turns * 2 * kPi), a, 1e-14);
  }
  EXPECT_EQ(angle(0, -1), kPi);
  EXPECT_EQ(angle(0, 0), 0);
}

}  // namespace
}  // namespace stiction::envs

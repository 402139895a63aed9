// Elementary functions against the mathematical library.
#include "physics/base/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "physics/env.h"

namespace stiction::test {
namespace {

using physics::Quat;
using physics::Vec3;

// Distance in units of the last place of the exact value.
template <class T>
double ulps(T value, long double exact) {
  const double unit = std::ldexp(static_cast<double>(std::numeric_limits<T>::epsilon()),
                                 std::ilogb(static_cast<double>(exact)));
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact)) / unit;
}

template <class T>
class Functions : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Functions, Numbers);

TYPED_TEST(Functions, SineAndCosineToThreeUlps) {
  using T = TypeParam;
  std::mt19937 rng(1);
  double worst = 0;
  for (const double scale : {1e-6, 0.1, 1.0, 4.0, 100.0, 1e4}) {
    std::uniform_real_distribution<double> uniform(-scale, scale);
    for (int i = 0; i < 20000; ++i) {
      const T x = static_cast<T>(uniform(rng));
      const auto a = physics::sincos(x);
      const long double exact = static_cast<long double>(x);
      worst = std::max({worst, ulps(a.sin, std::sin(exact)), ulps(a.cos, std::cos(exact))});
    }
  }
  // half an ulp of the last addition, and of the reduced argument, whose ulp may be twice as large;
  // far from 0 the nearest quarter turn is missed by a little, and |r| passes π/4
  EXPECT_LT(worst, 2.5);
}

TYPED_TEST(Functions, SineAndCosineOfSpecialArguments) {
  using T = TypeParam;
  EXPECT_EQ(physics::sincos(T(0)).sin, 0);
  EXPECT_EQ(physics::sincos(T(0)).cos, 1);
  for (const T x : {T(1e5), T(1e9), T(1e20), std::numeric_limits<T>::max()})
    for (const T sign : {T(1), T(-1)}) {
      const auto a = physics::sincos(sign * x);
      EXPECT_LE(std::fabs(a.sin), 1);
      EXPECT_LE(std::fabs(a.cos), 1);
      // a rotation even where the digits are gone
      EXPECT_NEAR(a.sin * a.sin + a.cos * a.cos, 1, 4 * std::numeric_limits<T>::epsilon());
    }
  EXPECT_TRUE(std::isnan(physics::sincos(std::numeric_limits<T>::quiet_NaN()).sin));
}

TYPED_TEST(Functions, ArcTangentToThreeUlps) {
  using T = TypeParam;
  std::mt19937 rng(2);
  std::uniform_real_distribution<double> angle(0, 3.14159265), exponent(-12, 12);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double r = std::exp(exponent(rng)), a = i % 2 == 0 ? angle(rng) : std::exp(exponent(rng));
    const T y = static_cast<T>(std::fabs(r * std::sin(a))), x = static_cast<T>(r * std::cos(a));
    if (y == 0) continue;
    const long double exact = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    worst = std::max(worst, ulps(physics::atan2(y, x), exact));
  }
  // two legs, the quotient, the polynomial, the additions of π/4 and π/2: half an ulp each
  EXPECT_LT(worst, 3);
  EXPECT_EQ(physics::atan2(T(0), T(0)), 0);
  EXPECT_EQ(physics::atan2(T(0), T(2)), 0);
  EXPECT_NEAR(physics::atan2(T(0), T(-2)), 3.14159265358979, 1e-6);
}

TYPED_TEST(Functions, ExpAndLogOfRotations) {
  using T = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  for (const double angle : {0.0, 1e-12, 1e-9, 2e-8, 1e-4, 0.5, 1.5, 3.0, 3.14159}) {
    for (int i = 0; i < 100; ++i) {
      double r[3], n = 0;
      for (double& x : r) x = normal(rng), n += x * x;
      for (double& x : r) x *= angle / std::sqrt(n);
      const Vec3<T> v = {static_cast<T>(r[0]), static_cast<T>(r[1]), static_cast<T>(r[2])};
      const Quat<T> q = physics::exp_quat(v);
      EXPECT_NEAR(q.w, std::cos(0.5 * angle), 4 * eps);
      EXPECT_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 8 * eps);
      const double s = angle > 0 ? std::sin(0.5 * angle) / angle : 0.5;
      EXPECT_NEAR(q.x, s * r[0], 8 * eps * std::fabs(s * r[0]) + 1e-44);

      // near a half turn log loses what w has lost
      for (const T sign : {T(1), T(-1)}) {
        const Vec3<T> back =
            physics::log_quat(Quat<T>{sign * q.w, sign * q.x, sign * q.y, sign * q.z});
        EXPECT_NEAR(back.x, r[0], 16 * eps * angle);
        EXPECT_NEAR(back.y, r[1], 16 * eps * angle);
        EXPECT_NEAR(back.z, r[2], 16 * eps * angle);
      }
    }
  }
}

// A lane of a mixed pack has the bits of a pack of copies.
TEST(FunctionsOfPacks, LanesAreIndependent) {
  using S = TestPack;
  std::mt19937 rng(4);
  std::uniform_real_distribution<float> uniform(-20, 20);
  for (int round = 0; round < 200; ++round) {
    S x(0.0), y(0.0);
    for (int i = 0; i < physics::kNativeLanes; ++i)
      set_lane(x, i, uniform(rng)), set_lane(y, i, std::fabs(uniform(rng)));
    const auto mixed = physics::sincos(x);
    const S angle = physics::atan2(y, x);
    for (int i = 0; i < physics::kNativeLanes; ++i) {
      const S one(static_cast<double>(get_lane(x, i))), leg(static_cast<double>(get_lane(y, i)));
      const auto copies = physics::sincos(one);
      EXPECT_EQ(get_lane(mixed.sin, i), get_lane(copies.sin, 0));
      EXPECT_EQ(get_lane(mixed.cos, i), get_lane(copies.cos, 0));
      EXPECT_EQ(get_lane(angle, i), get_lane(physics::atan2(leg, one), 0));
      EXPECT_NEAR(get_lane(mixed.sin, i), std::sin(get_lane(x, i)), 1e-6);
    }
  }
}

}  // namespace
}  // namespace stiction::test

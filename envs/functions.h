// Elementary functions of one number, without the mathematical library: the same bits on every
// machine and device where multiply and add are not fused, to 3 ulp. physics::sincos is the fifth.
#pragma once

#include "physics/base/functions.h"

namespace stiction::envs {

inline constexpr double kPi = 3.141592653589793;

// ln 2 in two parts; the product of the first with a whole number below 2^20 is exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;

// ln x for 2^-64 <= x <= 1: x = 2^k m, sqrt(1/2) <= m < sqrt(2), ln m = 2 artanh((m - 1) / (m + 1)).
STICTION_FN double log(double x) {
  constexpr double kScale[] = {0x1p32, 0x1p16, 0x1p8, 0x1p4, 0x1p2, 0x1p1};
  int k = 0;
  for (int i = 0; i < 6; ++i)
    if (x * kScale[i] < 1) x *= kScale[i], k -= 32 >> i;
  if (x < 0.7071067811865476) x *= 2, --k;
  const double f = (x - 1) / (x + 1), z = f * f;
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  return k * kLn2High + (2 * f + (f * z * physics::polynomial(kSeries, z) + k * kLn2Low));
}

// exp x for x <= 0, and 0 below -708: 2^-k exp r with |r| <= ln 2 / 2.
STICTION_FN double exp(double x) {
  if (x < -708) return 0;
  const double n = physics::vround(x * 1.4426950408889634);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  double y = 1 + (r + r * r * physics::polynomial(kSeries, r)), power = 0.5;
  for (int k = static_cast<int>(-n); k > 0; k >>= 1, power *= power)
    if (k & 1) y *= power;
  return y;
}

// Angle of (x, y) in [-π, π]; 0 at the origin.
STICTION_FN double angle(double y, double x) {
  return physics::vcopysign(physics::atan2(physics::vabs(y), x), y);
}

// The same angle in [-π, π].
STICTION_FN double wrapped_angle(double a) {
  return a - 2 * kPi * physics::vround(a / (2 * kPi));
}

}  // namespace stiction::envs

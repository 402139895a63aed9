// Elementary functions of any number type that do not call the C math library: accurate to 2 or 3 ulp,
// with the same bits on every machine that does not fuse multiply and add.
//
//   sincos     reduction by Cody and Waite to |r| <= π/4, polynomials in r²
//   atan2      y >= 0; quotient of the smaller by the larger leg, reduced to |t| <= tan(π/8)
//   exp_quat   rotation vector -> unit quaternion
//   log_quat   unit quaternion -> rotation vector of length <= π
#pragma once

#include "physics/base/vec.h"

STICTION_PHYSICS_BEGIN

// c0 + z (c1 + z (c2 ...))
template <class S, int N>
STICTION_FN S polynomial(const double (&c)[N], const S& z) {
  S p = S(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) p = p * z + S(c[i]);
  return p;
}

template <class S>
struct SinCos {
  S sin, cos;
};

// sin r and cos r on |r| <= π/4: r + r z s(z), 1 - z/2 + z² c(z) with z = r².
template <class S>
STICTION_FN SinCos<S> sincos_reduced(const S& r) {
  const S z = r * r;
  S s, c;
  if constexpr (sizeof(Lane<S>) == 4) {
    constexpr double kSin[] = {-0.166666641831398, 0.008332746103405952, -0.00019587387214414775};
    constexpr double kCos[] = {0.0416666641831398, -0.0013888300163671374, 2.4547436623834074e-05};
    s = polynomial(kSin, z), c = polynomial(kCos, z);
  } else {
    constexpr double kSin[] = {-0.16666666666666666,    0.008333333333330925,
                               -0.00019841269836722418, 2.755731608381636e-06,
                               -2.5051127944014188e-08, 1.5917848524808262e-10};
    constexpr double kCos[] = {0.041666666666666664,   -0.0013888888888887382,
                               2.480158729874307e-05,  -2.7557317260008837e-07,
                               2.0876143827993133e-09, -1.1382456778061306e-11};
    s = polynomial(kSin, z), c = polynomial(kCos, z);
  }
  // 1 - z/2 loses its tail: add it to the small term
  const S half = S(0.5) * z, w = S(1.0) - half;
  return {r + r * z * s, w + (((S(1.0) - w) - half) + z * z * c)};
}

// Computes r = x - k π/2, k the nearest integer. π/2 is the sum of parts whose products with k are exact
// up to k = 2^13 in float and 2^20 in double. Beyond, digits are lost, and r is 0 where none is left.
template <class S>
STICTION_FN S reduce_quarter_turns(const S& x, const S& k) {
  S r;
  if constexpr (sizeof(Lane<S>) == 4)
    r = (((x - k * S(0x1.920p+0)) - k * S(0x1.fb4p-12)) - k * S(0x1.444p-24)) -
        k * S(0x1.68c234c4c6629p-39);
  else
    r = ((x - k * S(0x1.921fb544p+0)) - k * S(0x1.0b4611a6p-34)) - k * S(0x1.3198a2e037073p-69);
  return select(vabs(r) <= S(0.8), r, S(0.0) * r);
}

// Returns sine and cosine, finite for every finite x.
template <class S>
STICTION_FN SinCos<S> sincos(const S& x) {
  const S k = vround(x * S(0.63661977236758134));
  const SinCos<S> a = sincos_reduced(reduce_quarter_turns(x, k));

  // quarter in {-2 ... 2}: an odd quarter swaps sine and cosine
  const S quarter = k - S(4.0) * vround(S(0.25) * k);
  const S magnitude = vabs(quarter);
  const Mask<S> odd = magnitude == S(1.0), half_turn = magnitude == S(2.0);
  const S s = select(odd, a.cos, a.sin), c = select(odd, a.sin, a.cos);
  return {select(half_turn || quarter == S(-1.0), -s, s),
          select(half_turn || quarter == S(1.0), -c, c)};
}

// atan t on |t| <= tan(π/8): t + t z p(z) with z = t².
template <class S>
STICTION_FN S atan_reduced(const S& t) {
  const S z = t * t;
  S p;
  if constexpr (sizeof(Lane<S>) == 4) {
    constexpr double kAtan[] = {-0.3333333134651184, 0.19999538362026215, -0.14263896644115448,
                                0.10743099451065063, -0.06449835002422333};
    p = polynomial(kAtan, z);
  } else {
    constexpr double kAtan[] = {-0.3333333333333333,  0.1999999999999548,   -0.14285714284657894,
                                0.11111111014561013,  -0.09090904549884611, 0.07692182535116648,
                                -0.06664502215671447, 0.058580687568615106, -0.05085030492810941,
                                0.03921955253255129,  -0.019162068915902573};
    p = polynomial(kAtan, z);
  }
  return t + t * z * p;
}

// Returns the angle of (x, y) in [0, π], y >= 0; 0 at the origin.
template <class S>
STICTION_FN S atan2(const S& y, const S& x) {
  const S ax = vabs(x);
  const S small = vmin(y, ax), large = vmax(y, ax);

  // atan(small/large), or π/4 + the arctangent of what remains
  const Mask<S> upper = small > S(0.41421356237309503) * large;
  const S top = select(upper, small - large, small), bottom = select(upper, small + large, large);
  const S rest = atan_reduced(top / select(bottom == S(0.0), S(1.0), bottom));
  const S octant = select(upper, S(0.78539816339744828) + rest, rest);

  const S quarter = select(y > ax, S(1.5707963267948966) - octant, octant);
  return select(x < S(0.0), S(3.1415926535897931) - quarter, quarter);
}

// Returns (cos |r|/2, sin(|r|/2) r/|r|); below 1e-8 rad the factor is 1/2 to round-off.
template <class S>
STICTION_FN Quat<S> exp_quat(const Vec3<S>& r) {
  const S angle = norm(r);
  const SinCos<S> half = sincos(S(0.5) * angle);
  const Mask<S> turns = angle > S(1e-8);
  const S s = select(turns, half.sin / select(turns, angle, S(1.0)), S(0.5));
  return {half.cos, s * r.x, s * r.y, s * r.z};
}

template <class S>
STICTION_FN Vec3<S> log_quat(const Quat<S>& q) {
  const S sign = select(q.w < S(0.0), S(-1.0), S(1.0));
  const Vec3<S> v = {sign * q.x, sign * q.y, sign * q.z};
  const S s = norm(v);
  const Mask<S> turns = s > S(1e-8);
  const S per_length = atan2(s, sign * q.w) / select(turns, s, S(1.0));
  return select(turns, S(2.0) * per_length, S(2.0)) * v;
}

STICTION_PHYSICS_END

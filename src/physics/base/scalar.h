// The operations on number types: what float and double provide here, a pack of lanes provides in
// src/cpu/pack.h under the same names. S is a number type of the solver, Wide<S> the type of
// positions and gaps (docs/architecture.md: "Float where it may, double where it must"), Mask<S>
// the result of a comparison.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "physics/base/config.h"

STICTION_PHYSICS_BEGIN

template <class S>
struct Traits;
template <>
struct Traits<double> {
  using Wide = double;
  using Mask = bool;
  using Lane = double;
  static constexpr int lanes = 1, registers = 16;
};
template <>
struct Traits<float> {
  using Wide = double;
  using Mask = bool;
  using Lane = float;
  static constexpr int lanes = 1, registers = 16;
};

template <class S>
using Wide = typename Traits<S>::Wide;
template <class S>
using Mask = typename Traits<S>::Mask;
// The type of one lane: float or double.
template <class S>
using Lane = typename Traits<S>::Lane;
template <class S>
inline constexpr int kLanes = Traits<S>::lanes;
// Number of S that fit into the registers of a CPU.
template <class S>
inline constexpr int kRegisters = Traits<S>::registers;
// Machine epsilon of one lane: 2^-23 or 2^-52, twice the unit round-off.
template <class S>
STICTION_FN constexpr double epsilon() {
  return static_cast<double>(std::numeric_limits<Lane<S>>::epsilon());
}
// The largest w G of a law with curvature G acting on an inertia 1/w: H = A + Jᵀ G J, summed in S, keeps
// A to a relative accuracy of 2^-7. 2^16 in float, 2^45 in double.
template <class S>
STICTION_FN constexpr double stiffest() {
  return 0x1p-7 / epsilon<S>();
}

STICTION_FN float select(bool m, float a, float b) {
  return m ? a : b;
}
STICTION_FN double select(bool m, double a, double b) {
  return m ? a : b;
}
STICTION_FN bool select(bool m, bool a, bool b) {
  return m ? a : b;
}
// a ≠ b, used to skip terms that add nothing; dual numbers also differ where their derivatives do.
template <class S>
STICTION_FN auto differs(const S& a, const S& b) {
  return a != b;
}

STICTION_FN bool any_lane(bool m) {
  return m;
}
STICTION_FN int count_lanes(bool m) {
  return m ? 1 : 0;
}

// If the first argument is NaN, vmin and vmax return the second.
STICTION_FN float vmin(float a, float b) {
  return a < b ? a : b;
}
STICTION_FN float vmax(float a, float b) {
  return a > b ? a : b;
}
STICTION_FN double vmin(double a, double b) {
  return a < b ? a : b;
}
STICTION_FN double vmax(double a, double b) {
  return a > b ? a : b;
}
STICTION_FN float vsqrt(float a) {
  return std::sqrt(a);
}
STICTION_FN double vsqrt(double a) {
  return std::sqrt(a);
}
STICTION_FN float vabs(float a) {
  return std::fabs(a);
}
STICTION_FN double vabs(double a) {
  return std::fabs(a);
}
// Rounds to the nearest integer, ties to even.
STICTION_FN float vround(float a) {
  return std::nearbyint(a);
}
STICTION_FN double vround(double a) {
  return std::nearbyint(a);
}
// Returns |a| with the sign of b.
STICTION_FN float vcopysign(float a, float b) {
  return std::copysign(a, b);
}
STICTION_FN double vcopysign(double a, double b) {
  return std::copysign(a, b);
}

// Convert between S and Wide<S>; name the target: narrow<S>(w), widen<S>(s). Masks likewise.
template <class S>
STICTION_FN S narrow(double a) {
  return static_cast<S>(a);
}
template <class S>
STICTION_FN double widen(S a) {
  return static_cast<double>(a);
}
template <class S>
STICTION_FN bool narrow_mask(bool m) {
  return m;
}
template <class S>
STICTION_FN bool widen_mask(bool m) {
  return m;
}

// per_lane runs scalar code lane by lane: f(lane index). For rare, branchy code only; f reads and writes
// single lanes with get_lane and set_lane.
STICTION_FN float get_lane(float a, int) {
  return a;
}
STICTION_FN double get_lane(double a, int) {
  return a;
}
STICTION_FN bool get_lane(bool a, int) {
  return a;
}
STICTION_FN void set_lane(float& a, int, float x) {
  a = x;
}
STICTION_FN void set_lane(double& a, int, double x) {
  a = x;
}
template <class S, class F>
STICTION_FN void per_lane(const F& f) {
  for (int lane = 0; lane < kLanes<S>; ++lane) f(lane);
}

template <class S>
STICTION_FN S clamp(S x, S lower, S upper) {
  return vmin(vmax(x, lower), upper);
}
template <class S>
STICTION_FN Mask<S> all_lanes() {
  return S(0.0) < S(1.0);
}
template <class S>
STICTION_FN Mask<S> no_lanes() {
  return S(1.0) < S(0.0);
}
// Returns the lanes that are neither infinite nor NaN.
template <class S>
STICTION_FN Mask<S> is_finite(S x) {
  // not x - x == 0: where x is a product, a fused multiply-add leaves its round-off
  return vabs(x) <= S(static_cast<double>(std::numeric_limits<Lane<S>>::max()));
}

STICTION_PHYSICS_END

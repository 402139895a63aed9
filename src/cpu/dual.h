// Dual: a number and its derivatives in eight directions, the number type of the tangents of a step.
//
//   f(x + ε ẋ) = f(x) + ε f'(x) ẋ,   ε² = 0
//
// Provides the operations of physics/base/scalar.h, so that src/physics, instantiated with it, computes its own
// derivative. Comparisons, and so every mask and branch, use the values: at a kink the derivative is that of the
// side on which the value is; at a tie of min and max the mean. That of √0, the norm of a zero vector, is 0. A lane of
// Dual is the Dual: code that runs lane by lane in plain doubles does not compile, so no tangent is lost. Not for nvcc.
#pragma once

#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

struct Dual {
  static constexpr bool has_derivatives = true;
  static constexpr int kDirections = 8;
  // aligned without padding after the value: 72 bytes
  typedef double Tangent __attribute__((vector_size(kDirections * sizeof(double)), aligned(8)));

  double value;
  Tangent tangent;

  Dual() = default;
  explicit Dual(double x) : value(x), tangent{} {}
  Dual(double x, const Tangent& t) : value(x), tangent(t) {}
};

template <>
struct Traits<Dual> {
  using Wide = Dual;
  using Mask = bool;
  using Lane = double;
  static constexpr int lanes = 1, registers = 16;
};

STICTION_FN Dual operator+(const Dual& a, const Dual& b) {
  return {a.value + b.value, a.tangent + b.tangent};
}
STICTION_FN Dual operator-(const Dual& a, const Dual& b) {
  return {a.value - b.value, a.tangent - b.tangent};
}
STICTION_FN Dual operator-(const Dual& a) {
  return {-a.value, -a.tangent};
}
STICTION_FN Dual operator*(const Dual& a, const Dual& b) {
  return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
}
STICTION_FN Dual operator*(double a, const Dual& b) {
  return {a * b.value, a * b.tangent};
}
STICTION_FN Dual operator/(const Dual& a, const Dual& b) {
  const double inverse = 1 / b.value, ratio = a.value / b.value;
  return {ratio, (a.tangent - ratio * b.tangent) * inverse};
}

STICTION_FN bool operator<(const Dual& a, const Dual& b) {
  return a.value < b.value;
}
STICTION_FN bool operator>(const Dual& a, const Dual& b) {
  return a.value > b.value;
}
STICTION_FN bool operator<=(const Dual& a, const Dual& b) {
  return a.value <= b.value;
}
STICTION_FN bool operator>=(const Dual& a, const Dual& b) {
  return a.value >= b.value;
}
STICTION_FN bool operator==(const Dual& a, const Dual& b) {
  return a.value == b.value;
}
STICTION_FN bool operator!=(const Dual& a, const Dual& b) {
  return a.value != b.value;
}

STICTION_FN bool differs(const Dual& a, const Dual& b) {
  if (a.value != b.value) return true;
  for (int d = 0; d < Dual::kDirections; ++d)
    if (a.tangent[d] != b.tangent[d]) return true;
  return false;
}

STICTION_FN Dual select(bool m, const Dual& a, const Dual& b) {
  return m ? a : b;
}
// The derivative of equal operands is the mean, as of central differences: two geoms with the same friction share it.
STICTION_FN Dual mean(const Dual& a, const Dual& b) {
  return {a.value, 0.5 * (a.tangent + b.tangent)};
}
STICTION_FN Dual vmin(const Dual& a, const Dual& b) {
  if (a.value == b.value) return mean(a, b);
  return a < b ? a : b;
}
STICTION_FN Dual vmax(const Dual& a, const Dual& b) {
  if (a.value == b.value) return mean(a, b);
  return a > b ? a : b;
}
STICTION_FN Dual vsqrt(const Dual& a) {
  const double root = std::sqrt(a.value);
  return {root, (root > 0 ? 0.5 / root : 0.0) * a.tangent};
}
STICTION_FN Dual vabs(const Dual& a) {
  return std::signbit(a.value) ? -a : a;
}
// A step function: its derivative is zero.
STICTION_FN Dual vround(const Dual& a) {
  return Dual(std::nearbyint(a.value));
}
STICTION_FN Dual vcopysign(const Dual& a, const Dual& b) {
  return std::signbit(a.value) == std::signbit(b.value) ? a : -a;
}

template <class S>
STICTION_FN S narrow(const Dual& a) {
  return a;
}
STICTION_FN Dual widen(const Dual& a) {
  return a;
}
STICTION_FN Dual get_lane(const Dual& a, int) {
  return a;
}
STICTION_FN void set_lane(Dual& a, int, const Dual& x) {
  a = x;
}

STICTION_PHYSICS_END

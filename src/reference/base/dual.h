// Dual numbers: a value and its derivatives in several directions at once.
//   f(x + ε ẋ) = f(x) + ε f'(x) ẋ,   ε² = 0
// Comparisons, and so all branches, use the values. Equality compares tangents, too: Eigen skips products with
// numbers that equal 0, and a zero with a derivative does not. At the kinks of |x|, max and clamp the
// derivative is that of the branch taken; that of √0, for the norm of a zero vector, counts as 0.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <compare>

namespace stiction::reference {

struct Dual {
  static constexpr int kDirections = 8;
  using Tangent = Eigen::Array<double, kDirections, 1>;

  double value = 0;
  Tangent tangent = Tangent::Zero();

  Dual() = default;
  Dual(double v) : value(v) {}
  Dual(double v, const Tangent& t) : value(v), tangent(t) {}

  Dual& operator+=(const Dual& b) { return *this = {value + b.value, tangent + b.tangent}; }
  Dual& operator-=(const Dual& b) { return *this = {value - b.value, tangent - b.tangent}; }
  Dual& operator*=(const Dual& b) {
    return *this = {value * b.value, tangent * b.value + value * b.tangent};
  }
  Dual& operator/=(const Dual& b) {
    const double ratio = value / b.value;
    return *this = {ratio, (tangent - ratio * b.tangent) / b.value};
  }
  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend Dual operator*(Dual a, const Dual& b) { return a *= b; }
  friend Dual operator/(Dual a, const Dual& b) { return a /= b; }
  friend Dual operator-(const Dual& a) { return {-a.value, -a.tangent}; }
  friend bool operator==(const Dual& a, const Dual& b) {
    return a.value == b.value && (a.tangent == b.tangent).all();
  }
  friend auto operator<=>(const Dual& a, const Dual& b) { return a.value <=> b.value; }
};

// The chain rule: f(x) with the derivative f'(x).
inline Dual chain(const Dual& x, double f, double slope) {
  return {f, slope * x.tangent};
}
inline Dual sqrt(const Dual& x) {
  const double root = std::sqrt(x.value);
  return chain(x, root, root > 0 ? 0.5 / root : 0);
}
inline Dual abs(const Dual& x) {
  return x.value < 0 ? -x : x;
}
inline Dual sin(const Dual& x) {
  return chain(x, std::sin(x.value), std::cos(x.value));
}
inline Dual cos(const Dual& x) {
  return chain(x, std::cos(x.value), -std::sin(x.value));
}
inline Dual log(const Dual& x) {
  return chain(x, std::log(x.value), 1 / x.value);
}
inline Dual hypot(const Dual& x, const Dual& y) {
  const double r = std::hypot(x.value, y.value);
  if (r == 0) return 0;
  return {r, (x.value / r) * x.tangent + (y.value / r) * y.tangent};
}
inline Dual atan2(const Dual& y, const Dual& x) {
  const double r2 = x.value * x.value + y.value * y.value;
  return {std::atan2(y.value, x.value), (x.value * y.tangent - y.value * x.tangent) / r2};
}
inline Dual copysign(const Dual& x, const Dual& sign) {
  return std::signbit(x.value) == std::signbit(sign.value) ? x : -x;
}
// x minus a whole number of periods
inline Dual remainder(const Dual& x, double period) {
  return {std::remainder(x.value, period), x.tangent};
}
inline bool isfinite(const Dual& x) {
  return std::isfinite(x.value);
}

}  // namespace stiction::reference

template <>
struct Eigen::NumTraits<stiction::reference::Dual> : Eigen::NumTraits<double> {
  using Real = stiction::reference::Dual;
  using NonInteger = stiction::reference::Dual;
  using Nested = stiction::reference::Dual;
  using Literal = double;
  enum {
    RequireInitialization = 1,
    ReadCost = 1 + stiction::reference::Dual::kDirections,
    AddCost = ReadCost,
    MulCost = 3 * ReadCost
  };
};
template <class Op>
struct Eigen::ScalarBinaryOpTraits<stiction::reference::Dual, double, Op> {
  using ReturnType = stiction::reference::Dual;
};
template <class Op>
struct Eigen::ScalarBinaryOpTraits<double, stiction::reference::Dual, Op> {
  using ReturnType = stiction::reference::Dual;
};

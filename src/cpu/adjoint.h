// Adjoint: a number and its node on a tape, the number type of a reverse sweep of a step.
//
//   y = f(a, b):   ā += ȳ ∂f/∂a,   b̄ += ȳ ∂f/∂b
//
// Provides the vocabulary of physics/base/scalar.h, as Dual does (dual.h), with the same derivatives at kinks and ties:
// that of the side on which the value is; at a tie of min and max the mean; of √0 it counts as 0. What depends on
// nothing that was asked for is a constant and has no node. Never seen by nvcc.
#pragma once

#include "cpu/tape.h"
#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

// Of the thread that records.
inline constinit thread_local cpu::Tape* recording_tape = nullptr;

struct Adjoint {
  static constexpr bool has_derivatives = true;

  double value;
  std::uint32_t node;  // 0: a constant

  Adjoint() = default;
  explicit Adjoint(double x) : value(x), node(0) {}
  Adjoint(double x, std::uint32_t at) : value(x), node(at) {}
};

template <>
struct Traits<Adjoint> {
  using Wide = Adjoint;
  using Mask = bool;
  using Lane = double;
  static constexpr int lanes = 1, registers = 16;
};

// The value x of an operation with these derivatives to its parents; a constant where it has no parent that moves it.
STICTION_FN Adjoint recorded(double x, std::uint32_t a, double to_a, std::uint32_t b = 0,
                             double to_b = 0) {
  return {x, (a | b) == 0 ? 0 : recording_tape->push(a, to_a, b, to_b)};
}
// The node of a number, if a derivative to it is one.
STICTION_FN std::uint32_t node_if(bool moves, Adjoint a) {
  return moves ? a.node : 0;
}

// What moves as one number alone shares its node.
STICTION_FN Adjoint operator+(Adjoint a, Adjoint b) {
  const double sum = a.value + b.value;
  if (a.node == 0) return {sum, b.node};
  if (b.node == 0) return {sum, a.node};
  return recorded(sum, a.node, 1.0, b.node, 1.0);
}
STICTION_FN Adjoint operator-(Adjoint a, Adjoint b) {
  const double difference = a.value - b.value;
  if (b.node == 0) return {difference, a.node};
  return recorded(difference, a.node, 1.0, b.node, -1.0);
}
STICTION_FN Adjoint operator-(Adjoint a) {
  return recorded(-a.value, a.node, -1.0);
}
STICTION_FN Adjoint operator*(Adjoint a, Adjoint b) {
  return recorded(a.value * b.value, node_if(b.value != 0, a), b.value, node_if(a.value != 0, b),
                  a.value);
}
STICTION_FN Adjoint operator*(double a, Adjoint b) {
  return recorded(a * b.value, node_if(a != 0, b), a);
}
STICTION_FN Adjoint operator/(Adjoint a, Adjoint b) {
  const double ratio = a.value / b.value;
  if ((a.node | b.node) == 0) return Adjoint(ratio);
  const double inverse = 1 / b.value;
  return recorded(ratio, a.node, inverse, node_if(ratio != 0, b), -ratio * inverse);
}

STICTION_FN bool operator<(Adjoint a, Adjoint b) {
  return a.value < b.value;
}
STICTION_FN bool operator>(Adjoint a, Adjoint b) {
  return a.value > b.value;
}
STICTION_FN bool operator<=(Adjoint a, Adjoint b) {
  return a.value <= b.value;
}
STICTION_FN bool operator>=(Adjoint a, Adjoint b) {
  return a.value >= b.value;
}
STICTION_FN bool operator==(Adjoint a, Adjoint b) {
  return a.value == b.value;
}
STICTION_FN bool operator!=(Adjoint a, Adjoint b) {
  return a.value != b.value;
}
// Two numbers on the tape may move apart.
STICTION_FN bool differs(Adjoint a, Adjoint b) {
  return a.value != b.value || a.node != b.node;
}

STICTION_FN Adjoint select(bool m, Adjoint a, Adjoint b) {
  return m ? a : b;
}
// Of two that are equal the mean, as central differences have it: two geoms with the same friction share it.
STICTION_FN Adjoint mean(Adjoint a, Adjoint b) {
  return a.node == b.node ? a : recorded(a.value, a.node, 0.5, b.node, 0.5);
}
STICTION_FN Adjoint vmin(Adjoint a, Adjoint b) {
  if (a.value == b.value) return mean(a, b);
  return a < b ? a : b;
}
STICTION_FN Adjoint vmax(Adjoint a, Adjoint b) {
  if (a.value == b.value) return mean(a, b);
  return a > b ? a : b;
}
STICTION_FN Adjoint vsqrt(Adjoint a) {
  const double root = std::sqrt(a.value);
  return recorded(root, node_if(root > 0, a), 0.5 / root);
}
STICTION_FN Adjoint vabs(Adjoint a) {
  return std::signbit(a.value) ? -a : a;
}
// A step function: no slope.
STICTION_FN Adjoint vround(Adjoint a) {
  return Adjoint(std::nearbyint(a.value));
}
STICTION_FN Adjoint vcopysign(Adjoint a, Adjoint b) {
  return std::signbit(a.value) == std::signbit(b.value) ? a : -a;
}

template <class S>
STICTION_FN S narrow(Adjoint a) {
  return a;
}
STICTION_FN Adjoint widen(Adjoint a) {
  return a;
}
STICTION_FN Adjoint get_lane(Adjoint a, int) {
  return a;
}
STICTION_FN void set_lane(Adjoint& a, int, Adjoint x) {
  a = x;
}

STICTION_PHYSICS_END

// Adjoint: a number and its node on a tape, the number type of reverse-mode differentiation of a step.
//
//   y = f(a, b):   ā += ȳ ∂f/∂a,   b̄ += ȳ ∂f/∂b
//
// Provides the operations of physics/base/scalar.h, as Dual does (dual.h), with the same derivatives at kinks and ties:
// that of the side on which the value is; at a tie of min and max the mean; that of √0 counts as 0. A number that does
// not depend on any requested variable is a constant without a node. Never compiled by nvcc.
#pragma once

#include "cpu/tape.h"
#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

// The tape of the thread that records.
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

// The result x of an operation with these derivatives with respect to its operands; a constant if both are.
STICTION_FN Adjoint recorded(double x, std::uint32_t a, double to_a, std::uint32_t b = 0,
                             double to_b = 0) {
  return {x, (a | b) == 0 ? 0 : recording_tape->push(a, to_a, b, to_b)};
}
// Returns the node of a number if the result moves with it, else 0.
STICTION_FN std::uint32_t node_if(bool moves, Adjoint a) {
  return moves ? a.node : 0;
}

// A result that moves exactly with a single operand shares the operand's node.
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
// Two equal numbers on the tape may have different derivatives.
STICTION_FN bool differs(Adjoint a, Adjoint b) {
  return a.value != b.value || a.node != b.node;
}

STICTION_FN Adjoint select(bool m, Adjoint a, Adjoint b) {
  return m ? a : b;
}
// The derivative of equal operands is the mean, as of central differences: two geoms with the same friction share it.
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
// A step function: its derivative is zero.
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

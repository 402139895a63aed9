// Operations on a tape have the values and derivatives of dual numbers, at kinks and ties, too.
#include "cpu/adjoint.h"

#include <gtest/gtest.h>

#include "cpu/dual.h"
#include "physics/base/functions.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors of a test stay in it

namespace stiction::test {
namespace {

using namespace physics;

struct Gradient {
  double value, x, y;
};

template <class F>
Gradient forward(const F& f, double x, double y) {
  Dual a(x), b(y);
  a.tangent[0] = 1, b.tangent[1] = 1;
  const Dual z = f(a, b);
  return {z.value, z.tangent[0], z.tangent[1]};
}

template <class F>
Gradient backward(cpu::Tape& tape, const F& f, double x, double y) {
  tape.clear();
  recording_tape = &tape;
  const Adjoint a(x, tape.leaf()), b(y, tape.leaf());
  const Adjoint z = f(a, b);
  tape.bar(z.node) += 1;
  tape.sweep(3, tape.count());
  const Gradient g = {z.value, tape.take(1), tape.take(2)};
  tape.take(0);
  return g;
}

template <class F>
void compare(const char* name, const F& f) {
  cpu::Tape tape;
  for (const double x : {-2.0, -0.3, 0.0, 0.3, 1.7})
    for (const double y : {-2.0, -0.3, 0.3, 1.7}) {
      const Gradient expected = forward(f, x, y), found = backward(tape, f, x, y);
      EXPECT_DOUBLE_EQ(found.value, expected.value) << name << " of " << x << ", " << y;
      EXPECT_NEAR(found.x, expected.x, 1e-14 * (1 + std::fabs(expected.x)))
          << name << " of " << x << ", " << y;
      EXPECT_NEAR(found.y, expected.y, 1e-14 * (1 + std::fabs(expected.y)))
          << name << " of " << x << ", " << y;
    }
}

TEST(Adjoint, HasTheDerivativesOfDualNumbers) {
  compare("sum", [](auto x, auto y) { return x + y; });
  compare("sum with a constant",
          [](auto x, auto y) { return (decltype(x)(2.0) + x) + y + decltype(x)(1.0); });
  compare("difference", [](auto x, auto y) { return x - y; });
  compare("difference with a constant",
          [](auto x, auto y) { return (decltype(x)(2.0) - x) * (y - decltype(x)(3.0)); });
  compare("negative", [](auto x, auto y) { return -(x - y); });
  compare("product", [](auto x, auto y) { return x * y; });
  compare("square", [](auto x, auto y) { return x * x + y * y; });
  compare("product with a constant", [](auto x, auto y) { return 3.0 * x + decltype(x)(2.0) * y; });
  compare("product with 0", [](auto x, auto y) { return decltype(x)(0.0) * x + 0.0 * y; });
  compare("quotient", [](auto x, auto y) { return x / y; });
  compare("quotient of a constant", [](auto x, auto y) { return x + decltype(x)(2.0) / y; });
  compare("quotient by a constant", [](auto x, auto y) { return y + x / decltype(x)(2.0); });
  compare("least", [](auto x, auto y) { return vmin(x, y); });
  compare("most", [](auto x, auto y) { return vmax(x, y); });
  compare("least of the same", [](auto x, auto y) { return y * vmin(x, x); });
  compare("most with 0", [](auto x, auto y) { return y * vmax(x, decltype(x)(0.0)); });
  compare("root", [](auto x, auto y) { return y * vsqrt(x * x); });
  compare("absolute", [](auto x, auto y) { return y * vabs(x); });
  compare("rounded", [](auto x, auto y) { return y * vround(x); });
  compare("sign", [](auto x, auto y) { return vcopysign(x, y); });
  compare("selected", [](auto x, auto y) { return select(x < y, x * y, x - y); });
  compare("sine", [](auto x, auto y) { return sincos(x).sin * sincos(y).cos; });
  compare("angle", [](auto x, auto y) { return atan2(vabs(x), y); });
}

TEST(Adjoint, WhatDependsOnNoLeafLeavesNoNode) {
  cpu::Tape tape;
  recording_tape = &tape;
  const Adjoint x(2.0, tape.leaf()), c(3.0);
  const std::uint32_t count = tape.count();
  EXPECT_EQ((c * c / (c + c) - vsqrt(c)).node, 0U);
  EXPECT_EQ((Adjoint(0.0) * x).node, 0U);
  EXPECT_EQ((x + c).node, x.node);
  EXPECT_EQ(tape.count(), count);
  EXPECT_TRUE(differs(Adjoint(0.0, x.node), Adjoint(0.0)));
  EXPECT_FALSE(differs(c, Adjoint(3.0)));
}

TEST(Adjoint, ATapeGrowsAndKeepsItsNodes) {
  cpu::Tape tape;
  recording_tape = &tape;
  const std::size_t before = tape.bytes();
  const Adjoint x(1.0, tape.leaf());
  Adjoint sum(0.0);
  for (int i = 0; i < 100000; ++i) sum = sum + 2.0 * x;
  EXPECT_GT(tape.bytes(), before);
  tape.bar(sum.node) = 1;
  tape.sweep(2, tape.count());
  EXPECT_EQ(tape.take(x.node), 200000.0);
  const std::size_t grown = tape.bytes();
  tape.clear();
  EXPECT_EQ(tape.bytes(), grown);
}

TEST(Adjoint, SweepsSideBySideAreThoseOfEachNode) {
  cpu::Tape tape;
  recording_tape = &tape;
  const Adjoint before(5.0, tape.leaf());
  const std::uint32_t first = tape.count();
  Adjoint x[3];
  for (int i = 0; i < 3; ++i) x[i] = Adjoint(i + 1.0, tape.leaf());
  std::uint32_t nodes[10];
  double expected[30] = {};
  for (int r = 0; r < 10; ++r) {
    const int i = r % 3, j = (r + 1) % 3;
    nodes[r] = r == 9 ? 0 : (before * x[i] + double(r) * (x[j] * x[j])).node;
    if (r == 9) continue;
    expected[3 * r + i] += 5;
    expected[3 * r + j] += 2 * r * x[j].value;
  }
  for (int again = 0; again < 2; ++again) {
    double matrix[30];
    tape.derivatives(first, 3, tape.count(), nodes, 10, matrix);
    for (int k = 0; k < 30; ++k) EXPECT_DOUBLE_EQ(matrix[k], expected[k]) << k;
  }
}

}  // namespace
}  // namespace stiction::test

// Barriers as normal laws: force of the papers' formulas, derivatives, convexity, the end at the resolved
// gap, and a mass that hangs on one.
#include "reference/law/normal_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/solver/newton.h"

namespace stiction::reference {
namespace {

constexpr double kDt = .01, kKappa = .3, kDistance = .02;

// "Irrotational Contact Fields", (27) and the force of IX-B, as printed.
double printed_force(const LogBarrier& b, double phi) {
  return b.kappa / phi;
}
double printed_force(const IpcBarrier& b, double phi) {
  const double u = std::max(b.distance - phi, 0.);
  return b.kappa * u * (u / phi - 2 * std::log(phi / b.distance));
}

template <class Barrier>
Barrier make();
template <>
LogBarrier make() {
  return {kKappa};
}
template <>
IpcBarrier make() {
  return {40 * kKappa, kDistance};
}

template <class Barrier>
void force_is_the_papers() {
  const Barrier b = make<Barrier>();
  for (const double phi : {1e-6, 1e-3, .005, .0199, .0201, .5})
    EXPECT_NEAR(b.at(phi).impulse, printed_force(b, phi), 1e-13 * printed_force(b, phi)) << phi;
}

// γ = −ℓ' and −γ' = ℓ'' by central differences of relative width 1e-5: their truncation is 1e-10 of the
// derivative, their round-off 1e-16/1e-5 of the potential.
template <class Barrier>
void derivatives() {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> exponent(-5, 0);
  for (int i = 0; i < 1000; ++i) {
    const double phi0 = std::pow(10, exponent(random)), phi = std::pow(10, exponent(random));
    const BarrierLaw<Barrier> law(kDt, make<Barrier>(), phi0, 1);
    const double v = (phi - phi0) / kDt, h = 1e-5 * phi / kDt;
    const Scalar at = law.at(v), above = law.at(v + h), below = law.at(v - h);
    if (phi > .9 * kDistance && std::is_same_v<Barrier, IpcBarrier>) {
      EXPECT_TRUE(phi <= kDistance || at.impulse == 0);
      continue;  // potential and force vanish: nothing to be relative to
    }
    // v itself is rounded to 1e-16 of phi0/δt, which a difference sees as 1e-16 phi0/(1e-5 phi)
    const double cut = 1e-7 + 1e-10 * phi0 / phi;
    ASSERT_NEAR(-(above.cost - below.cost) / (2 * h), at.impulse,
                cut * at.impulse + 1e-10 * std::abs(at.cost) / h * 1e-5);
    ASSERT_NEAR(-(above.impulse - below.impulse) / (2 * h), at.hessian, cut * at.hessian);
    ASSERT_GT(at.hessian, 0);
    ASSERT_GT(at.impulse, 0);
  }
}

// Convex, with continuous derivatives, also where the parabola takes over; and finite below.
template <class Barrier>
void ends_as_the_stiffest_law() {
  const double w = 2, phi0 = 1e-9;
  const BarrierLaw<Barrier> law(kDt, make<Barrier>(), phi0, w);
  double last = std::numeric_limits<double>::infinity();
  for (double phi = -phi0; phi < 3 * phi0; phi += 1e-2 * phi0) {
    const Scalar at = law.at((phi - phi0) / kDt);
    ASSERT_TRUE(std::isfinite(at.cost));
    ASSERT_GT(at.impulse, 0);
    ASSERT_LE(at.impulse, last);
    ASSERT_LE(at.hessian * w, kStiffest * (1 + 1e-6));  // κ̂/φ² to the size of φ/d̂
    last = at.impulse;
  }
  EXPECT_NEAR(law.at(-2 * phi0 / kDt).hessian * w, kStiffest, 1e-6 * kStiffest);
  // the seam, seen from both sides
  const double resolved =
      kDt * std::sqrt(w / kStiffest *
                      (std::is_same_v<Barrier, LogBarrier> ? kKappa
                                                           : 40 * kKappa * kDistance * kDistance));
  const Scalar above = law.at((1.0001 * resolved - phi0) / kDt);
  const Scalar below = law.at((.9999 * resolved - phi0) / kDt);
  EXPECT_NEAR(above.impulse, below.impulse, 3e-4 * above.impulse);
  EXPECT_NEAR(above.hessian, below.hessian, 5e-4 * above.hessian);
}

// A point mass that falls towards a barrier: m (v − v0 + g δt) = δt f(φ0 + δt v), solved for v.
template <class Barrier>
void stops_a_point_mass() {
  const double m = 2, g = 9.81;
  for (const double v0 : {-.1, -5., -200.}) {
    const double phi0 = .015;
    Problem problem;
    problem.A = m * MatX::Identity(3, 3);
    problem.v_star = Vec3(0, 0, v0 - g * kDt);
    ContactLaw law;
    law.eps = 1e-4;
    law.normal = BarrierLaw<Barrier>(kDt, make<Barrier>(), phi0, 1 / m);
    problem.points.push_back({Mat3X::Identity(3, 3), law});
    const Solution s = solve(problem, Vec3(0, 0, -.5 * phi0 / kDt), 1e-10, 50);
    EXPECT_EQ(s.status, Status::ok);
    const double v = s.v.z(), phi = phi0 + kDt * v;
    EXPECT_GT(phi, 0);
    const double impulse = kDt * printed_force(make<Barrier>(), phi);
    EXPECT_NEAR(m * (v - v0 + g * kDt), impulse, 1e-9 * impulse);
  }
}

TEST(Barriers, ForceIsThePapers) {
  force_is_the_papers<LogBarrier>();
  force_is_the_papers<IpcBarrier>();
}
TEST(Barriers, Derivatives) {
  derivatives<LogBarrier>();
  derivatives<IpcBarrier>();
}
TEST(Barriers, EndsAsTheStiffestLaw) {
  ends_as_the_stiffest_law<LogBarrier>();
  ends_as_the_stiffest_law<IpcBarrier>();
}
TEST(Barriers, StopsAPointMass) {
  stops_a_point_mass<LogBarrier>();
  stops_a_point_mass<IpcBarrier>();
}

}  // namespace
}  // namespace stiction::reference

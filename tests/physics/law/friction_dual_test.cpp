// Curvatures that Newton's method takes of the lagged law: those of a dual, and chords.
#include "physics/law/friction_dual.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>

#include "math.h"

namespace stiction::test {
namespace {

using namespace physics;

Eigen::Vector3d eigen(const physics::Vec3<double>& v) {
  return {v.x, v.y, v.z};
}
physics::Vec3<double> vec(const Eigen::Vector3d& v) {
  return {v.x(), v.y(), v.z()};
}
Eigen::Matrix3d dense(const Sym3<double>& s) {
  Eigen::Matrix3d m;
  m << s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz;
  return m;
}

struct Random {
  std::mt19937 rng{7};
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng); }
  Eigen::Vector3d direction() {
    return Eigen::Vector3d(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)).normalized();
  }
  Eigen::Vector3d across(const Eigen::Vector3d& n) { return n.cross(direction()).normalized(); }
  // one of the constants F, D of a law is 0
  SlipLaw<double> law() {
    const double d = uniform(0, 40), a = uniform(1, 200);
    SlipLaw<double> c = {uniform(.1, 1), uniform(.01, 1), 1e-3, a, 0, uniform(0, 2), d, 4e-3};
    if (uniform(0, 1) < .5) c.c2 = uniform(0, 50), c.c3 = 0;
    return c;
  }
};

// z = t is the curvature of the law, z = 0 the parabola that bounds it; all between are positive and below twice of that.
TEST(FrictionDual, CurvatureIsPositiveAndExactAtTheSlip) {
  Random random;
  for (int i = 0; i < 2000; ++i) {
    const Eigen::Vector3d n = random.direction();
    const SlipLaw<double> slip = random.law();
    const ContactLaw<double> law = {vec(n), zero3<double>(), slip};
    const Eigen::Vector3d v = random.uniform(1e-4, .1) * random.direction();
    const physics::Vec3<double> x = physics::slip(law, n.dot(v), vec(v));
    const SlipValue<double> at = lagged(slip, n.dot(v), norm2(x));
    const physics::Vec3<double> t = at.r * x;
    const auto curvature = [&](const physics::Vec3<double>& z) {
      return dense(dual_curvature(at.normal, at.drag, vec(n), t, z));
    };
    const double scale = at.normal + at.drag;
    const Eigen::Matrix3d exact = dense(evaluate(kLagged, law, vec(v)).hess);
    const Eigen::Matrix3d bound = dense(evaluate(kLagged, law, vec(v), Curvature::bounding).hess);
    EXPECT_LT((curvature(t) - exact).norm(), 1e-13 * scale);
    EXPECT_LT((curvature(zero3<double>()) - bound).norm(), 1e-13 * scale);

    const physics::Vec3<double> z = bounded_dual(vec(random.uniform(0, 20) * random.across(n)));
    EXPECT_LT(norm(z), 1);
    const Eigen::Matrix3d plane = curvature(z) - at.normal * n * n.transpose();
    const auto eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(plane).eigenvalues();
    EXPECT_NEAR(eigenvalues[0], 0, 1e-13 * scale);  // along n
    EXPECT_GT(eigenvalues[1], 0);
    EXPECT_LT(eigenvalues[2], 2 * at.drag);
  }
}

// Newton's step of den z = x, linear in z: what is left after a step h of x is of second order in h and z − t.
TEST(FrictionDual, FollowsTheSlipToSecondOrder) {
  Random random;
  for (int i = 0; i < 500; ++i) {
    const double eps = random.uniform(.1, 1);
    const Eigen::Vector3d n = random.direction(), x = random.uniform(0, 1) * random.across(n);
    const Eigen::Vector3d d = random.across(n), away = random.across(n);
    const auto unit = [&](const Eigen::Vector3d& y) -> Eigen::Vector3d {
      return y / std::sqrt(y.squaredNorm() + eps * eps);
    };
    const double den = std::sqrt(x.squaredNorm() + eps * eps);
    const auto left = [&](double h) {
      const Eigen::Vector3d z = unit(x) + h * away;
      const physics::Vec3<double> next = next_dual(1 / den, vec(unit(x)), vec(z), vec(h * d));
      return (eigen(next) - eigen(bounded_dual(vec(unit(x + h * d))))).norm();
    };
    EXPECT_LT(left(1e-3), 50 * 1e-6 / (eps * eps)) << eps;
    EXPECT_LT(left(1e-5), 50 * 1e-10 / (eps * eps)) << eps;
  }
}

// Chord to the impulse λ: γ(u) − G (u − u_λ) = λ, and its limit is the tangent.
TEST(FrictionDual, ChordEndsWhereTheLawHasTheImpulse) {
  Random random;
  int opens = 0, closes = 0;
  for (int i = 0; i < 2000; ++i) {
    const SlipLaw<double> c = random.law();
    const double u = random.uniform(-.1, .2), there = random.uniform(0, .2);
    const double lambda = hunt_crossley(c, -there).impulse, at = hunt_crossley(c, -u).impulse;
    const double G = chord_curvature(c, -u, lambda);
    EXPECT_NEAR(at - G * (u - there), lambda, 1e-12 * (at + lambda)) << u << " " << there;
    EXPECT_NEAR(chord_curvature(c, -there, lambda), hunt_crossley(c, -there).hess,
                1e-12 * hunt_crossley(c, -there).hess);
    EXPECT_GE(G, 0);
    ++(u < 0 ? opens : closes);
  }
  EXPECT_GT(opens, 200);
  EXPECT_GT(closes, 200);
  const SlipLaw<double> none = {1, 0, 1e-3, 0, 0, 0, 0, 4e-3};
  EXPECT_EQ(chord_curvature(none, -.1, 0.), 0);
  EXPECT_EQ(chord_curvature(none, .1, 0.), 0);
}

// (1/w + G)(u − u*) = γ(u) − γ(u*) + (u − u*)/w = γ(u): one step of a point that only lands is its solution.
TEST(FrictionDual, OneStepOfALandingPointIsItsSolution) {
  Random random;
  for (int i = 0; i < 2000; ++i) {
    const SlipLaw<double> c = random.law();
    const double u = random.uniform(1e-3, 20), w = random.uniform(.1, 10);
    const double G = landing_curvature(c, -u, w);
    const double rest = u - hunt_crossley(c, -u).impulse / (1 / w + G);
    EXPECT_NEAR((u - rest) / w, hunt_crossley(c, -rest).impulse, 1e-11 * u / w);
    EXPECT_EQ(landing_curvature(c, u, w), 0);
  }
}

}  // namespace
}  // namespace stiction::test

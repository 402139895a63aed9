// Torsional and rolling friction in world axes against the reference engine's in the contact frame.
#include "physics/law/couple_law.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>

#include "math.h"
#include "reference/law/couple_law.h"

namespace stiction::test {
namespace {

using namespace physics;

stiction::Mat3 dense(const Sym3<double>& g) {
  stiction::Mat3 m;
  m << g.xx, g.xy, g.xz, g.xy, g.yy, g.yz, g.xz, g.yz, g.zz;
  return m;
}
stiction::Vec3 dense(const physics::Vec3<double>& v) {
  return {v.x, v.y, v.z};
}
physics::Vec3<double> vec(const stiction::Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

struct Point {
  stiction::Mat3 frame;  // columns t1, t2, n
  reference::CoupleLaw reference;
  physics::CoupleLaw<double> law;
};
class RandomPoints {
 public:
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  stiction::Vec3 direction() {
    return stiction::Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)).normalized();
  }
  // Below condim 6 without rolling friction, now and then.
  Point operator()(int i) {
    Point p;
    const stiction::Vec3 n = direction(), t = n.cross(direction()).normalized();
    p.frame << t, n.cross(t), n;
    reference::CoupleLaw& r = p.reference;
    r.torsion = uniform(0, .05), r.rolling = i % 10 == 0 ? 0 : uniform(0, .02);
    r.n0 = uniform(0, .1), r.eps_torsion = 1e-2, r.eps_rolling = 3e-2;
    r.shift = 1e-2 * direction();
    p.law = {vec(n),
             vec(p.frame * r.shift),
             {r.torsion * r.n0, r.eps_torsion},
             {r.rolling * r.n0, r.eps_rolling}};
    return p;
  }

 private:
  std::mt19937 rng_{5};
};

TEST(CoupleLaw, AgreesWithTheReferenceInItsFrame) {
  RandomPoints random;
  for (int i = 0; i < 3000; ++i) {
    const Point p = random(i);
    const stiction::Vec3 omega = random.uniform(1e-3, 5) * random.direction();
    const auto r = reference::evaluate(p.reference, p.frame.transpose() * omega);
    const ContactValue<double> c = evaluate(p.law, vec(omega));
    // a few roundings of the rotation
    EXPECT_LT((dense(c.impulse) - p.frame * r.impulse).norm(), 1e-12 * (r.impulse.norm() + 1e-6));
    const stiction::Mat3 hess = p.frame * r.hessian * p.frame.transpose();
    EXPECT_LT((dense(c.hess) - hess).norm(), 1e-10 * (hess.norm() + 1e-6));
  }
}

// γ = −ℓ' and G = ℓ'' by central differences; both kinds of friction only brake.
TEST(CoupleLaw, DerivativesOfTheCost) {
  RandomPoints random;
  for (int i = 0; i < 1000; ++i) {
    const reference::CoupleLaw law = random(i).reference;
    const stiction::Vec3 omega = .1 * random.direction(), h = 1e-6 * random.direction();
    const auto a = reference::evaluate(law, omega - h), b = reference::evaluate(law, omega + h);
    const auto c = reference::evaluate(law, omega);
    // of fourth order beside eps = 1e-2: (1e-6/1e-2)^2, and the round-off of the differences
    EXPECT_NEAR(b.cost - a.cost, -2 * c.impulse.dot(h), 1e-6 * c.impulse.norm() * 1e-6 + 1e-18);
    EXPECT_LT((b.impulse - a.impulse + 2 * c.hessian * h).norm(),
              1e-6 * c.hessian.norm() * 1e-6 + 1e-17);
    EXPECT_LE(c.impulse.dot(omega + law.shift), 0);
    EXPECT_LE(std::abs(c.impulse.z()), law.torsion * law.n0);
    EXPECT_LE(c.impulse.head<2>().norm(), law.rolling * law.n0);
  }
}

TEST(CoupleLaw, BoundingCurvatureIsAboveTheCurvature) {
  RandomPoints random;
  int larger = 0;
  for (int i = 0; i < 1000; ++i) {
    const Point p = random(i);
    const physics::Vec3<double> omega = vec(random.uniform(1e-3, 1) * random.direction());
    const ContactValue<double> exact = evaluate(p.law, omega);
    const ContactValue<double> bounding = evaluate(p.law, omega, Curvature::bounding);
    EXPECT_EQ(norm2(exact.impulse - bounding.impulse), 0);
    const stiction::Mat3 G = dense(bounding.hess), rest = G - dense(exact.hess);
    const auto eigenvalues = Eigen::SelfAdjointEigenSolver<stiction::Mat3>(rest).eigenvalues();
    EXPECT_GE(eigenvalues.minCoeff(), -1e-13 * G.norm());
    if (rest.norm() > .01 * G.norm()) ++larger;
  }
  EXPECT_GT(larger, 300);
}

TEST(CoupleLaw, AlongALine) {
  RandomPoints random;
  for (int i = 0; i < 1000; ++i) {
    const Point p = random(i);
    const physics::Vec3<double> omega = vec(.1 * random.direction()),
                                d = vec(.2 * random.direction());
    const PointLine<double> line = couple_line(p.law, omega, d);
    const double alpha = random.uniform(0, 2);
    const LineValue<double> value = evaluate_line(p.law.torsion, p.law.rolling, line, alpha);
    const ContactValue<double> c = evaluate(p.law, omega + alpha * d);
    EXPECT_NEAR(value.slope, -dot(d, c.impulse), 1e-12 * (norm(c.impulse) + 1e-6));
    EXPECT_NEAR(value.curvature, dot(d, c.hess * d), 1e-10 * (std::abs(value.curvature) + 1e-6));
  }
}

// ε = v_s μ/μ_t at light loads, σ w_ω μ_t n0 at heavy ones.
TEST(CoupleLaw, SpeedOfTheSoftNorm) {
  ModelView m{};
  m.opt.stiction_tolerance = 1e-4, m.opt.regularization = 1e-3;
  const auto expect = [&](double mu, double coefficient, double n0, double eps) {
    EXPECT_DOUBLE_EQ(reference::turning_scale(1e-4, 1e-3, 50, mu, coefficient, n0), eps);
    EXPECT_DOUBLE_EQ(physics::turning_scale<double>(m, 50, mu, coefficient, n0), eps);
  };
  expect(.8, .02, 0, 1e-4 * .8 / .02);
  expect(.8, .02, 100, 1e-3 * 50 * .02 * 100);
  expect(0, .02, 0, 1e-4 * 1e-5 / .02);
  expect(.8, 0, 1, 1e-4);
}

}  // namespace
}  // namespace stiction::test

// The laws of points and rows in world axes against the reference engine's in the contact frame.
#include "physics/law/contact_law.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>

#include "math.h"
#include "physics/constraint/servos.h"
#include "reference/law/contact_law.h"
#include "reference/law/row_laws.h"

namespace stiction::test {
namespace {

using namespace physics;
constexpr double kDt = 4e-3, kK = 2e4;

struct Point {
  stiction::Mat3 frame;  // columns t1, t2, n
  reference::ContactLaw reference;
  physics::ContactLaw<double> law;
  double v_hat;  // from which the law counts the normal velocity
  stiction::Vec3 from_root(const stiction::Vec3& v) const { return v - v_hat * frame.col(2); }
};
physics::Vec3<double> vec(const stiction::Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

class RandomPoints {
 public:
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  stiction::Vec3 direction() {
    return stiction::Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)).normalized();
  }
  Point operator()(ContactModel model) {
    Point p;
    const stiction::Vec3 n = direction(), t = n.cross(direction()).normalized();
    p.frame << t, n.cross(t), n;
    const double gap = uniform(-1e-3, 1e-3), d = uniform(0, 40), f_e0 = -kK * gap, a = kDt * kK;
    reference::ContactLaw& r = p.reference;
    r.model = model, r.mu = uniform(0, 1), r.n0 = uniform(0, .1), r.eps = 1e-3;
    r.normal = reference::HuntCrossley(kDt, kK, d, f_e0);
    if (model != ContactModel::sap) r.shift = Vec2(uniform(-1e-3, 1e-3), uniform(-1e-3, 1e-3));
    reference::set_sap(r, kDt, kK, uniform(0, .1), 1, 1e-3, uniform(.1, 2), gap);
    p.law = {vec(n),
             vec(p.frame.leftCols<2>() * r.shift),
             {r.mu, r.n0, r.eps, a, 0, 1 - d * f_e0 / a, d, kDt}};
    p.v_hat = f_e0 / a;
    physics::SlipLaw<double>& slip = p.law.slip;
    if (d * f_e0 > a) p.v_hat = 1 / d, slip.c2 = f_e0 - a / d, slip.c3 = 0;
    if (model == ContactModel::sap)
      p.v_hat = r.v_hat, slip.c1 = 1 / r.R_n, slip.c2 = 1 / r.R_t, slip.c3 = 0;
    return p;
  }

 private:
  std::mt19937 rng_{5};
};

ContactValue<double> evaluate_law(ContactModel model, const physics::ContactLaw<double>& law,
                                  const physics::Vec3<double>& v) {
  return evaluate(static_cast<int>(model), law, v);
}
template <class S>
stiction::Mat3 dense(const Sym3<S>& g) {
  stiction::Mat3 m;
  m << g.xx, g.xy, g.xz, g.xy, g.yy, g.yz, g.xz, g.yz, g.zz;
  return m;
}

TEST(ContactLaw, AgreesWithTheReferenceInItsFrame) {
  RandomPoints random;
  int pressed = 0;
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap})
    for (int i = 0; i < 3000; ++i) {
      Point p = random(model);
      if (i % 10 == 0) p.reference.mu = p.law.slip.mu = 0;
      const stiction::Vec3 v = random.uniform(1e-4, .5) * random.direction();
      const reference::ContactEvaluation r =
          reference::evaluate(p.reference, p.frame.transpose() * v);
      const ContactValue<double> c = evaluate_law(model, p.law, vec(p.from_root(v)));
      const stiction::Vec3 impulse(c.impulse.x, c.impulse.y, c.impulse.z);
      // a few roundings of the rotation, the sums cancel by at most the ratio of their parts
      EXPECT_LT((impulse - p.frame * r.impulse).norm(), 1e-11 * (r.impulse.norm() + 1e-3));
      const stiction::Mat3 hess = p.frame * r.hessian * p.frame.transpose();
      EXPECT_LT((dense(c.hess) - hess).norm(), 1e-10 * (hess.norm() + 1e-3));
      if (r.impulse.norm() > 0) ++pressed;
    }
  EXPECT_GT(pressed, 3000);
}

TEST(ContactLaw, CurvatureIsTheDerivativeOfTheImpulse) {
  RandomPoints random;
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap})
    for (int i = 0; i < 1000; ++i) {
      const Point p = random(model);
      const stiction::Vec3 v = .1 * random.direction(), h = 1e-7 * random.direction();
      const auto at = [&](const stiction::Vec3& x) {
        return evaluate_law(model, p.law, vec(p.from_root(x)));
      };
      const ContactValue<double> a = at(v - h), b = at(v + h), c = at(v);
      const stiction::Vec3 change(b.impulse.x - a.impulse.x, b.impulse.y - a.impulse.y,
                                  b.impulse.z - a.impulse.z);
      const stiction::Vec3 expected = -2 * dense(c.hess) * h;
      // central difference over 1e-7 against eps = 1e-3: 1e-8 and round-off 1e-9; a kink between the
      // two points is rare
      if ((dense(b.hess) - dense(a.hess)).norm() > 1e-2 * dense(c.hess).norm()) continue;
      EXPECT_LT((change - expected).norm(), 1e-5 * dense(c.hess).norm() * 1e-7 + 1e-15);
    }
}

// G_b ⪰ G everywhere, with the same impulse; of Lagged friction its parabola lies nowhere below ℓ, so
// that a step with it never goes too far.
TEST(ContactLaw, BoundingCurvatureIsAboveTheCurvature) {
  RandomPoints random;
  int larger = 0;
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap})
    for (int i = 0; i < 2000; ++i) {
      const Point p = random(model);
      const int law = static_cast<int>(model);
      const stiction::Vec3 v = random.uniform(1e-4, .1) * random.direction();
      const ContactValue<double> exact = evaluate(law, p.law, vec(p.from_root(v)));
      const ContactValue<double> bounding =
          evaluate(law, p.law, vec(p.from_root(v)), Curvature::bounding);
      EXPECT_EQ(norm2(exact.impulse - bounding.impulse), 0);
      const stiction::Mat3 G = dense(bounding.hess), rest = G - dense(exact.hess);
      const auto eigenvalues = Eigen::SelfAdjointEigenSolver<stiction::Mat3>(rest).eigenvalues();
      EXPECT_GE(eigenvalues.minCoeff(), -1e-13 * G.norm());  // roundings of the sums
      if (rest.norm() > .01 * G.norm()) ++larger;
      if (model != ContactModel::lagged) continue;
      // along the tangent plane, where n(v_n) does not move
      const stiction::Vec3 d =
          p.frame.leftCols<2>() * Vec2(random.uniform(-.1, .1), random.uniform(-.1, .1));
      const auto cost = [&](const stiction::Vec3& x) {
        return reference::evaluate(p.reference, p.frame.transpose() * x).cost;
      };
      const stiction::Vec3 impulse(bounding.impulse.x, bounding.impulse.y, bounding.impulse.z);
      const double parabola = cost(v) - d.dot(impulse) + .5 * d.dot(G * d);
      EXPECT_LE(cost(v + d), parabola + 1e-13 * (std::abs(parabola) + std::abs(cost(v))));
    }
  EXPECT_GT(larger, 2000);
}

TEST(ContactLaw, AlongALineIsThePowerOfTheFullLaw) {
  RandomPoints random;
  int slides = 0, pressed = 0;
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap})
    for (int i = 0; i < 3000; ++i) {
      const Point p = random(model);
      const stiction::Vec3 v = random.uniform(1e-4, .1) * random.direction();
      stiction::Vec3 d = random.uniform(1e-4, .1) * random.direction();
      if (i % 10 == 0) d = random.uniform(-1, 1) * p.frame.col(2);  // nothing along the plane
      if (i % 10 == 1) d = -v;                                      // to the kink of friction
      const PointLine<double> line = point_line(p.law, vec(p.from_root(v)), vec(d));
      for (const double alpha : {0., .3, .999, 1.}) {
        const ContactValue<double> c = evaluate_law(model, p.law, vec(p.from_root(v + alpha * d)));
        const LineValue<double> l = evaluate_line(static_cast<int>(model), p.law.slip, line, alpha);
        const stiction::Vec3 impulse(c.impulse.x, c.impulse.y, c.impulse.z);
        const stiction::Mat3 G = dense(c.hess);
        // v + α d rounds to 1e-17, which the curvature amplifies, by 1 / eps more in itself
        EXPECT_NEAR(l.slope, -d.dot(impulse), 1e-11 * d.norm() * (impulse.norm() + G.norm() * .1));
        EXPECT_NEAR(l.curvature, d.dot(G * d), 1e-10 * d.squaredNorm() * (G.norm() + 1e-3));
        if (impulse.norm() > 0) ++pressed;
        if ((G * p.frame.leftCols<2>()).norm() > 0) ++slides;
      }
    }
  EXPECT_GT(pressed, 12000);
  EXPECT_GT(slides, 12000);
}

// Two fingers that part, a foot that lands straight: the slip is the round-off of a velocity along
// the normal, at the edge of contact, where the friction of SAP is 1000 times as stiff as the rest.
TEST(ContactLaw, RoundOffInsteadOfSlipKeepsTheCurvaturePositive) {
  RandomPoints random;
  int slides = 0, sticks = 0;
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap})
    for (int i = 0; i < 3000; ++i) {
      const stiction::Vec3 n = random.direction();
      const Eigen::Vector3f normal = n.cast<float>();
      const Eigen::Vector3f v = (-random.uniform(.1, 10) * n).cast<float>();
      const float v_n = normal.dot(v), edge = v_n * (1 + float(random.uniform(-1, 5)) * 1e-6f);
      physics::ContactLaw<float> law = {{normal.x(), normal.y(), normal.z()}, {0, 0, 0}, {}};
      const bool sap = model == ContactModel::sap;
      law.slip = {1, .01f, 1e-4f, .1f, sap ? 175.f : 0, 1, 0, float(kDt)};
      const physics::Vec3<float> u{v.x(), v.y(), v.z()};
      const physics::Vec3<float> x =
          sap ? tangential(law.normal, v_n, u) + (v_n - edge) * law.normal : u;
      const ContactValue<float> c = evaluate(static_cast<int>(model), law, x);
      const stiction::Vec3 impulse(c.impulse.x, c.impulse.y, c.impulse.z);
      const double pressed = n.dot(impulse), across = (impulse - pressed * n).norm();
      const double bound = model == ContactModel::lagged ? .01 : pressed;
      // γ and G are sums of a few terms, each rounded
      EXPECT_GE(pressed, -1e-6 * across);
      EXPECT_LE(across, (1 + 1e-5) * bound + 1e-20);
      const stiction::Mat3 G = dense(c.hess);
      const auto eigenvalues = Eigen::SelfAdjointEigenSolver<stiction::Mat3>(G).eigenvalues();
      EXPECT_GE(eigenvalues.minCoeff(), -1e-6 * eigenvalues.maxCoeff());
      if (sap && pressed > 0) ++(across > .999 * pressed ? slides : sticks);
    }
  EXPECT_GT(slides, 100);
  EXPECT_GT(sticks, 100);
}

TEST(ContactLaw, InactiveAndConstantPoints) {
  physics::ContactLaw<double> law = {{0, 0, 1}, {0, 0, 0}, {0, 0, 1, 0, 0, 0, 0, kDt}};
  for (const ContactModel model :
       {ContactModel::lagged, ContactModel::similar, ContactModel::sap}) {
    const ContactValue<double> c = evaluate_law(model, law, {1, -2, -3});
    EXPECT_EQ(norm2(c.impulse), 0);
    EXPECT_EQ(dense(c.hess).norm(), 0);
  }
}

TEST(RowLaw, AgreesWithTheReference) {
  RandomPoints random;
  for (int i = 0; i < 3000; ++i) {
    const double v = random.uniform(-1, 1), w = random.uniform(1e-12, 2);
    const double below = random.uniform(-.01, .01), above = random.uniform(-.01, .01);
    const reference::LimitLaw lower = reference::limit_law(kDt, w, below);
    const reference::LimitLaw upper = reference::limit_law(kDt, w, above);
    const double R = kRowNearRigid * w;
    EXPECT_NEAR(R, lower.R, 1e-15 * R);
    const LimitLaw<double> law{lower.v_hat, 1 / R, upper.v_hat};
    const RowValue<double> limit = row_law(law, v);
    const double scale = (std::abs(v) + std::abs(lower.v_hat) + std::abs(upper.v_hat)) / R;
    const reference::Scalar l = lower.at(v), u = upper.at(-v);
    EXPECT_NEAR(limit.impulse, l.impulse - u.impulse, 1e-14 * scale);
    EXPECT_NEAR(limit.hess, l.hessian + u.hessian, 1e-14 / R);
    EXPECT_NEAR(row_load(law, v), l.impulse + u.impulse, 1e-14 * scale);

    const reference::DryFrictionLaw friction{w, .3 * random.uniform(0, 1) / w,
                                             random.uniform(-.1, .1)};
    const RowValue<double> f = row_law(
        BoundedLaw<double>{friction.v_hat, 1 / friction.R, -friction.bound, friction.bound}, v);
    EXPECT_NEAR(f.impulse, friction.at(v).impulse, 1e-14 / w);
    EXPECT_EQ(f.hess, 1 / friction.R * (friction.at(v).hessian > 0 ? 1 : 0));

    const reference::ServoGains gains{random.uniform(0, 1e5), random.uniform(0, 100)};
    const reference::ServoGains soft = reference::near_rigid_gains(gains, kDt, w);
    const double kappa = kDt * gains.kp + gains.kd;
    EXPECT_NEAR(servo_softening(kDt, kappa, w), soft.kp / gains.kp, 1e-14);
    const reference::ServoLaw servo{kDt, random.uniform(-9, 9), random.uniform(1, 9), -5, 6};
    const RowValue<double> s = row_law<double>(
        {servo.force0 / servo.kappa, kDt * servo.kappa, kDt * servo.lower, kDt * servo.upper}, v);
    EXPECT_NEAR(s.impulse, servo.at(v).impulse, 1e-15);
    EXPECT_NEAR(s.hess, servo.at(v).hessian, 1e-15);
  }
  // no row in this lane
  EXPECT_EQ(row_law(BoundedLaw<double>{0, 0, 0, 0}, 1.0).impulse, 0);
  EXPECT_EQ(row_law(BoundedLaw<double>{0, 0, 0, 0}, 0.0).hess, 0);
}

// −γ' = ℓ'' >= 0, by central differences away from the kinks; the impulse is continuous at them.
TEST(RowLaw, DerivativesAndBounds) {
  RandomPoints random;
  int inside = 0, beyond = 0;
  for (int i = 0; i < 3000; ++i) {
    const double lower = random.uniform(-1, 0);
    const BoundedLaw<double> law{random.uniform(-1, 1), random.uniform(.1, 9), lower,
                                 lower + random.uniform(0, 2)};
    const double v = random.uniform(-2, 2), h = 1e-6;
    const RowValue<double> at = row_law(law, v);
    EXPECT_GE(at.impulse, law.lower);
    EXPECT_LE(at.impulse, law.upper);
    const double y = law.inv_R * (law.v_hat - v);
    if (std::min(std::abs(y - law.lower), std::abs(y - law.upper)) < 20 * h) continue;
    const double slope = (row_law(law, v - h).impulse - row_law(law, v + h).impulse) / (2 * h);
    EXPECT_NEAR(at.hess, slope, 1e-8 * law.inv_R);
    ++(at.hess > 0 ? inside : beyond);
  }
  EXPECT_GT(inside, 200);
  EXPECT_GT(beyond, 500);
}

}  // namespace
}  // namespace stiction::test

#include "model/mesh/inertia.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "stiction/error.h"

namespace stiction::model {
namespace {

using G = GeomType;

// Closed forms of a few operations: 1e-14 is forty times the round-off of double.
constexpr double kRoundOff = 1e-14;

struct Primitive {
  G type;
  Vec3 size;
  double solid_mass, shell_mass;      // kg, at density 1000 kg/m³ (kg/m²)
  Vec3 solid_moments, shell_moments;  // kg m², of 2 kg
};

// Masses and moments that MuJoCo 4.0.0 compiles for a body of one geom.
const Primitive kPrimitives[] = {
    {G::sphere,
     {0.3, 0, 0},
     113.09733552923255,
     1130.9733552923256,
     {0.072, 0.072, 0.072},
     {0.12, 0.12, 0.12}},
    {G::capsule,
     {0.2, 0.5, 0},
     159.1740277818829,
     1759.291886010284,
     {0.2909473684210526, 0.2909473684210526, 0.03831578947368422},
     {0.3628571428571429, 0.3628571428571429, 0.07238095238095238}},
    {G::ellipsoid,
     {0.2, 0.35, 0.5},
     146.60765716752366,
     1508.0926913690923,
     {0.149, 0.116, 0.065},
     {0.21798605845287966, 0.172812062457524, 0.10963806646486773}},
    {G::cylinder,
     {0.2, 0.5, 0},
     125.66370614359174,
     1507.9644737231006,
     {0.18666666666666668, 0.18666666666666668, 0.04},
     {0.25888888888888884, 0.25888888888888884, 0.07333333333333333}},
    {G::box,
     {0.2, 0.3, 0.5},
     240,
     2480,
     {0.22666666666666666, 0.19333333333333336, 0.08666666666666667},
     {0.32989247311827957, 0.28365591397849466, 0.15118279569892473}},
};

void expect_near_relative(const Vec3& a, const Vec3& b, double tolerance) {
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), tolerance * b.cwiseAbs().maxCoeff())
      << a.transpose() << " against " << b.transpose();
}

TEST(Inertia, SolidPrimitivesAreMuJoCos) {
  for (const Primitive& p : kPrimitives) {
    SCOPED_TRACE(static_cast<int>(p.type));
    const double mass = primitive_mass(p.type, p.size, std::nullopt, 1000).mass;
    EXPECT_NEAR(mass, p.solid_mass, kRoundOff * p.solid_mass);
    const MassProperties solid = primitive_mass(p.type, p.size, 2.0, 1000);
    expect_near_relative(solid.inertia.diagonal(), p.solid_moments, kRoundOff);
  }
}

TEST(Inertia, ShellsAreMuJoCos) {
  for (const Primitive& p : kPrimitives) {
    SCOPED_TRACE(static_cast<int>(p.type));
    const double mass = primitive_mass(p.type, p.size, std::nullopt, 1000, true).mass;
    EXPECT_NEAR(mass, p.shell_mass, kRoundOff * p.shell_mass);
    // MuJoCo takes an ellipsoidal layer of 1e-6 m, not its limit: 1e-6 m / 0.2 m relative
    const double tolerance = p.type == G::ellipsoid ? 5e-6 : kRoundOff;
    const MassProperties shell = primitive_mass(p.type, p.size, 2.0, 1000, true);
    expect_near_relative(shell.inertia.diagonal(), p.shell_moments, tolerance);
  }
}

// The inertia of a layer is the difference of two solids: for shapes that are uniform layers.
TEST(Inertia, ShellIsTheDerivativeOfTheSolid) {
  const double h = 1e-4;
  for (const G type : {G::sphere, G::ellipsoid, G::box}) {
    const Vec3 size(0.3, 0.4, 0.5);
    const auto solid = [&](double grown) {
      const Vec3 s = size + Vec3::Constant(grown);
      return primitive_mass(type, s, std::nullopt, 1);
    };
    const MassProperties outer = solid(h), inner = solid(-h);
    const double mass = outer.mass - inner.mass;
    const Vec3 layer = (outer.inertia - inner.inertia).diagonal() / mass;
    const MassProperties shell = primitive_mass(type, size, 1.0, 1, true);
    // central difference: (h / 0.3)² = 1e-7, times coefficients up to ten
    expect_near_relative(shell.inertia.diagonal(), layer, 1e-6);
  }
}

TEST(Inertia, MassWinsOverDensityAndPlanesWeighNothing) {
  EXPECT_EQ(primitive_mass(G::box, {1, 1, 1}, 3.0, 1000).mass, 3.0);
  EXPECT_EQ(primitive_mass(G::box, {1, 1, 1}, 0.0, 1000).mass, 0.0);
  EXPECT_EQ(primitive_mass(G::plane, {1, 1, 1}, 3.0, 1000).mass, 0.0);
  EXPECT_THROW(primitive_mass(G::mesh, {1, 1, 1}, 3.0, 1000), ModelError);
}

// A cube cut into eight cubes, seen from a turned and shifted frame.
TEST(Inertia, PartsOfAPlacedCubeAddUpToIt) {
  const Vec3 shift(3, -2, 1);
  const Quat turn = exp_quat({0.3, -1.1, 0.7});
  std::vector<MassProperties> parts;
  for (int i = 0; i < 8; ++i) {
    const Vec3 corner((i & 1) ? 0.5 : -0.5, (i & 2) ? 0.5 : -0.5, (i & 4) ? 0.5 : -0.5);
    const MassProperties part = primitive_mass(G::box, {0.5, 0.5, 0.5}, 2.0, 0);
    parts.push_back(placed(placed(part, corner, Quat::Identity()), shift, turn));
  }
  const MassProperties whole = sum(parts);
  EXPECT_NEAR(whole.mass, 16, 16 * kRoundOff);
  expect_near_relative(whole.com, shift, kRoundOff);
  const Mat3 cube = primitive_mass(G::box, {1, 1, 1}, 16.0, 0).inertia;
  EXPECT_LE((whole.inertia - cube).cwiseAbs().maxCoeff(), 16 * 10 * kRoundOff);  // m |r|² + I
}

TEST(Inertia, RotationTurnsTheAxes) {
  const MassProperties box = primitive_mass(G::box, {0.1, 0.2, 0.3}, 1.0, 0);
  const Quat quarter(std::sqrt(0.5), 0, 0, std::sqrt(0.5));  // x -> y
  const MassProperties turned = placed(box, Vec3::Zero(), quarter);
  expect_near_relative(turned.inertia.diagonal(),
                       {box.inertia(1, 1), box.inertia(0, 0), box.inertia(2, 2)}, kRoundOff);
}

TEST(Inertia, MasslessPartsSumToNothing) {
  EXPECT_EQ(sum({}).mass, 0);
  const MassProperties part = placed({}, {1, 2, 3}, Quat::Identity());
  EXPECT_EQ(sum(std::span(&part, 1)).com, Vec3::Zero());
}

TEST(PrincipalAxes, RebuildTheTensor) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 1000; ++trial) {
    Mat3 root;
    for (double& x : root.reshaped()) x = normal(random);
    const Mat3 inertia = root * root.transpose();
    const Principal p = principal_axes(inertia);
    const Mat3 r = p.axes.toRotationMatrix();
    EXPECT_GE(p.moments[0], p.moments[1]);
    EXPECT_GE(p.moments[1], p.moments[2]);
    const Mat3 rebuilt = r * p.moments.asDiagonal() * r.transpose();
    // some ten quaternion products of round-off
    EXPECT_LE((rebuilt - inertia).norm(), 1e-14 * inertia.norm());
  }
}

struct Ordered {
  Vec3 diagonal, off;  // xx yy zz, xy xz yz
  Vec3 moments;
  Quat axes;
};

// What MuJoCo 4.0.0 compiles from fullinertia.
TEST(PrincipalAxes, OrderAndFramesAreMuJoCos) {
  const double s = std::sqrt(0.5);
  const Ordered cases[] = {
      {{2.5, 2, 1}, {0, 0, 0}, {2.5, 2, 1}, {1, 0, 0, 0}},
      {{1, 2, 2.5}, {0, 0, 0}, {2.5, 2, 1}, {0, s, 0, s}},
      {{2, 2.5, 1}, {0, 0, 0}, {2.5, 2, 1}, {s, 0, 0, s}},
      {{2, 1.5, 2}, {0, 0, 0}, {2, 2, 1.5}, {s, s, 0, 0}},
      {{1.5, 2, 2}, {0, 0, 0}, {2, 2, 1.5}, {0.5, 0.5, 0.5, 0.5}},
      {{2, 1, 2.5}, {0, 0, 0}, {2.5, 2, 1}, {0.5, 0.5, -0.5, 0.5}},
      {{2, 2, 2}, {0, 0, 0}, {2, 2, 2}, {1, 0, 0, 0}},
      {{1, 2, 2.5},
       {0.1, -0.05, 0.02},
       {2.502225053933, 2.009447198157, 0.98832774791},
       {0.046555538614, 0.69449734194, -0.023908886959, 0.717589289905}},
      {{2.5, 1, 2},
       {0.1, -0.05, 0.02},
       {2.511253931272, 1.995921716449, 0.992824352279},
       {0.715169164838, 0.696594503027, 0.056484140412, -0.009935084284}},
      {{2, 2, 2},
       {0.1, -0.05, 0.02},
       {2.10484472909, 2.015810230939, 1.879345039971},
       {0.797108288131, 0.47727657745, 0.282462203089, 0.238831634078}},
  };
  for (const Ordered& c : cases) {
    SCOPED_TRACE(c.diagonal.transpose());
    Mat3 inertia = c.diagonal.asDiagonal();
    inertia(0, 1) = inertia(1, 0) = c.off[0];
    inertia(0, 2) = inertia(2, 0) = c.off[1];
    inertia(1, 2) = inertia(2, 1) = c.off[2];
    const Principal p = principal_axes(inertia);
    EXPECT_LE((p.moments - c.moments).cwiseAbs().maxCoeff(), 1e-12);  // digits of the numbers here
    EXPECT_NEAR(std::abs(p.axes.dot(c.axes)), 1, 1e-12);              // one rotation, either sign
    EXPECT_LE((p.axes.coeffs() - c.axes.coeffs()).norm(), 1e-10);
  }
}

TEST(InertiaProblem, AcceptsRigidBodiesOnly) {
  EXPECT_EQ(inertia_problem({1, 2, 2.5}), "");
  EXPECT_EQ(inertia_problem({0.001, 0.009, 0.01}), "");  // a flat body, up to round-off
  EXPECT_NE(inertia_problem({0.1, 0.2, 0.300001}).find("A + B >= C"), std::string::npos);
  EXPECT_NE(inertia_problem({3, 1, 1}).find("(3, 1, 1)"), std::string::npos);
  EXPECT_NE(inertia_problem({0, 1, 1}).find("positive"), std::string::npos);
  EXPECT_NE(inertia_problem({1, -1, 1}).find("positive"), std::string::npos);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(inertia_problem({1, nan, 1}).find("finite"), std::string::npos);
}

}  // namespace
}  // namespace stiction::model

#include "model/spec/contact_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "model/model_builder.h"
#include "model/spec/derive.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

using test::ModelBuilder;

// A 1 kg sphere on a plane, friction 1, solref 0.02 1, solimp 0.9 0.95 0.001 0.5 2.
struct SphereOnPlane {
  ModelBuilder b;
  ContactSettings settings;

  explicit SphereOnPlane(double mass = 1) {
    b.geom(0, GeomType::plane, {1, 1, 1}, "floor");
    b.free_sphere("ball", mass);
  }
  SphereOnPlane& friction(double mu) {
    b.m.geom_friction[0] = b.m.geom_friction[3] = mu;
    return *this;
  }
  SphereOnPlane& solimp(const std::array<double, 5>& value) {
    for (std::size_t i = 0; i < 10; ++i) b.m.geom_solimp[i] = value[i % 5];
    return *this;
  }
  SphereOnPlane& solref(double first, double second) {
    for (std::size_t i = 0; i < 4; ++i) b.m.geom_solref[i] = i % 2 == 0 ? first : second;
    return *this;
  }
  const Model& build() {
    LoadReport report;
    derive(b.m);
    build_pairs(b.m, settings, report);
    return b.m;
  }
  double stiffness() { return build().pair_stiffness.at(0); }
};

// Stiffness of MuJoCo 4.0.0 is the weight over the depth at which the sphere has come to rest
// (|v| < 1e-12 m/s, so the depth is good to 5e-9; tests/python/model/test_contact_mapping.py runs it).
constexpr double kSettled = 1e-8;

void expect_stiffness(SphereOnPlane scene, double mujoco) {
  EXPECT_NEAR(scene.stiffness(), mujoco, kSettled * mujoco);
}

TEST(ContactMapping, RestsAsDeepAsMuJoCo) {
  expect_stiffness(SphereOnPlane(), 26717.0074);
  EXPECT_NEAR(9.81 / SphereOnPlane().stiffness(), 0.367e-3, 0.5e-6);  // three digits
  expect_stiffness(SphereOnPlane(0.01), 267.170074);
  expect_stiffness(SphereOnPlane().solimp({0.99, 0.99, 0.001, 0.5, 2}), 250000);
  expect_stiffness(SphereOnPlane().solimp({0.8, 0.8, 0.001, 0.5, 2}), 12500);
  expect_stiffness(SphereOnPlane().solimp({0.7, 0.95, 0.01, 0.3, 4}), 4947.43031);
  expect_stiffness(SphereOnPlane().solimp({0.5, 0.97, 0.005, 0.9, 3}), 3114.60241);
  expect_stiffness(SphereOnPlane().solimp({0.5, 0.9, 0.01, 0.2, 1}), 3182.85479);
  expect_stiffness(SphereOnPlane().solimp({0.5, 0.9, 0, 0.5, 2}), 5041.15226);
  expect_stiffness(SphereOnPlane().solref(0.2, 1), 500);  // deeper than the width
  expect_stiffness(SphereOnPlane().solref(0.05, 0.7), 13768.0137);
  expect_stiffness(SphereOnPlane().solref(-5000, -100), 47337.6141);
}

TEST(ContactMapping, FrictionConeAndCondimEnter) {
  expect_stiffness(SphereOnPlane().friction(0.5), 144414.784);
  expect_stiffness(SphereOnPlane().friction(1.5), 12437.1598);

  SphereOnPlane elliptic;
  elliptic.friction(0.3).settings.elliptic = true;
  elliptic.settings.impratio = 10;
  expect_stiffness(elliptic, 26717.0074);

  SphereOnPlane ratio;
  ratio.settings.impratio = 4;
  expect_stiffness(ratio, 91039.5039);

  const std::pair<int, double> of_condim[] = {{1, 26717.0074}, {4, 65908.3409}, {6, 107974.228}};
  for (const auto& [condim, stiffness] : of_condim) {
    SphereOnPlane scene;
    scene.friction(0.8).b.m.geom_condim = {condim, condim};
    expect_stiffness(scene, stiffness);
  }
}

TEST(ContactMapping, TimeconstIsAtLeastTwoTimesteps) {
  SphereOnPlane scene;
  scene.b.m.timestep = 0.005;
  expect_stiffness(scene.solref(0.004, 1), 91039.5039);
  scene.settings.refsafe = false;
  EXPECT_GT(scene.stiffness(), 2 * 91039.5);
}

TEST(ContactMapping, MixtureOfFormatsIsReplacedByTheDefault) {
  expect_stiffness(SphereOnPlane().solref(0.3, -1), 26717.0074);
}

TEST(ContactMapping, DissipationFollowsTheDampingRatio) {
  EXPECT_DOUBLE_EQ(SphereOnPlane().solref(0.02, 0.5).build().pair_dissipation[0], 10);
  // direct: dampratio = B / (2 sqrt K)
  EXPECT_DOUBLE_EQ(SphereOnPlane().solref(-2500, -50).build().pair_dissipation[0], 10);
  EXPECT_EQ(SphereOnPlane().build().pair_relaxation_time[0], 0.002);
  EXPECT_EQ(SphereOnPlane().build().pair_weight[0], 0.5);
}

TEST(ContactMapping, WithoutGravityAsOnEarth) {
  SphereOnPlane scene;
  scene.b.m.gravity = {0, 0, 0};
  expect_stiffness(scene, 26717.0074);
  scene.b.m.gravity = {0, 3 * 1.635, -4 * 1.635};  // |g| = 8.175
  EXPECT_LT(scene.stiffness(), 26717);
}

// A 2 kg crate against the 1 kg arm of a robot of 5 kg: whole trees are weighed, the lighter counts.
TEST(ContactMapping, LoadIsTheLighterTree) {
  ModelBuilder b;
  b.free_sphere("crate", 2);
  const int robot = b.body("robot", 0);
  b.joint(robot, JointType::free);
  b.inertial(robot, 4, {0.1, 0.1, 0.1});
  const int arm = b.body("arm", robot);
  b.joint(arm, JointType::hinge);
  b.inertial(arm, 1, {0.1, 0.1, 0.1});
  b.sphere(arm);
  LoadReport report;
  derive(b.m);
  build_pairs(b.m, {}, report);
  const double inverse = b.m.body_invweight0[2] + b.m.body_invweight0[6];
  const MappingContext context{1 / inverse, 1, 2 * 9.81, 0.004};
  EXPECT_DOUBLE_EQ(b.m.pair_stiffness.at(0), map_contact({}, context).stiffness);
}

// Whatever the shape of the ramp, the mapped spring carries the load at the depth of its impedance.
TEST(ContactMapping, SpringAndImpedanceMeetAtTheLoad) {
  for (const double power : {1.0, 2.0, 5.0})
    for (const double midpoint : {0.0, 0.1, 0.5, 1.0})
      for (const double dmin : {0.0, 0.3, 0.95})
        for (const double weight : {0.1, 1.0, 30.0, 1e3}) {
          const SolverParams params{{0.02, 1}, {dmin, 0.9, 0.002, midpoint, power}};
          const double k = map_contact(params, {1, 1, weight, 0}).stiffness;
          const double r = weight / k;
          const double d = impedance(params.solimp, r);
          const double expected = d * d / ((1 - d) * 0.9 * 0.9 * 0.02 * 0.02);
          // 1e-14 of the root, magnified by a ramp as steep as 1/(1 - midpoint) at midpoint 0.9999
          EXPECT_NEAR(k, expected, 1e-9 * expected)
              << dmin << ' ' << midpoint << ' ' << power << ' ' << weight;
        }
}

TEST(ContactMapping, NeverStifferThanTheLeastDepth) {
  EXPECT_DOUBLE_EQ(SphereOnPlane().friction(0).stiffness(), 9.81 / kLeastDepth);

  ModelBuilder b;  // a wheel on a fixed axle: its centre of mass can't move, inverse weight 0
  b.geom(0, GeomType::plane, {1, 1, 1});
  const int wheel = b.body("wheel", 0);
  b.joint(wheel, JointType::hinge, Vec3::UnitY());
  b.inertial(wheel, 3, {0.1, 0.2, 0.1});
  b.sphere(wheel);
  LoadReport report;
  derive(b.m);
  build_pairs(b.m, {}, report);
  EXPECT_DOUBLE_EQ(b.m.pair_stiffness.at(0), 3 * 9.81 / kLeastDepth);
}

TEST(ContactMapping, NoStiffnessIsRefused) {
  try {
    SphereOnPlane().solref(0, -10).build();
    FAIL() << "accepted a contact without stiffness";
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("'floor'"));
    EXPECT_THAT(e.what(), testing::HasSubstr("'ball'"));
  }
}

TEST(Impedance, RunsFromOneBoundToTheOther) {
  const std::array<double, 5> solimp{0.5, 0.9, 0.01, 0.25, 3};
  EXPECT_DOUBLE_EQ(impedance(solimp, 0), 0.5);
  EXPECT_DOUBLE_EQ(impedance(solimp, 0.01), 0.9);
  EXPECT_DOUBLE_EQ(impedance(solimp, 5), 0.9);
  EXPECT_DOUBLE_EQ(impedance(solimp, 0.0025), 0.5 + 0.4 * 0.25);  // the midpoint maps to itself
  EXPECT_EQ(impedance({0, 1, 0.01, 0.5, 1}, 0), 1e-4);            // MuJoCo's bounds
  EXPECT_EQ(impedance({0, 1, 0.01, 0.5, 1}, 1), 0.9999);
  const double h = 1e-9, at = 0.0025;  // equal slopes on both sides, 0.4 * 3 / 0.01
  EXPECT_NEAR((impedance(solimp, at) - impedance(solimp, at - h)) / h, 120, 1e-3);
  EXPECT_NEAR((impedance(solimp, at + h) - impedance(solimp, at)) / h, 120, 1e-3);
}

}  // namespace
}  // namespace stiction::model

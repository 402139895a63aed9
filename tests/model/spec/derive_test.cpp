#include "model/spec/derive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/model_builder.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

using test::ModelBuilder;
using testing::ElementsAre;
using J = JointType;

// Dense inverses of matrices with condition numbers below 1e4: 1e-12 is the round-off of both.
constexpr double kTolerance = 1e-12;

// Every kind of joint, a fixed body in a chain, a slide-only body, a hinge through a centre of mass
// and a mocap body with a child.
ModelBuilder mixed() {
  ModelBuilder b;
  b.geom(0, GeomType::plane, {1, 1, 1}, "floor");
  const int base = b.body("base", 0, {0.1, 0.2, 0.3}, {0.6, 0, 0.8, 0});
  b.joint(base, J::free);
  b.inertial(base, 4, {0.3, 0.2, 0.15}, {0.01, 0.02, 0.03}, {0.8, 0.6, 0, 0});
  const int arm = b.body("arm", base, {0, 0, 0.4}, {0.5, 0.5, 0.5, 0.5});
  b.joint(arm, J::ball, Vec3::UnitZ(), {0, 0.1, 0});
  b.inertial(arm, 1.5, {0.02, 0.03, 0.04}, {0.2, 0, 0});
  const int plate = b.body("plate", arm, {0.3, 0, 0});
  b.inertial(plate, 0.5, {0.01, 0.012, 0.02}, {0, 0, 0.05});
  const int leg = b.body("leg", plate, {0, 0.2, 0.1});
  b.joint(leg, J::hinge, {0.6, 0.8, 0}, {0, 0, 0.05}, 0.02);
  b.joint(leg, J::slide, {0, 0, 1}, Vec3::Zero(), 0.1);
  b.inertial(leg, 0.8, {0.01, 0.01, 0.005}, {0, 0, -0.2});
  const int table = b.body("table", 0, {1, 0, 0});
  b.inertial(table, 9, {1, 1, 1});
  const int slider = b.body("slider", table, {0, 0, 0.2});
  b.joint(slider, J::slide, {1, 0, 0}, Vec3::Zero(), 0.7);
  b.joint(slider, J::slide, {0, 0, 1});
  b.inertial(slider, 2, {0.1, 0.1, 0.1});
  const int wheel = b.body("wheel", table, {0, 0.5, 0.2});
  b.joint(wheel, J::hinge, {0, 1, 0});
  b.inertial(wheel, 3, {0.1, 0.2, 0.1});
  const int hand = b.body("hand", 0);
  b.mocap(hand);
  b.inertial(hand, 1, {0.1, 0.1, 0.1});
  const int finger = b.body("finger", hand);
  b.joint(finger, J::hinge, {1, 0, 0});
  b.inertial(finger, 0.2, {0.001, 0.001, 0.001}, {0, 0.1, 0});
  return b;
}

TEST(Derive, TreeIsMuJoCos) {
  Model m = mixed().m;
  derive(m);
  EXPECT_THAT(m.body_rootid, ElementsAre(0, 1, 1, 1, 1, 5, 5, 5, 8, 8));
  EXPECT_THAT(m.body_weldid, ElementsAre(0, 1, 2, 2, 4, 0, 6, 7, 8, 9));
  EXPECT_THAT(m.body_dofadr, ElementsAre(-1, 0, 6, -1, 9, -1, 11, 13, -1, 14));
  EXPECT_THAT(m.body_dofnum, ElementsAre(0, 6, 3, 0, 2, 0, 2, 1, 0, 1));
  EXPECT_THAT(m.dof_bodyid, ElementsAre(1, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 6, 6, 7, 9));
  EXPECT_THAT(m.dof_jntid, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(m.dof_parentid, ElementsAre(-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 11, -1, -1));
  const double masses[] = {22, 6.8, 2.8, 1.3, 0.8, 14, 2, 3, 1.2, 0.2};
  EXPECT_THAT(m.body_subtreemass, testing::Pointwise(testing::DoubleNear(1e-14), masses));
}

TEST(Derive, InverseWeightsAreMuJoCos) {
  Model m = mixed().m;
  derive(m);
  const double bodies[] = {0,
                           0,
                           0.21262959390814481,
                           3.4986950667816594,
                           0.30474622069622115,
                           12.499642706251441,
                           0.4554794559076152,
                           12.499642706251441,
                           0.7860383997376709,
                           15.03291125860698,
                           0,
                           0,
                           0.5,
                           0,  // slides only: 1/mass without armature
                           0,
                           1.6666666666666667,  // its centre of mass can't move
                           0,
                           0,
                           1.111111111111111,
                           111.11111111111109};
  const double dofs[] = {0.2260377266024476,
                         0.2260377266024476,
                         0.2260377266024476,
                         3.4986950667816594,
                         3.4986950667816594,
                         3.4986950667816594,
                         14.183582453556397,
                         14.183582453556397,
                         14.183582453556397,
                         18.584759870449385,
                         2.0206976267410477,
                         0.5,
                         0.5,
                         5,
                         333.33333333333326};
  ASSERT_EQ(m.body_invweight0.size(), std::size(bodies));
  for (std::size_t i = 0; i < std::size(bodies); ++i)
    EXPECT_NEAR(m.body_invweight0[i], bodies[i], kTolerance * std::max(1.0, bodies[i])) << i;
  ASSERT_EQ(m.dof_invweight0.size(), std::size(dofs));
  for (std::size_t i = 0; i < std::size(dofs); ++i)
    EXPECT_NEAR(m.dof_invweight0[i], dofs[i], kTolerance * std::max(1.0, dofs[i])) << i;
}

TEST(Derive, FreeBodyHasItsOwnInverseInertia) {
  ModelBuilder b;
  const int body = b.body("box", 0, {5, 6, 7}, {0.6, 0, 0.8, 0});
  b.joint(body, J::free);
  b.inertial(body, 2, {0.1, 0.2, 0.4});
  derive(b.m);
  const double rotation = (1 / 0.1 + 1 / 0.2 + 1 / 0.4) / 3;
  EXPECT_NEAR(b.m.body_invweight0[2], 0.5, kTolerance);
  EXPECT_NEAR(b.m.body_invweight0[3], rotation, kTolerance * rotation);
  EXPECT_NEAR(b.m.dof_invweight0[5], rotation, kTolerance * rotation);
}

// Alone, a slide counts with its bare mass (MuJoCo's shortcut); with a child it is computed in full:
// M = 2 + 1 + 0.5, one of three directions moves.
TEST(Derive, SlideWithAChildIsNoSimpleBody) {
  for (const bool child : {false, true}) {
    ModelBuilder b;
    const int slider = b.body("slider", 0);
    b.joint(slider, J::slide, Vec3::UnitZ(), Vec3::Zero(), 0.5);
    b.inertial(slider, 2, {0.1, 0.1, 0.1});
    if (child) b.inertial(b.body("load", slider), 1, {0.1, 0.1, 0.1});
    derive(b.m);
    EXPECT_NEAR(b.m.body_invweight0[2], child ? 1 / (3 * 3.5) : 0.5, kTolerance);
    EXPECT_NEAR(b.m.dof_invweight0[0], child ? 1 / 3.5 : 0.5, kTolerance);
  }
}

TEST(Derive, BoundingSpheres) {
  ModelBuilder b;
  const Vec3 size(0.3, 0.4, 1.2);
  for (const GeomType type : {GeomType::plane, GeomType::sphere, GeomType::capsule,
                              GeomType::ellipsoid, GeomType::cylinder, GeomType::box})
    b.geom(0, type, size);
  derive(b.m);
  EXPECT_THAT(b.m.geom_rbound,
              testing::Pointwise(testing::DoubleNear(1e-15), {0.0, 0.3, 0.7, 1.2, 0.5, 1.3}));
}

TEST(Derive, MasslessMovingBodyIsRefused) {
  ModelBuilder b;
  const int body = b.body("ghost", 0);
  b.joint(body, J::hinge);
  try {
    derive(b.m);
    FAIL() << "accepted a mass matrix of zero";
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("'ghost'"));
  }
}

// Many trees: M is inverted block by block, or this test takes minutes and gigabytes.
TEST(Derive, ManyFreeBodies) {
  ModelBuilder b;
  for (int i = 0; i < 2000; ++i) b.free_sphere("ball", 1 + i);
  derive(b.m);
  for (int i = 0; i < 2000; ++i)
    ASSERT_NEAR(b.m.body_invweight0[2 * static_cast<std::size_t>(i + 1)], 1.0 / (1 + i), 1e-15);
}

TEST(Dampratio, UsesTheInertiaSeenThroughTheTransmission) {
  ModelBuilder b = mixed();
  Model& m = b.m;
  m.ntendon = 1, m.tendon_armature = {0};
  m.tendon_adr = {0};
  m.tendon_num = {2};
  m.wrap_type = {WrapType::joint, WrapType::joint};
  m.wrap_objid = {2, 4};
  m.wrap_coef = {0.5, -2};
  m.nu = 3;
  m.actuator_trntype = {Transmission::joint, Transmission::joint, Transmission::tendon};
  m.actuator_trnid = {2, 3, 0};
  m.actuator_gear = {3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 0};
  derive(m);
  // MuJoCo 4.0.0: <position joint="turn" kp="100" dampratio="1" gear="3"/> and so on
  EXPECT_NEAR(dampratio_to_kv(m, 0, 100, 1), 1.546429991862743, kTolerance);
  EXPECT_NEAR(dampratio_to_kv(m, 1, 40, 0.7), 6.228842729855656, 10 * kTolerance);
  EXPECT_NEAR(dampratio_to_kv(m, 2, 10, 0.5), 0.8516497146256986, kTolerance);
}

}  // namespace
}  // namespace stiction::model

#include "model/spec/contact_material.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/model_builder.h"
#include "model/spec/derive.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

using test::ModelBuilder;
using testing::HasSubstr;

// Floor and two balls: pairs 0: floor-a, 1: floor-b, 2: a-b.
struct Scene {
  ModelBuilder b;
  int floor, ball_a, ball_b;

  Scene() {
    floor = b.geom(0, GeomType::plane, {1, 1, 1}, "floor");
    ball_a = b.free_sphere("a");
    ball_b = b.free_sphere("b");
  }
  Model& build(const ContactSettings& settings = {}) {
    LoadReport report;
    derive(b.m);
    build_pairs(b.m, settings, report);
    return b.m;
  }
};

TEST(NativeContact, TwoSpringsInSeries) {
  Scene s;
  s.b.native(s.floor, 3e5, 10, 0.1);
  s.b.native(s.ball_a, 1e5, 30, 0.02);
  const Model& m = s.build();
  EXPECT_DOUBLE_EQ(m.pair_stiffness[0], 3e5 * 1e5 / 4e5);
  EXPECT_DOUBLE_EQ(m.pair_weight[0], 0.25);                        // k2 / (k1 + k2)
  EXPECT_DOUBLE_EQ(m.pair_dissipation[0], 0.25 * 10 + 0.75 * 30);  // the softer dominates
  EXPECT_DOUBLE_EQ(m.pair_relaxation_time[0], 0.12);
}

TEST(NativeContact, RigidSideLeavesTheOthersLaw) {
  for (const bool rigid_floor : {false, true}) {
    Scene s;
    if (rigid_floor) s.b.native(s.floor, 1e40, 77, 0.1);
    s.b.native(s.ball_a, 1e5, 30, 0.02);  // without a native floor: the floor counts as rigid
    s.b.native(s.ball_b, 1e40, 5);
    s.b.m.geom_contype[2] = s.b.m.geom_conaffinity[2] = 2;  // b touches a alone
    s.b.m.geom_contype[1] = 3;
    const Model& m = s.build();
    ASSERT_EQ(m.npair, 2);
    EXPECT_EQ(m.pair_stiffness[0], 1e5);
    EXPECT_EQ(m.pair_dissipation[0], 30);
    EXPECT_EQ(m.pair_weight[0], 0);  // the point lies on the rigid floor, geom 1
    EXPECT_DOUBLE_EQ(m.pair_relaxation_time[0], rigid_floor ? 0.12 : 0.02);
    EXPECT_EQ(m.pair_stiffness[1], 1e5);
    EXPECT_EQ(m.pair_weight[1], 1);  // on b, geom 2
  }
}

TEST(NativeContact, HugeStiffnessDoesNotOverflow) {
  Scene s;
  s.b.native(s.floor, 9e39, 1);
  s.b.native(s.ball_a, 9e39, 3);
  const Model& m = s.build();
  EXPECT_DOUBLE_EQ(m.pair_stiffness[0], 4.5e39);
  EXPECT_DOUBLE_EQ(m.pair_dissipation[0], 2);
}

TEST(NativeContact, BothRigidIsAnErrorThatNamesThem) {
  Scene s;
  s.b.native(s.floor, 1e40, 0);
  s.b.native(s.ball_a, 1e5, 0);
  s.b.native(s.ball_b, 1e40, 0);
  try {
    s.build();
    FAIL() << "accepted a contact of two rigid geoms";
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'floor'"));
    EXPECT_THAT(e.what(), HasSubstr("'b'"));
  }
}

TEST(CombineGeoms, MixesBySolmix) {
  Scene s;
  auto& m = s.b.m;
  m.geom_solmix = {3, 1, 0};
  m.geom_solref = {0.04, 1, 0.08, 2, 0.02, 1};
  m.geom_solimp[0] = 0.5, m.geom_solimp[5] = 0.9;
  const CombinedGeoms mixed = combine_geoms(m, 0, 1);
  EXPECT_DOUBLE_EQ(mixed.params.solref[0], 0.05);
  EXPECT_DOUBLE_EQ(mixed.params.solref[1], 1.25);
  EXPECT_DOUBLE_EQ(mixed.params.solimp[0], 0.6);
  EXPECT_EQ(combine_geoms(m, 0, 2).params.solref[0], 0.04);  // a share of zero has no say
  EXPECT_EQ(combine_geoms(m, 2, 0).params.solref[0], 0.04);
  m.geom_solmix = {0, 0, 0};
  EXPECT_DOUBLE_EQ(combine_geoms(m, 0, 1).params.solref[0], 0.06);  // halves
}

TEST(CombineGeoms, DirectSolrefTakesTheSmaller) {
  Scene s;
  s.b.m.geom_solref = {-500, -10, 0.02, 1, -400, -40};
  EXPECT_THAT(combine_geoms(s.b.m, 0, 1).params.solref, testing::ElementsAre(-500, -10));
  EXPECT_THAT(combine_geoms(s.b.m, 0, 2).params.solref, testing::ElementsAre(-500, -40));
}

TEST(CombineGeoms, PriorityDecidesAll) {
  Scene s;
  auto& m = s.b.m;
  m.geom_priority = {1, 0, 0};
  m.geom_condim = {1, 6, 3};
  m.geom_friction[0] = 0.1;
  m.geom_solref[0] = 0.5;
  m.geom_solimp[4] = 7;
  for (const auto& c : {combine_geoms(m, 0, 1), combine_geoms(m, 1, 0)}) {
    EXPECT_EQ(c.condim, 1);
    EXPECT_EQ(c.friction, 0.1);
    EXPECT_EQ(c.params.solref[0], 0.5);
    EXPECT_EQ(c.params.solimp[4], 7);
  }
}

TEST(WithContactMaterial, ReplacesOneGeomAndLeavesTheOriginal) {
  Scene s;
  const Model& m = s.build();
  const double mapped_floor_a = m.pair_stiffness[0];
  const ModelPtr changed = with_contact_material(m, s.ball_b, {2e5, 15, 1.4, 0.05});
  EXPECT_EQ(changed->pair_stiffness[0], mapped_floor_a);  // b is not in it
  for (std::size_t p = 1; p < 3; ++p) {
    EXPECT_EQ(changed->pair_stiffness[p], 2e5);
    EXPECT_EQ(changed->pair_dissipation[p], 15);
    EXPECT_EQ(changed->pair_friction[p], 1.4);  // the larger of 1 and 1.4
    EXPECT_EQ(changed->pair_relaxation_time[p], 0.05);
  }
  EXPECT_EQ(changed->pair_weight[1], 0);
  EXPECT_EQ(changed->geom_friction[6], 1.4);
  EXPECT_EQ(m.pair_stiffness[2], s.build().pair_stiffness[2]);
  EXPECT_EQ(m.geom_native[2], 0);
}

TEST(WithContactMaterial, RigidFloorLeavesMappedPairsAsTheyAre) {
  Scene s;
  const Model& m = s.build();
  const ModelPtr rigid = with_contact_material(m, s.floor, {1e40});
  EXPECT_EQ(rigid->pair_stiffness, m.pair_stiffness);
  EXPECT_EQ(rigid->pair_weight, m.pair_weight);

  // in either order of the calls
  const ModelPtr a = with_contact_material(*rigid, s.ball_a, {1e5, 10});
  const ModelPtr b =
      with_contact_material(*with_contact_material(m, s.ball_a, {1e5, 10}), s.floor, {1e40});
  EXPECT_EQ(a->pair_stiffness, b->pair_stiffness);
  EXPECT_EQ(a->pair_stiffness[0], 1e5);
  EXPECT_EQ(a->pair_weight[0], 0);
  EXPECT_EQ(a->pair_stiffness[1], m.pair_stiffness[1]);

  // the last compliant material of a pair can't be taken back
  EXPECT_THROW(with_contact_material(*a, s.ball_a, {1e40}), ArgumentError);
}

TEST(WithContactMaterial, OfAllGeoms) {
  Scene s;
  const ModelPtr changed = with_contact_material(s.build(), -1, {2e5, 15, {}, 0.05});
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_DOUBLE_EQ(changed->pair_stiffness[p], 1e5);
    EXPECT_DOUBLE_EQ(changed->pair_dissipation[p], 15);
    EXPECT_DOUBLE_EQ(changed->pair_relaxation_time[p], 0.1);
    EXPECT_EQ(changed->pair_weight[p], 0.5);
    EXPECT_EQ(changed->pair_friction[p], 1);  // not given: as it was
  }
}

TEST(WithContactMaterial, KeepsExplicitAndFrictionlessPairs) {
  Scene s;
  s.b.m.geom_condim = {1, 1, 3};
  ContactSettings settings;
  settings.pairs = {{s.ball_b, s.floor, {}, 0.25}};
  const ModelPtr changed = with_contact_material(s.build(settings), -1, {1e5, 0, 2.0, 0});
  EXPECT_EQ(changed->pair_friction[0], 0);
  EXPECT_EQ(changed->pair_friction[1], 0.25);
  EXPECT_EQ(changed->pair_friction[2], 2);
  EXPECT_EQ(changed->pair_stiffness[1], 0.5e5);
}

void expect_refused(const ContactMaterial& material, const char* field, int g = 0) {
  Scene s;
  const Model& m = s.build();
  try {
    with_contact_material(m, g, material);
    FAIL() << "accepted a bad " << field;
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr(field));
  }
}

TEST(WithContactMaterial, RefusesUnphysicalValues) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, inf, std::nan("")}) expect_refused({bad}, "stiffness");
  for (const double bad : {-1.0, inf, std::nan("")}) {
    expect_refused({1e5, bad}, "dissipation");
    expect_refused({1e5, 1, bad}, "friction");
    expect_refused({1e5, 1, {}, bad}, "relaxation_time");
  }
  expect_refused({-7}, "-7");
  expect_refused({1e5}, "geom 3", 3);
  expect_refused({1e5}, "geom -2", -2);
  expect_refused({1e40}, "both are rigid", -1);
}

}  // namespace
}  // namespace stiction::model

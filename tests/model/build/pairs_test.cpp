#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "model/model_builder.h"
#include "model/spec/derive.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

using test::ModelBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using G = GeomType;
using J = JointType;
using Pairs = std::vector<std::pair<int, int>>;

LoadReport build(Model& m, const ContactSettings& settings = {}) {
  LoadReport report;
  derive(m);
  build_pairs(m, settings, report);
  return report;
}

Pairs pairs_of(const Model& m) {
  Pairs pairs;
  for (std::size_t p = 0; p < m.pair_geom1.size(); ++p)
    pairs.emplace_back(m.pair_geom1[p], m.pair_geom2[p]);
  return pairs;
}

int hinged(ModelBuilder& b, int parent) {
  const int body = b.body("", parent);
  b.joint(body, J::hinge);
  b.inertial(body, 1, {0.1, 0.1, 0.1});
  return body;
}

// Worlds and expected pairs below are what MuJoCo 4.0.0 reports as contacts when all geoms overlap.

TEST(PairFilter, ParentAndChildOfWeldGroups) {
  ModelBuilder b;
  b.sphere(0);                     // 0: world
  const int base = b.body("", 0);  // fixed: one group with the world
  b.sphere(base);                  // 1
  const int upper = hinged(b, base);
  b.sphere(upper);  // 2: child of the fixed base, touches it all the same
  const int plate = b.body("", upper);
  b.sphere(plate);  // 3: welded to 2
  const int lower = hinged(b, plate);
  b.sphere(lower);  // 4: child of the group of 2 and 3
  build(b.m);
  EXPECT_THAT(pairs_of(b.m), ElementsAre(std::pair(0, 2), std::pair(0, 3), std::pair(0, 4),
                                         std::pair(1, 2), std::pair(1, 3), std::pair(1, 4)));

  ContactSettings unfiltered;
  unfiltered.filter_parent = false;
  build(b.m, unfiltered);
  EXPECT_EQ(b.m.npair, 8);  // and 2-4, 3-4; never 2-3
}

TEST(PairFilter, ParentWhoseGeomsComeAfterItsChilds) {
  ModelBuilder b;
  const int parent = hinged(b, 0);
  b.sphere(hinged(b, parent));   // 0
  b.sphere(b.body("", parent));  // 1: welded to the parent
  build(b.m);
  EXPECT_EQ(b.m.npair, 0);
}

TEST(PairFilter, MocapBodiesTouchOnlyWhatMoves) {
  ModelBuilder b;
  b.sphere(0);  // 0: world
  const int hand = b.body("", 0);
  b.mocap(hand);
  b.sphere(hand);  // 1
  const int finger = hinged(b, hand);
  b.sphere(finger);  // 2: child of the mocap group
  const int other = b.body("", 0);
  b.mocap(other);
  b.sphere(other);        // 3
  b.free_sphere("ball");  // 4
  build(b.m);
  EXPECT_THAT(pairs_of(b.m), ElementsAre(std::pair(0, 2), std::pair(0, 4), std::pair(1, 4),
                                         std::pair(2, 3), std::pair(2, 4), std::pair(3, 4)));
}

TEST(PairFilter, TypeAndAffinity) {
  ModelBuilder b;
  for (int i = 0; i < 4; ++i) b.free_sphere("");
  b.sphere(1);  // 4: on the body of 0, compatible with 3
  b.m.geom_contype = {1, 0, 2, 8, 0};
  b.m.geom_conaffinity = {0, 1, 4, 0, 8};
  build(b.m);
  EXPECT_THAT(pairs_of(b.m), ElementsAre(std::pair(0, 1), std::pair(3, 4)));
}

TEST(PairFilter, ExcludeNamesBodiesNotWeldGroups) {
  ModelBuilder b;
  const int shelf = b.body("", 0);
  b.sphere(shelf);    // 0
  b.sphere(0);        // 1
  b.free_sphere("");  // 2
  const int fixed = b.body("", 2);
  b.sphere(fixed);  // 3: welded to 2
  ContactSettings settings;
  settings.excludes = {{2, shelf}};
  build(b.m, settings);
  EXPECT_THAT(pairs_of(b.m), ElementsAre(std::pair(1, 2), std::pair(1, 3), std::pair(0, 3)));
}

TEST(PairOrder, LowerTypeFirstAndSlotsInARow) {
  ModelBuilder b;
  const int body = b.body("", 0);
  b.joint(body, J::free);
  b.inertial(body, 1, {0.1, 0.1, 0.1});
  b.geom(body, G::box, {0.1, 0.1, 0.1});    // 0
  b.geom(body, G::capsule, {0.1, 0.1, 0});  // 1
  b.geom(0, G::plane, {1, 1, 1});           // 2
  const int ball = b.free_sphere("");       // 3
  build(b.m);
  EXPECT_THAT(pairs_of(b.m), ElementsAre(std::pair(2, 0), std::pair(2, 1), std::pair(2, ball),
                                         std::pair(ball, 0), std::pair(ball, 1)));
  EXPECT_THAT(b.m.pair_slotnum, ElementsAre(8, 2, 1, 1, 1));
  EXPECT_THAT(b.m.pair_slotadr, ElementsAre(0, 8, 10, 11, 12));
  EXPECT_EQ(b.m.nslot, 13);
}

TEST(PairOrder, BuildingAgainGivesTheSame) {
  ModelBuilder b;
  b.sphere(0);
  for (int i = 0; i < 5; ++i) b.free_sphere("");
  build(b.m);
  const Pairs first = pairs_of(b.m);
  build(b.m);
  EXPECT_EQ(pairs_of(b.m), first);
  EXPECT_EQ(b.m.nslot, 15);
}

TEST(Pairs, WithoutColliderAreReported) {
  ModelBuilder b;
  b.geom(0, G::plane, {1, 1, 1}, "floor");
  b.geom(0, G::hfield, {1, 1, 1}, "hills");
  for (int i = 0; i < 2; ++i) {
    const int body = b.body("drum", 0);
    b.joint(body, J::free);
    b.inertial(body, 1, {0.1, 0.1, 0.1});
    b.geom(body, G::cylinder, {0.1, 0.1, 0.1}, i == 0 ? "red" : "");
  }
  const LoadReport report = build(b.m);
  EXPECT_THAT(pairs_of(b.m), ElementsAre(std::pair(0, 2), std::pair(0, 3), std::pair(2, 3)));
  ASSERT_EQ(report.pairs_without_collider.size(), 2u);
  const auto& drums = report.pairs_without_collider[1];
  EXPECT_EQ(drums.name1, "'hills'");
  EXPECT_EQ(drums.name2, "3 (cylinder of body 'drum')");
  EXPECT_EQ(drums.type2, "cylinder");
}

TEST(Pairs, ParametersOfTheGeomsAreCombined) {
  ModelBuilder b;
  b.sphere(0);
  b.free_sphere("");
  auto& m = b.m;
  m.geom_friction = {0.3, 0.04, 0.001, 0.7, 0.02, 0.003};
  m.geom_condim = {1, 6};
  m.geom_margin = {0.01, 0.02};
  build(m);
  EXPECT_EQ(m.pair_condim[0], 6);
  EXPECT_EQ(m.pair_torsion[0], 0.04);
  EXPECT_EQ(m.pair_rolling[0], 0.003);
  EXPECT_EQ(m.nanchor, 2 * m.nslot);
  EXPECT_EQ(m.pair_friction[0], 0.7);
  EXPECT_DOUBLE_EQ(m.pair_margin[0], 0.03);

  m.geom_priority = {2, -1};  // the first decides; the margin doesn't ask
  build(m);
  EXPECT_EQ(m.pair_condim[0], 1);
  EXPECT_EQ(m.pair_friction[0], 0);  // frictionless
  EXPECT_EQ(m.pair_torsion[0], 0);
  EXPECT_EQ(m.pair_rolling[0], 0);
  EXPECT_EQ(m.nanchor, m.nslot);

  m.geom_condim[0] = 4;
  build(m);
  EXPECT_EQ(m.pair_torsion[0], 0.04);
  EXPECT_EQ(m.pair_rolling[0], 0);
  EXPECT_DOUBLE_EQ(m.pair_margin[0], 0.03);
}

TEST(ExplicitPair, PassesTheFiltersAndReplacesTheFoundPair) {
  ModelBuilder b;
  const int ball = b.free_sphere("");
  const int child = hinged(b, 1);
  const int tip = b.sphere(child);
  const int other = b.free_sphere("");
  b.m.geom_contype[2] = b.m.geom_conaffinity[2] = 0;
  b.m.geom_friction[0] = 0.2, b.m.geom_condim[0] = 1, b.m.geom_margin[0] = 0.5;

  ContactSettings settings;
  settings.excludes = {{1, 3}};
  PairSpec family{tip, ball};  // parent and child
  PairSpec excluded{other, ball, 4, 0.4, 0.01};
  PairSpec twice{ball, other, 1, 0.9};
  settings.pairs = {family, excluded, twice};
  build(b.m, settings);
  EXPECT_THAT(pairs_of(b.m),
              ElementsAre(std::pair(ball, tip), std::pair(ball, other), std::pair(ball, other)));
  EXPECT_THAT(b.m.pair_explicit, ElementsAre(1, 1, 1));
  // not the geoms' parameters but the pair's, or the defaults of a pair
  EXPECT_THAT(b.m.pair_friction, ElementsAre(1, 0.4, 0));
  EXPECT_THAT(b.m.pair_margin, ElementsAre(0, 0.01, 0));
  EXPECT_THAT(b.m.pair_condim, ElementsAre(3, 4, 1));
  EXPECT_THAT(b.m.pair_torsion, ElementsAre(0, 0.005, 0));  // MuJoCo's of a pair, not the geoms'

  b.m.geom_contype[2] = b.m.geom_conaffinity[2] = 1;
  settings.excludes.clear();
  build(b.m, settings);
  EXPECT_EQ(pairs_of(b.m).size(), 4u);  // and tip-other; ball-other is not found again
}

TEST(ExplicitPair, WithoutRelativeMotionIsReported) {
  ModelBuilder b;
  b.sphere(0, "wall");
  const int shelf = b.body("", 0);
  b.sphere(shelf, "shelf");
  b.free_sphere("ball");
  b.sphere(2, "nose");
  ContactSettings settings;
  settings.pairs = {{0, 1}, {2, 3}};
  settings.excludes = {{0, 2}, {shelf, 2}};
  const LoadReport report = build(b.m, settings);
  EXPECT_EQ(b.m.npair, 0);
  ASSERT_EQ(report.entries.size(), 2u);
  EXPECT_EQ(report.entries[0].use, Use::ignored);
  EXPECT_THAT(report.entries[0].value, HasSubstr("'wall'"));
  EXPECT_THAT(report.entries[1].value, HasSubstr("'nose'"));
}

TEST(ExplicitPair, OfAGeomWithItselfIsRefused) {
  ModelBuilder b;
  b.free_sphere("ball");
  ContactSettings settings;
  settings.pairs = {{0, 0}};
  EXPECT_THROW(build(b.m, settings), ModelError);
}

// 2e5 fixed geoms: comparing them with each other would be 2e10 checks.
TEST(Pairs, FixedGeomsAreNotComparedWithEachOther) {
  ModelBuilder b;
  const int ball = b.free_sphere("");
  for (int i = 0; i < 200000; ++i) b.sphere(0);
  build(b.m);
  EXPECT_EQ(b.m.npair, 200000);
  EXPECT_EQ(b.m.pair_geom1.front(), ball);
  EXPECT_EQ(b.m.pair_geom2.back(), 200000);
}

// 20 s/m whatever the unit of length, which gravity tells.
TEST(Pairs, DissipationKnowsTheUnitOfLength) {
  const auto dissipation = [](double gravity) {
    ModelBuilder b;
    hinged(b, 0);
    b.geom(0, G::plane, Vec3(0, 0, 1)), b.geom(1, G::sphere, Vec3(.1, 0, 0));
    b.m.gravity = {0, 0, gravity};
    build(b.m);
    return b.m.pair_dissipation.at(0);
  };
  for (const double metres : {0., -9.81, -1.62, -24.8, -50.}) EXPECT_EQ(dissipation(metres), 20);
  EXPECT_DOUBLE_EQ(dissipation(-981), .2);
  EXPECT_DOUBLE_EQ(dissipation(-9810), .02);
}

TEST(Pairs, SizesWithoutGravityAreDoubted) {
  const auto doubted = [](double gravity, double radius) {
    ModelBuilder b;
    hinged(b, 0);
    b.geom(0, G::plane, Vec3(0, 0, 1)), b.geom(1, G::sphere, Vec3(radius, 0, 0));
    b.m.geom_rbound = {0, radius};
    b.m.gravity = {0, 0, gravity};
    const LoadReport report = build(b.m);
    return report.table(true).find("if that is cm or mm") != std::string::npos;
  };
  EXPECT_TRUE(doubted(0, 60));
  EXPECT_FALSE(doubted(0, 2));
  EXPECT_FALSE(doubted(-9.81, 60));
}

}  // namespace
}  // namespace stiction::model

// Spheres and capsules against each other: closed forms by hand and degenerate placements.
#include <gtest/gtest.h>

#include "reference/collision/geometry_capsules.h"

namespace stiction::reference::test {
namespace {

constexpr double kRoundOff = 1e-15;  // one or two operations on numbers near 1

Shape sphere(double radius, const Vec3& pos) {
  return {GeomType::sphere, Vec3(radius, 0, 0), pos, Mat3::Identity()};
}
TEST(GeometryRound, SpheresApartAndOverlapping) {
  const Witness w = contacts(sphere(1, Vec3(0, 0, 0)), sphere(2, Vec3(3, 4, 0)))[0];
  EXPECT_DOUBLE_EQ(w.distance, 2);
  EXPECT_LT((w.normal - Vec3(0.6, 0.8, 0)).norm(), kRoundOff);
  EXPECT_LT((w.point1 - Vec3(0.6, 0.8, 0)).norm(), kRoundOff);
  EXPECT_LT((w.point2 - Vec3(1.8, 2.4, 0)).norm(), kRoundOff);
  EXPECT_DOUBLE_EQ(contacts(sphere(1, Vec3(0, 0, 0)), sphere(2, Vec3(0, 1, 0)))[0].distance, -2);
}

TEST(GeometryRound, CoincidentCentresUseAFixedDirection) {
  const Witness spheres = contacts(sphere(1, Vec3(1, 2, 3)), sphere(2, Vec3(1, 2, 3)))[0];
  EXPECT_EQ(spheres.normal, Vec3(1, 0, 0));
  EXPECT_DOUBLE_EQ(spheres.distance, -3);

  // a sphere on a capsule's axis leaves across the axis, also when it is off by round-off
  for (const double along : {0.0, 0.3, 0.5}) {
    const Shape c = capsule(0.25, 0.5, Vec3(7, 8, 9), Vec3::UnitZ());
    const Witness w = contacts(sphere(1, Vec3(7, 8, 9 + along)), c)[0];
    EXPECT_EQ(w.normal, Vec3(1, 0, 0));
    EXPECT_DOUBLE_EQ(w.distance, -1.25);
  }
  Rng rng(13);
  for (int i = 0; i < 100; ++i) {
    const Shape c = random_shape(rng, GeomType::capsule);
    const Vec3 on_axis = c.pos + uniform(rng, -1, 1) * c.size[1] * c.rot.col(2);
    EXPECT_EQ(contacts(sphere(1, on_axis), c)[0].normal, Vec3(c.rot.col(0)));
  }
  const Shape a = capsule(0.25, 0.5, Vec3(7, 8, 9), Vec3::UnitZ());
  const Witness same = contacts(a, a)[0];
  EXPECT_EQ(same.normal, Vec3(1, 0, 0));
  EXPECT_DOUBLE_EQ(same.distance, -0.5);
}

TEST(GeometryRound, SphereAgainstSideAndEndOfACapsule) {
  const Shape c = capsule(0.25, 1, Vec3::Zero(), Vec3::UnitX());
  EXPECT_NEAR(contacts(sphere(0.5, Vec3(0.5, 2, 0)), c)[0].distance, 1.25, kRoundOff);
  const Witness end = contacts(sphere(0.5, Vec3(1 + 3, 4, 0)), c)[0];
  EXPECT_NEAR(end.distance, 5 - 0.75, kRoundOff);
  EXPECT_LT((end.normal - Vec3(-0.6, -0.8, 0)).norm(), kRoundOff);
}

TEST(GeometryRound, CapsuleAcrossCapsule) {
  const Shape a = capsule(0.25, 1, Vec3::Zero(), Vec3::UnitX());
  const Shape b = capsule(0.5, 1, Vec3(0.5, 0.25, 2), Vec3::UnitY());
  const Witness w = contacts(a, b)[0];
  EXPECT_NEAR(w.distance, 1.25, kRoundOff);
  EXPECT_LT((w.point1 - Vec3(0.5, 0, 0.25)).norm(), kRoundOff);
  EXPECT_LT((w.point2 - Vec3(0.5, 0, 1.5)).norm(), kRoundOff);
}

TEST(GeometryRound, ParallelCapsulesEndToEnd) {
  const Shape a = capsule(0.25, 1, Vec3::Zero(), Vec3::UnitX());
  const Witness w = contacts(a, capsule(0.25, 1, Vec3(1 + 1 + 3, 4, 0), Vec3::UnitX()))[0];
  EXPECT_NEAR(w.distance, 5 - 0.5, kRoundOff);
  EXPECT_LT((w.normal - Vec3(0.6, 0.8, 0)).norm(), kRoundOff);
}

TEST(GeometryRound, CrossingAxesLeaveAlongTheirPerpendicular) {
  const Shape a = capsule(0.25, 1, Vec3::Zero(), Vec3::UnitX());
  const Shape b = capsule(0.5, 1, Vec3(0.5, 0, 0), Vec3::UnitY());
  const Witness ab = contacts(a, b)[0], ba = contacts(b, a)[0];
  EXPECT_NEAR(ab.distance, -0.75, kRoundOff);
  EXPECT_NEAR(std::abs(ab.normal.z()), 1, kRoundOff);
  EXPECT_EQ(ab.normal, Vec3(-ba.normal));
}

// A capsule without length is a sphere.
TEST(GeometryRound, CapsuleWithoutLengthIsASphere) {
  Rng rng(9);
  for (int i = 0; i < 500; ++i) {
    const Shape ball = random_shape(rng, GeomType::sphere);
    Shape stub = ball;
    stub.type = GeomType::capsule;
    stub.size[1] = 0;
    for (const GeomType type :
         {GeomType::plane, GeomType::sphere, GeomType::capsule, GeomType::box}) {
      const Shape other = random_shape(rng, type);
      const Witness expected = contacts(ball, other)[0];
      std::vector<Witness> found = contacts(stub, other);
      if (type == GeomType::capsule) {  // what has no length touches at one point
        ASSERT_NEAR(found[1].distance, expected.distance + stub.size[0] + other.size[0], 1e-14);
        found.pop_back();
      }
      for (const Witness& w : found) {
        ASSERT_NEAR(w.distance, expected.distance, 1e-14) << name(type);
        ASSERT_LT((w.point1 - expected.point1).norm(), 1e-13) << name(type);
        ASSERT_LT((w.normal - expected.normal).norm(), 1e-12) << name(type);
      }
    }
  }
}

}  // namespace
}  // namespace stiction::reference::test

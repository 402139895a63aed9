// Points and segments beside cylinders, beside the search that needs supports alone.
#include <gtest/gtest.h>

#include <random>

#include "physics/collision/convex/convex_distance.h"

namespace stiction::test {
namespace {

using physics::ConvexPair;
using physics::LaneShape;
using V = physics::Vec3<double>;

struct Poses {
  std::mt19937_64 rng{1};
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform{0, 1};

  V any() { return {normal(rng), normal(rng), normal(rng)}; }
  void turn(LaneShape& s) {
    s.x = any(), s.x = (1 / physics::norm(s.x)) * s.x;
    s.y = physics::cross(s.x, any()), s.y = (1 / physics::norm(s.y)) * s.y;
    s.z = physics::cross(s.x, s.y);
  }
};

// The distance is that of the support planes along the normal, which no other normal's exceeds; the points are as far apart.
TEST(ConvexCylinder, IsApartAsTheSearchSays) {
  Poses poses;
  for (int round = 0; round < 20000; ++round) {
    LaneShape a{}, b{};
    a.type = round % 2 ? GeomType::capsule : GeomType::sphere, b.type = GeomType::cylinder;
    poses.turn(a), poses.turn(b);
    a.size = {0.01, 0.3 * poses.uniform(poses.rng), 0};
    b.size = {0.05 + 0.2 * poses.uniform(poses.rng), 0.05 + 0.2 * poses.uniform(poses.rng), 0};
    if (round % 7 == 0) a.z = b.z;                        // along the side
    if (round % 7 == 1) a.x = b.y, a.y = b.z, a.z = b.x;  // along a cap
    b.centre = (0.1 + 0.4 * poses.uniform(poses.rng)) * poses.any();
    const double extent = core_extent(a) + core_extent(b) + physics::norm(b.centre);
    const ConvexPair<LaneShape> pair{a, b, b.centre, extent};
    const auto found = physics::cylinder_apart(pair), search = nearest_points_apart(pair, 1e9);
    ASSERT_EQ(found.distance > 0, search.distance > 0) << round;
    if (!(found.distance > 0)) continue;
    const auto along = [&](const V& n) { return physics::dot(n, pair.support(-n).w); };
    // round-off of a distance, which grows as a normal that is a difference of points loses digits
    const double close = 1e-15 * extent * extent / found.distance + 1e-13 * extent;
    ASSERT_NEAR(along(found.normal), found.distance, close) << round;
    ASSERT_GE(found.distance, along(search.normal) - close) << round;
    const V way = found.point_b - found.point_a;
    ASSERT_NEAR(physics::dot(way, found.normal), found.distance, close) << round;
    ASSERT_NEAR(physics::norm(way), found.distance, close) << round;
  }
}

// A capsule that lies along the side, or stands on a rim, is nearest where its segment is.
TEST(ConvexCylinder, ParallelAndCrossed) {
  LaneShape a{}, b{};
  a.type = GeomType::capsule, b.type = GeomType::cylinder;
  for (LaneShape* s : {&a, &b}) s->x = {1, 0, 0}, s->y = {0, 1, 0}, s->z = {0, 0, 1};
  a.size = {0.1, 0.5, 0}, b.size = {0.2, 0.3, 0};
  b.centre = {1, 0, 0.2};
  const auto distance = [&] {
    return physics::cylinder_apart(ConvexPair<LaneShape>{a, b, b.centre, 2.0}).distance;
  };
  EXPECT_NEAR(distance(), 0.8, 1e-15);
  b.centre = {0, 0, 1};  // above each other: the segment ends at 0.5, the cylinder begins at 0.7
  EXPECT_NEAR(distance(), 0.2, 1e-15);
  b.centre = {0.5, 0, 1};  // the rim is at 0.3 beside the end, 0.2 above
  EXPECT_NEAR(distance(), std::hypot(0.3, 0.2), 1e-15);
  a.x = {0, 1, 0}, a.y = {0, 0, 1}, a.z = {1, 0, 0};
  b.centre = {0, 1, 0};  // across the side
  EXPECT_NEAR(distance(), 0.8, 1e-15);
}

}  // namespace
}  // namespace stiction::test

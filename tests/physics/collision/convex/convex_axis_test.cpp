// An axis along which shapes may be apart saves a search and changes nothing else, whatever it is.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "physics/collision/convex/convex_distance.h"

namespace stiction::test {
namespace {

using physics::ConvexDistance;
using physics::LaneShape;
using V = physics::Vec3<double>;

TEST(ConvexAxis, ChangesNoBitOfWhatIsNear) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto any = [&] { return V{normal(rng), normal(rng), normal(rng)}; };
  const auto unit = [](const V& v) { return (1 / physics::norm(v)) * v; };
  int near = 0, beyond = 0, saved = 0;
  for (int round = 0; round < 20000; ++round) {
    LaneShape s[2]{};
    for (LaneShape& q : s) {
      q.x = unit(any()), q.y = unit(physics::cross(q.x, any())), q.z = physics::cross(q.x, q.y);
      q.size = {0.05 + uniform(rng), 0.05 + uniform(rng), 0.05 + uniform(rng)};
    }
    constexpr GeomType kTypes[] = {GeomType::capsule, GeomType::ellipsoid, GeomType::cylinder,
                                   GeomType::box};
    s[0].type = kTypes[round % 3], s[1].type = kTypes[1 + round % 3];
    s[1].centre = (0.7 + uniform(rng)) * any();
    const double reach = 0.2 * uniform(rng);
    const ConvexDistance d = physics::convex_distance(s[0], s[1], reach);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const V& axis : {unit(any()), unit(s[1].centre), 1.04 * unit(s[1].centre), -unit(any()),
                          any(), V{nan, nan, nan}, V{1e30, 0, 0}}) {
      const ConvexDistance found = physics::convex_distance(s[0], s[1], reach, axis);
      ASSERT_EQ(found.distance > reach, d.distance > reach) << round;
      (d.distance > reach ? beyond : near)++;
      if (d.distance > reach)
        saved += found.normal.x != d.normal.x;
      else
        ASSERT_EQ(std::memcmp(&found, &d, sizeof d), 0) << round;
    }
  }
  EXPECT_GT(near, 20000);
  EXPECT_GT(beyond, 20000);
  EXPECT_GT(saved, 5000);
}

}  // namespace
}  // namespace stiction::test

// A plane against the shapes: closed forms by hand and the names of the points.
#include <gtest/gtest.h>

#include "reference/collision/geometry_oracle.h"

namespace stiction::reference::test {
namespace {

constexpr double kRoundOff = 1e-15;  // one or two operations on numbers near 1

const Shape kFloor{GeomType::plane, Vec3::Zero(), Vec3::Zero(), Mat3::Identity()};

Mat3 turned(double angle, const Vec3& axis) {
  return Eigen::AngleAxisd(angle, axis).toRotationMatrix();
}

TEST(GeometryPlane, SphereAboveAndBelow) {
  const Shape above{GeomType::sphere, Vec3(0.5, 0, 0), Vec3(3, 4, 0.75), Mat3::Identity()};
  const Witness w = contacts(kFloor, above)[0];
  EXPECT_DOUBLE_EQ(w.distance, 0.25);
  EXPECT_EQ(w.point1, Vec3(3, 4, 0));
  EXPECT_EQ(w.point2, Vec3(3, 4, 0.25));
  EXPECT_EQ(w.normal, Vec3(0, 0, 1));

  const Shape below{GeomType::sphere, Vec3(0.5, 0, 0), Vec3(3, 4, -2), Mat3::Identity()};
  EXPECT_DOUBLE_EQ(contacts(kFloor, below)[0].distance, -2.5);
}

TEST(GeometryPlane, CapsuleTouchesWithItsEnds) {
  // axis 30 degrees above the floor, its +z end up
  const Shape capsule{GeomType::capsule, Vec3(0.1, 2, 0), Vec3(0, 0, 1),
                      turned(M_PI / 3, Vec3::UnitY())};
  const auto w = contacts(kFloor, capsule);
  EXPECT_NEAR(w[0].distance, 1 - 2 * 0.5 - 0.1, kRoundOff);
  EXPECT_NEAR(w[1].distance, 1 + 2 * 0.5 - 0.1, kRoundOff);
  EXPECT_NEAR(w[0].point2.x(), -std::sqrt(3), kRoundOff);
  EXPECT_NEAR(w[1].point2.x(), std::sqrt(3), kRoundOff);
}

TEST(GeometryPlane, BoxVerticesAreNamedBySignBits) {
  const Shape box{GeomType::box, Vec3(1, 2, 3), Vec3(10, 20, 30), Mat3::Identity()};
  const auto w = contacts(kFloor, box);
  EXPECT_EQ(w[0].point2, Vec3(9, 18, 27));
  EXPECT_EQ(w[1].point2, Vec3(11, 18, 27));
  EXPECT_EQ(w[2].point2, Vec3(9, 22, 27));
  EXPECT_EQ(w[4].point2, Vec3(9, 18, 33));
  EXPECT_EQ(w[7].point2, Vec3(11, 22, 33));
  EXPECT_DOUBLE_EQ(w[7].distance, 33);
}

TEST(GeometryPlane, CylinderRimPointsFollowTheDeepest) {
  // leaning by 30 degrees towards +x: the lower cap's deepest rim point is at +x
  const Shape cylinder{GeomType::cylinder, Vec3(1, 2, 0), Vec3::Zero(),
                       turned(M_PI / 6, Vec3::UnitY())};
  const auto w = contacts(kFloor, cylinder);
  const double s = std::sqrt(3) / 2;
  EXPECT_NEAR(w[0].distance, -2 * s - 0.5, kRoundOff);  // cap -z, deepest
  EXPECT_NEAR(w[1].distance, -2 * s, kRoundOff);
  EXPECT_NEAR(w[2].distance, -2 * s + 0.5, kRoundOff);
  EXPECT_NEAR(w[3].distance, -2 * s, kRoundOff);
  EXPECT_NEAR(w[4].distance, 2 * s - 0.5, kRoundOff);  // cap +z
  EXPECT_LT((w[0].point2 - Vec3(-1 + s, 0, -2 * s - 0.5)).norm(), 2 * kRoundOff);
  EXPECT_LT((w[1].point2 - Vec3(-1, 1, -2 * s)).norm(), 2 * kRoundOff);  // z × deepest = +y
}

TEST(GeometryPlane, RollingDoesNotTurnTheRimPoints) {
  Rng rng(5);
  for (int i = 0; i < 100; ++i) {
    Shape cylinder = random_shape(rng, GeomType::cylinder);
    const auto before = contacts(kFloor, cylinder);
    cylinder.rot = cylinder.rot * turned(uniform(rng, 0, 6), Vec3::UnitZ());
    const auto after = contacts(kFloor, cylinder);
    for (std::size_t k = 0; k < 8; ++k) {
      // the rim point's direction is known to round-off over the sine of the tilt (> 1e-3 here)
      EXPECT_LT((after[k].point2 - before[k].point2).norm(), 1e-12);
    }
  }
}

TEST(GeometryPlane, StandingCylinderFallsBackToItsOwnAxis) {
  const Shape cylinder{GeomType::cylinder, Vec3(1, 2, 0), Vec3(0, 0, 2),
                       turned(0.7, Vec3::UnitZ())};
  const auto w = contacts(kFloor, cylinder);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(w[k].distance, 0, kRoundOff);
    EXPECT_NEAR(w[k + 4].distance, 4, kRoundOff);
  }
  EXPECT_LT((w[0].point2 - Vec3(std::cos(0.7), std::sin(0.7), 0)).norm(), 2 * kRoundOff);
}

TEST(GeometryPlane, AllCylinderDistancesAreContinuousWhereItStands) {
  Rng rng(11);
  for (int i = 0; i < 1000; ++i) {
    const double tilt = std::pow(10, uniform(rng, -16, -4));
    const Shape standing{GeomType::cylinder, Vec3(1, 2, 0), Vec3(0, 0, 2), Mat3::Identity()};
    Shape leaning = standing;
    leaning.rot = turned(tilt, Vec3(std::cos(i), std::sin(i), 0));
    const auto w = contacts(kFloor, standing), v = contacts(kFloor, leaning);
    for (std::size_t k = 0; k < 8; ++k) {
      // rim points rise by radius * tilt, the cap by less
      EXPECT_NEAR(v[k].distance, w[k].distance, 1.01 * tilt + kRoundOff);
    }
  }
}

TEST(GeometryPlane, EllipsoidSupportPoint) {
  // axis-aligned: the pole; turned by 45 degrees about y: the support plane in closed form
  Shape e{GeomType::ellipsoid, Vec3(1, 2, 3), Vec3(5, 6, 7), Mat3::Identity()};
  EXPECT_DOUBLE_EQ(contacts(kFloor, e)[0].distance, 4);
  EXPECT_EQ(contacts(kFloor, e)[0].point2, Vec3(5, 6, 4));
  e.rot = turned(M_PI / 4, Vec3::UnitY());
  EXPECT_NEAR(contacts(kFloor, e)[0].distance, 7 - std::sqrt((1 + 9) / 2.0), kRoundOff);
}

TEST(GeometryPlane, TiltedPlaneUsesItsOwnNormal) {
  const Shape wall{GeomType::plane, Vec3::Zero(), Vec3(-1, 0, 0), turned(M_PI / 2, Vec3::UnitY())};
  const Shape ball{GeomType::sphere, Vec3(0.5, 0, 0), Vec3(1, 5, 5), Mat3::Identity()};
  const Witness w = contacts(wall, ball)[0];
  EXPECT_NEAR(w.distance, 1.5, kRoundOff);
  EXPECT_LT((w.normal - Vec3::UnitX()).norm(), kRoundOff);
}

}  // namespace
}  // namespace stiction::reference::test

// Cylinders, ellipsoids and meshes against every convex shape: the signed distance is certified by its normal,
// and the points are where shapes stand, lie and lean.
#include <gtest/gtest.h>

#include "reference/collision/geometry.h"
#include "reference/collision/geometry_oracle.h"

namespace stiction::reference::test {
namespace {

constexpr double kResolved = 1e-8;  // of shapes a metre wide: a search ends there

class ConvexPair : public testing::TestWithParam<TypePair> {
 protected:
  Rng rng{11};
  Shape first(double spread = 1.2) { return random_shape(rng, GetParam().a, spread); }
  Shape second(double spread = 1.2) { return random_shape(rng, GetParam().b, spread); }
};

Shape moved(const Shape& s, const Vec3& shift, const Vec3& turn) {
  return {s.type, s.size, s.pos + shift, exp_quat(turn).toRotationMatrix() * s.rot, s.hull};
}

// How far a point that touches along m, d away from the other shape, may be from the surface. Of a mesh the search that ends at
// kResolved of the extent leaves it beside the nearest point, by x where x²/2(extent + d) is as much; and all its points
// count as deep as the deepest vertex, by at most 0.02 of their way to it.
double off_surface(const Shape& s, const Vec3& p, const Vec3& m, double d) {
  if (s.type != GeomType::mesh) return 1e-5;
  Vec3 deepest = s.pos + s.rot * s.hull.vertex(0);
  for (int i = 1; i < s.hull.vertices(); ++i) {
    const Vec3 vertex = s.pos + s.rot * s.hull.vertex(i);
    if (m.dot(vertex) > m.dot(deepest)) deepest = vertex;
  }
  const double extent = s.size.sum();
  return std::sqrt(2 * kResolved * extent * (extent + std::abs(d))) + 0.02 * (deepest - p).norm();
}

TEST_P(ConvexPair, LeastDistanceIsTheSignedDistance) {
  int overlaps = 0;
  for (int i = 0; i < 300; ++i) {
    const Shape a = first(), b = second();
    const auto all = contacts(a, b);
    ASSERT_EQ(static_cast<int>(all.size()), contact_points(a.type, b.type));
    const Witness w = nearest(all);
    overlaps += w.distance < 0;
    for (const Witness& x : all) {
      ASSERT_NEAR(x.normal.norm(), 1, 1e-14);
      ASSERT_LT((x.point2 - x.point1 - x.distance * x.normal).norm(), 1e-14);
    }
    // on both surfaces: no distance is larger; the normal: none is smaller; by force: none is shallower
    ASSERT_NEAR(outside(a, w.point1), 0, off_surface(a, w.point1, w.normal, w.distance)) << i;
    ASSERT_NEAR(outside(b, w.point2), 0, off_surface(b, w.point2, -w.normal, w.distance)) << i;
    ASSERT_NEAR(separation(a, b, w.normal), w.distance, kResolved) << i;
    if (i < 25) {
      ASSERT_LT(brute_force_distance(a, b, rng), w.distance + kResolved) << i;
    }
  }
  EXPECT_GT(overlaps, 30);
  EXPECT_LT(overlaps, 280);
}

TEST_P(ConvexPair, SwappedArgumentsSwapTheWitnesses) {
  for (int i = 0; i < 100; ++i) {
    const Shape a = first(), b = second();
    const auto ab = contacts(a, b), ba = contacts(b, a);
    ASSERT_NEAR(nearest(ab).distance, nearest(ba).distance, kResolved);
    if (a.type == b.type) continue;  // the points have other names
    for (std::size_t k = 0; k < ab.size(); ++k) {
      ASSERT_EQ(ab[k].point1, ba[k].point2);
      ASSERT_EQ(ab[k].normal, -ba[k].normal);
    }
  }
}

TEST_P(ConvexPair, DistanceChangesNoFasterThanTheShapes) {
  for (int i = 0; i < 300; ++i) {
    const Shape a = first(0.8);
    Shape b = second(0.8);
    if (i % 2) {  // along the poses where features change
      b.rot = a.rot * exp_quat((i % 4) * M_PI / 4 * Vec3::Unit(i % 3)).toRotationMatrix();
    }
    const double size = std::pow(10, uniform(rng, -9, -1));
    const Vec3 shift = random_vector(rng, size), turn = random_vector(rng, size);
    const double motion = shift.norm() + turn.norm() * b.size.sum();
    const double before = nearest(contacts(a, b)).distance;
    const double after = nearest(contacts(a, moved(b, shift, turn))).distance;
    ASSERT_LE(std::abs(after - before), motion + kResolved) << i;
  }
}

TEST_P(ConvexPair, FiniteForDegenerateShapes) {
  const double sizes[] = {0, 1e-6, 1, 1e3}, places[] = {0, 1e-9, 1, 1e3};
  const auto pick = [&](const auto& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, std::size(from) - 1)(rng)];
  };
  for (int i = 0; i < 300; ++i) {
    Shape a = first(), b = second();
    for (Shape* s : {&a, &b}) {
      s->size = Vec3(pick(sizes), pick(sizes), pick(sizes));
      s->pos = Vec3(pick(places), pick(places), pick(places));
      if (i % 2) s->rot = Mat3::Identity();
    }
    for (const Witness& w : contacts(a, b)) {
      ASSERT_TRUE(std::isfinite(w.distance)) << i;
      ASSERT_TRUE(w.point1.allFinite() && w.point2.allFinite()) << i;
      ASSERT_NEAR(w.normal.norm(), 1, 1e-12) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Geometry, ConvexPair, testing::ValuesIn(searched_pairs()),
                         [](const auto& p) { return name(p.param); });

// The points in overlap, in the order of their slots.
std::vector<Vec3> touching(const Shape& a, const Shape& b, double depth) {
  std::vector<Vec3> points;
  for (const Witness& w : contacts(a, b)) {
    if (w.distance >= 0) continue;
    EXPECT_NEAR(w.distance, -depth, 1e-12);
    points.push_back(w.point1);
  }
  return points;
}
const Mat3 kUpright = Mat3::Identity();
const Mat3 kAlongY = exp_quat(M_PI / 2 * Vec3::UnitX()).toRotationMatrix();
constexpr double kDepth = 1e-4;

TEST(ConvexPoints, ACylinderStandsOnFourPointsOfItsRim) {
  const Shape cylinder{GeomType::cylinder, {0.1, 0.2, 0}, {0, 0, 0.3 - kDepth}, kUpright};
  const Shape box{GeomType::box, {0.5, 0.5, 0.1}, {0, 0, 0}, kUpright};
  const auto points = touching(cylinder, box, kDepth);
  ASSERT_EQ(points.size(), 4u);
  for (const Vec3& p : points) EXPECT_NEAR(p.head<2>().norm(), 0.1, 1e-14);
}

TEST(ConvexPoints, OverAnEdgeItStandsOnWhereTheRimCrossesTheEdge) {
  const Shape cylinder{GeomType::cylinder, {0.1, 0.2, 0}, {0.1, 0, 0.3 - kDepth}, kUpright};
  const Shape box{GeomType::box, {0.15, 0.5, 0.1}, {0, 0, 0}, kUpright};
  const auto points = touching(cylinder, box, kDepth);
  ASSERT_EQ(points.size(), 5u);
  int crossings = 0;
  for (const Vec3& p : points) {
    EXPECT_LE(p.x(), 0.15 + 1e-14);
    crossings +=
        std::abs(p.x() - 0.15) < 1e-14 && std::abs(std::abs(p.y()) - std::sqrt(0.0075)) < 1e-14;
  }
  EXPECT_EQ(crossings, 2);
}

TEST(ConvexPoints, ACylinderLiesOnTwoEndsOfALine) {
  const Shape cylinder{GeomType::cylinder, {0.1, 0.2, 0}, {0, 0, 0.2 - kDepth}, kAlongY};
  const Shape box{GeomType::box, {0.5, 0.15, 0.1}, {0, 0, 0}, kUpright};
  const auto points = touching(cylinder, box, kDepth);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR((points[0] - points[1]).norm(), 0.3, 1e-14);
}

TEST(ConvexPoints, ACylinderOnAnotherTouchesWhereTheCapsOverlap) {
  const Shape below{GeomType::cylinder, {0.1, 0.2, 0}, {0, 0, 0}, kUpright};
  const Shape above{GeomType::cylinder, {0.1, 0.2, 0}, {0.1, 0, 0.4 - kDepth}, kUpright};
  const auto points = touching(below, above, kDepth);
  ASSERT_EQ(points.size(), 4u);  // a rim point of each, two crossings
  for (const Vec3& p : points) {
    EXPECT_LE(p.head<2>().norm(), 0.1 + 1e-14);
    EXPECT_LE((p - above.pos).head<2>().norm(), 0.1 + 1e-14);
  }
}

TEST(ConvexPoints, ParallelSidesTouchAtTheEndsOfWhatTheyShare) {
  const Shape capsule{GeomType::capsule, {0.05, 0.2, 0}, {0, 0.05, 0.15 - kDepth}, kAlongY};
  const Shape cylinder{GeomType::cylinder, {0.1, 0.2, 0}, {0, 0, 0}, kAlongY};
  auto points = touching(capsule, cylinder, kDepth);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR((points[0] - points[1]).norm(), 0.35, 1e-14);
  // crossed, they touch at one
  const Shape across = moved(capsule, Vec3(0, -0.05, 0), M_PI / 2 * Vec3::UnitZ());
  points = touching(across, cylinder, kDepth);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].head<2>().norm(), 0, 1e-7);
}

TEST(ConvexPoints, ACoinThatLeansTouchesAtItsLowestPoint) {
  const double lean = 0.3;
  const Shape box{GeomType::box, {2, 2, 1}, {0, 0, -1}, kUpright};
  for (int i = 0; i < 12; ++i) {
    const Mat3 rot = exp_quat(0.5 * i * Vec3::UnitZ()).toRotationMatrix() *
                     exp_quat(lean * Vec3::UnitX()).toRotationMatrix();
    const double height = 0.1 * std::sin(lean) + 0.01 * std::cos(lean);
    const Shape coin{GeomType::cylinder, {0.1, 0.01, 0}, {0, 0, height - kDepth}, rot};
    const auto all = contacts(coin, box);
    EXPECT_NEAR(all[0].distance, -kDepth, 1e-12);  // the slot of the deepest rim point
    EXPECT_NEAR(all[0].point1.z(), -kDepth, 1e-12);
    for (std::size_t k = 1; k < all.size(); ++k) EXPECT_GT(all[k].distance, 0);
  }
}

TEST(ConvexPoints, AnEllipsoidTouchesABoxAtItsSupportPoint) {
  const Shape egg{GeomType::ellipsoid, {0.1, 0.2, 0.3}, {0.05, 0, 0.3 - kDepth}, kUpright};
  const Shape box{GeomType::box, {0.5, 0.5, 0.1}, {0, 0, -0.1}, kUpright};
  const auto points = touching(egg, box, kDepth);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR((points[0] - Vec3(0.05, 0, -kDepth)).norm(), 0, 1e-6);
}

}  // namespace
}  // namespace stiction::reference::test

// What holds for every pair of shapes.
#include "reference/collision/geometry.h"

#include <gtest/gtest.h>

#include "reference/collision/geometry_oracle.h"

namespace stiction::reference::test {
namespace {

// Shapes are a few metres wide: distances are sums of about ten terms, each rounded at 1e-16.
constexpr double kRoundOff = 1e-14;
// Ties between features are decided at 1e-12 of the extent (geometry_colliders.h).
constexpr double kTied = 1e-11;

class EveryPair : public testing::TestWithParam<TypePair> {
 protected:
  Rng rng{7};
  Shape first(double spread = 1.5) { return random_shape(rng, GetParam().a, spread); }
  Shape second(double spread = 1.5) { return random_shape(rng, GetParam().b, spread); }
  // Boxes that overlap may touch beyond their sides by half the depth (geometry.h).
  static double blur(const std::vector<Witness>& w) {
    return GetParam().a == GeomType::box ? std::max(0.0, -0.5 * nearest(w).distance) : 0;
  }
  // Points between capsules whose axes are turned a little are on either side of both (geometry.h).
  static double beside(const Shape& a, const Shape& b) {
    if (a.type != GeomType::capsule || b.type != GeomType::capsule) return 0;
    return a.rot.col(2).cross(b.rot.col(2)).norm() < 0.5 ? (a.size[1] + b.size[1]) / 100 : 0;
  }
  // Of capsules whose axes, seen along the normal, look in opposite directions the other end is first.
  static bool opposite(const std::vector<Witness>& w, const Shape& a, const Shape& b) {
    if (a.type != GeomType::capsule || b.type != GeomType::capsule) return false;
    const Vec3 n = w[0].normal, u = a.rot.col(2), v = b.rot.col(2);
    return n.cross(u).dot(n.cross(v)) < 0 && n.cross(w[0].point1 - w[1].point1).norm() > kTied;
  }
};

// Turns and shifts a shape; `turn` is a rotation vector about the shape's centre.
Shape moved(const Shape& s, const Vec3& shift, const Vec3& turn) {
  return {s.type, s.size, s.pos + shift, exp_quat(turn).toRotationMatrix() * s.rot};
}
double reach(const Shape& s) {
  return s.type == GeomType::plane ? 0 : s.size.sum();
}

TEST_P(EveryPair, CountIsThatOfTheTable) {
  const Shape a = first(), b = second();
  std::vector<Witness> out(9, Witness{Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), 77});
  const int count = collide(a, b, out);
  ASSERT_EQ(count, contact_points(a.type, b.type));
  EXPECT_NE(out[static_cast<std::size_t>(count - 1)].distance, 77);
  EXPECT_EQ(out[static_cast<std::size_t>(count)].distance, 77) << "wrote past its points";
}

TEST_P(EveryPair, WitnessesAreConsistent) {
  for (int i = 0; i < 2000; ++i) {
    const Shape a = first(), b = second();
    const auto all = contacts(a, b);
    const double surface = kRoundOff + blur(all) + beside(a, b);
    for (const Witness& w : all) {
      ASSERT_NEAR(w.normal.norm(), 1, kRoundOff);
      ASSERT_LT((w.point2 - w.point1 - w.distance * w.normal).norm(), kRoundOff);
      // farther points of a manifold may lie inside the round shapes, never outside
      // a slot of two boxes without a corner repeats one at a larger distance
      if (GetParam().a == GeomType::box && w.distance > 0) continue;
      ASSERT_LT(outside(a, w.point1), surface);
      ASSERT_LT(outside(b, w.point2), surface);
    }
  }
}

TEST_P(EveryPair, LeastDistanceIsTheSignedDistance) {
  int overlaps = 0;
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    const Shape a = first(), b = second();
    const auto all = contacts(a, b);
    const Witness w = nearest(all);
    overlaps += w.distance < 0;
    // the points are on both surfaces (no distance is larger), the normal proves it (nor smaller)
    // boxes: a tie between axes moves the crossing of two sides by as much
    const double surface = (a.type == GeomType::box ? kTied : kRoundOff) + blur(all);
    ASSERT_NEAR(outside(a, w.point1), 0, surface);
    ASSERT_NEAR(outside(b, w.point2), 0, surface);
    const double certified = separation(a, b, w.normal);
    worst = std::max(worst, std::abs(certified - w.distance));
    // (nearly parallel edges of boxes: round-off over their sine)
    const double proven = a.type == GeomType::box ? kTied : kRoundOff;
    ASSERT_NEAR(certified, w.distance, proven) << "sample " << i;
    // overlapping: no direction is shallower
    if (i < 150) {
      ASSERT_LT(brute_force_distance(a, b, rng), w.distance + kTied) << "sample " << i;
    }
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(overlaps, 200);
  EXPECT_LT(overlaps, 1900);
}

TEST_P(EveryPair, SwappedArgumentsSwapTheWitnesses) {
  for (int i = 0; i < 500; ++i) {
    const Shape a = first(), b = second();
    const auto ab = contacts(a, b);
    auto ba = contacts(b, a);
    ASSERT_EQ(ab.size(), ba.size());
    if (opposite(ab, a, b)) std::swap(ba[0], ba[1]);
    if (a.type == GeomType::box) {  // the corners have other names
      ASSERT_NEAR(nearest(ab).distance, nearest(ba).distance, kTied);
      ASSERT_LT((nearest(ab).normal + nearest(ba).normal).norm(), 1e-11);
      continue;
    }
    for (std::size_t k = 0; k < ab.size(); ++k) {
      // pairs of different types are the same computation, of one type rounded differently
      const double tolerance = a.type == b.type ? 10 * kRoundOff : 0;
      ASSERT_LE((ab[k].point1 - ba[k].point2).norm(), tolerance);
      ASSERT_LE((ab[k].point2 - ba[k].point1).norm(), tolerance);
      ASSERT_LE((ab[k].normal + ba[k].normal).norm(), tolerance / std::abs(1e-3 + ab[k].distance));
      ASSERT_NEAR(ab[k].distance, ba[k].distance, tolerance);
    }
  }
}

TEST_P(EveryPair, MovesWithTheShapes) {
  for (int i = 0; i < 500; ++i) {
    const Shape a = first(), b = second();
    const Mat3 rot = random_rotation(rng);
    const Vec3 shift = random_vector(rng, 3);
    const auto placed = [&](const Shape& s) -> Shape {
      return {s.type, s.size, rot * s.pos + shift, rot * s.rot};
    };
    const auto before = contacts(a, b), after = contacts(placed(a), placed(b));
    for (std::size_t k = 0; k < before.size(); ++k) {
      ASSERT_NEAR(after[k].distance, before[k].distance, kTied);
      // near coincidence normals and points magnify round-off: points by up to 1e4 in this sample
      ASSERT_LT((after[k].normal - rot * before[k].normal).norm(), 1e-9);
      ASSERT_LT((after[k].point2 - (rot * before[k].point2 + shift)).norm(), 1e-9);
    }
  }
}

// A point of b moves by at most `motion`, so the signed distance changes by no more.
TEST_P(EveryPair, DistanceChangesNoFasterThanTheShapes) {
  for (int i = 0; i < 5000; ++i) {
    const Shape a = first(0.8), b = second(0.8);
    const double size = std::pow(10, uniform(rng, -9, -1));
    const Vec3 shift = random_vector(rng, size), turn = random_vector(rng, size);
    const double motion = shift.norm() + turn.norm() * reach(b);
    const double before = nearest(contacts(a, b)).distance;
    const double after = nearest(contacts(a, moved(b, shift, turn))).distance;
    ASSERT_LE(std::abs(after - before), motion + kTied) << "sample " << i;
  }
}

// The same along the poses where features change: axes parallel to axes, faces and edges.
TEST_P(EveryPair, DistanceIsContinuousAtAlignedPoses) {
  for (int i = 0; i < 5000; ++i) {
    Shape a = first(), b = second(1.0);
    a.pos = Vec3::Zero(), a.rot = Mat3::Identity(), b.rot = Mat3::Identity();
    const int quarter = static_cast<int>(uniform(rng, 0, 4));
    b = moved(b, Vec3::Zero(), quarter * M_PI / 4 * Vec3::Unit(i % 3));
    if (i % 2) b.pos = b.pos.cwiseSign().cwiseProduct(a.size);  // over edges and corners
    const double size = std::pow(10, uniform(rng, -16, -3));
    const Vec3 shift = random_vector(rng, size), turn = random_vector(rng, size);
    const double motion = shift.norm() + turn.norm() * reach(b);
    const double before = nearest(contacts(a, b)).distance;
    const double after = nearest(contacts(a, moved(b, shift, turn))).distance;
    ASSERT_LE(std::abs(after - before), motion + kTied) << "sample " << i;
  }
}

TEST_P(EveryPair, FiniteForDegenerateShapes) {
  const double sizes[] = {0, 1e-6, 1, 1e6};
  const double places[] = {0, 1e-300, 1e-9, 1, 1e6};
  for (int i = 0; i < 4000; ++i) {
    const auto pick = [&](const auto& from) {
      return from[std::uniform_int_distribution<std::size_t>(0, std::size(from) - 1)(rng)];
    };
    Shape a = first(), b = second();
    a.size = Vec3(pick(sizes), pick(sizes), pick(sizes));
    b.size = Vec3(pick(sizes), pick(sizes), pick(sizes));
    a.pos = Vec3(pick(places), pick(places), pick(places));
    b.pos = i % 3 ? Vec3(pick(places), pick(places), pick(places)) : a.pos;
    if (i % 2) a.rot = Mat3::Identity();
    if (i % 4 < 2) b.rot = a.rot;
    const double extent = a.size.norm() + b.size.norm() + a.pos.norm() + b.pos.norm();
    for (const Witness& w : contacts(a, b)) {
      ASSERT_TRUE(std::isfinite(w.distance)) << i;
      ASSERT_TRUE(w.point1.allFinite() && w.point2.allFinite()) << i;
      ASSERT_NEAR(w.normal.norm(), 1, kRoundOff) << i;
      // ties accept a point that is off the normal by 1e-12 of the extent
      ASSERT_LE((w.point2 - w.point1 - w.distance * w.normal).norm(), 4e-12 * extent) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Geometry, EveryPair, testing::ValuesIn(all_pairs()),
                         [](const auto& p) { return name(p.param); });

constexpr double kFlatField[4] = {};

TEST(Geometry, PairsWithoutColliderWriteNothing) {
  Rng rng(3);
  for (int i = 0; i < kGeomTypes; ++i) {
    for (int j = 0; j < kGeomTypes; ++j) {
      const auto a = static_cast<GeomType>(i), b = static_cast<GeomType>(j);
      std::vector<Witness> out(12);
      Shape first = random_shape(rng, a), second = random_shape(rng, b);
      for (Shape* s : {&first, &second})
        if (s->type == GeomType::hfield) s->field = {2, 2, {1, 1, 1}, kFlatField};
      EXPECT_EQ(collide(first, second, out), contact_points(a, b)) << name(a) << " " << name(b);
    }
  }
}

}  // namespace
}  // namespace stiction::reference::test

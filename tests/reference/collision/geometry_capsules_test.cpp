// Two capsules that are nearly parallel: the two points, by hand, and that they move as the capsules do.
#include "reference/collision/geometry_capsules.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stiction::reference::test {
namespace {

constexpr double kRoundOff = 1e-15;  // one or two operations on numbers near 1

// One capsule along x, one above it that is turned by `yaw` about z; radii sum to 1.
struct Crossed {
  double half1 = 1, half2 = 1, height = 0.9, yaw = 0, offset = 0;
  std::vector<Witness> contacts() const {
    const Shape upper = capsule(0.5, half2, Vec3(offset, 0, height), Vec3::UnitX());
    return test::contacts(capsule(0.5, half1, Vec3::Zero(), Vec3::UnitX()),
                          turned(upper, Vec3(0, 0, yaw)));
  }
};

TEST(GeometryCapsules, ParallelAxesTouchAtTheEndsOfTheirOverlap) {
  for (const double yaw : {0.0, M_PI}) {  // also antiparallel: the order is that of the first
    const auto w = Crossed{.half2 = 2, .height = 1.5, .yaw = yaw, .offset = 2.5}.contacts();
    for (const Witness& point : w) {
      EXPECT_NEAR(point.distance, 0.5, kRoundOff);
      EXPECT_LT((point.normal - Vec3::UnitZ()).norm(), kRoundOff);
    }
    EXPECT_LT((w[0].point1 - Vec3(0.5, 0, 0.5)).norm(), 4 * kRoundOff);
    EXPECT_LT((w[1].point1 - Vec3(1, 0, 0.5)).norm(), 4 * kRoundOff);
  }
}

// On a capsule along x one that is lifted at one end by sin θ: the nearer end touches, the other is higher by L sin θ.
TEST(GeometryCapsules, TheFarEndOfATiltedCapsuleIsHigher) {
  const double tilt = 0.1, rise = 2 * std::sin(tilt);
  const Vec3 centre(std::cos(tilt), 0, 1 + std::sin(tilt));
  const Shape lower = capsule(0.5, 3, Vec3::Zero(), Vec3::UnitX());
  const Shape upper = turned(capsule(0.5, 1, centre, Vec3::UnitX()), Vec3(0, -tilt, 0));
  const auto w = contacts(lower, upper);
  // u = (4 sin² θ)² pulls the far point down to the near one
  const double u = std::pow(4 * std::sin(tilt) * std::sin(tilt), 2);
  EXPECT_NEAR(w[0].distance, 0, kRoundOff);
  EXPECT_NEAR(w[1].distance, (1 - u) * rise, 4 * kRoundOff);
  EXPECT_NEAR(w[0].point1.x(), 0, kRoundOff);
  EXPECT_NEAR(w[1].point1.x(), (1 - u) * 2 * std::cos(tilt), 4 * kRoundOff);
}

// Axes that cross above each other: both points at the crossing's height, as far from it as u says.
TEST(GeometryCapsules, CrossingAxesBringTheTwoPointsTogether) {
  for (const double yaw : {1e-6, 1e-4, 0.02, 0.05, 0.1, 0.3, -0.05, M_PI - 0.02, M_PI / 2}) {
    const auto w = Crossed{.yaw = yaw}.contacts();
    // the overlap along the middle of both directions, which are at yaw/2 from it
    const double length = 2 * std::abs(std::cos(std::remainder(yaw, M_PI) / 2));
    const double u = 25 * std::pow(std::sin(yaw), 2) * (1 + length);
    const double share = std::max(0.0, 1 - u), fade = std::clamp(u - 1, 0.0, 1.0);
    const double tolerance = 8 * kRoundOff / std::abs(std::sin(yaw));  // of where they cross
    EXPECT_NEAR(w[0].distance, -0.1, kRoundOff) << yaw;
    EXPECT_NEAR(w[1].distance, -0.1 + fade, 8 * kRoundOff) << yaw;
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_LT((w[k].normal - Vec3::UnitZ()).norm(), tolerance) << yaw;
      EXPECT_NEAR(w[k].point1.head<2>().norm(), share * length / 2, tolerance) << yaw;
      EXPECT_GE((k == 0 ? -1 : 1) * w[k].point1.x(), -tolerance) << yaw;
    }
  }
}

// Nothing stands on two points: one above the other, on its end, with next to no overlap.
TEST(GeometryCapsules, OnePointWhereTheyDontLieAlongEachOther) {
  const Shape lower = capsule(0.5, 1, Vec3::Zero(), Vec3::UnitX());
  for (const Shape& upper :
       {capsule(0.25, 1, Vec3(0.25, 0, 0.7 + 1), Vec3::UnitZ()),         // on its end
        capsule(0.25, 1, Vec3(0.25, 0, 0.7), Vec3::UnitY()),             // across
        capsule(0.25, 1, Vec3(1 + 1 - 0.005, 0, 0.7), Vec3::UnitX()),    // 5 mm of overlap
        capsule(0.25, 1, Vec3(1 + 1 + 0.1, 0, 0.65), Vec3::UnitX())}) {  // beside its end
    const auto w = contacts(lower, upper);
    EXPECT_LT(w[0].distance, 0);
    EXPECT_NEAR(w[1].distance, w[0].distance + 0.75, 4 * kRoundOff);
  }
}

// The least of all pairs of points of the two axes, by alternating projection from both ends.
double axis_distance(const Shape& a, const Shape& b) {
  double least = std::numeric_limits<double>::infinity();
  const auto nearest = [](const Shape& s, const Vec3& x) -> Vec3 {
    const Vec3 u = s.rot.col(2);
    return s.pos + std::clamp(u.dot(x - s.pos), -s.size[1], s.size[1]) * u;
  };
  for (const double end : {-1.0, 1.0}) {
    const Vec3 p = a.pos + end * a.size[1] * a.rot.col(2);
    least = std::min(least, (nearest(b, p) - p).norm());
    const Vec3 q = b.pos + end * b.size[1] * b.rot.col(2);
    least = std::min(least, (nearest(a, q) - q).norm());
  }
  // two lines pass each other at this distance, if between the ends
  const Vec3 w = a.rot.col(2).cross(b.rot.col(2)), d = b.pos - a.pos;
  const double s = d.cross(b.rot.col(2)).dot(w), t = d.cross(a.rot.col(2)).dot(w);
  const double sine2 = w.squaredNorm();
  if (std::abs(s) <= a.size[1] * sine2 && std::abs(t) <= b.size[1] * sine2 && sine2 > 1e-20)
    least = std::min(least, std::abs(d.dot(w)) / std::sqrt(sine2));
  return least;
}

TEST(GeometryCapsules, LeastDistanceIsExactWhereTheyAreNearlyParallel) {
  Rng rng(31);
  int two = 0;
  for (int i = 0; i < 20000; ++i) {
    const Shape a = random_shape(rng, GeomType::capsule), b = nearly_parallel(a, rng);
    const auto w = contacts(a, b), swapped = contacts(b, a);
    const double expected = axis_distance(a, b) - a.size[0] - b.size[0];
    ASSERT_NEAR(nearest(w).distance, expected, 1e-14) << i;
    ASSERT_NEAR(nearest(swapped).distance, expected, 1e-14) << i;
    ASSERT_NEAR(w[0].distance + w[1].distance, swapped[0].distance + swapped[1].distance, 1e-10)
        << i;
    // the normal proves it, to round-off over the distance of the axes
    ASSERT_NEAR(separation(a, b, nearest(w).normal), expected,
                1e-13 / (expected + a.size[0] + b.size[0]))
        << i;
    two += w[1].distance < w[0].distance + 1e-3 && (w[1].point1 - w[0].point1).norm() > 0.05;
  }
  EXPECT_GT(two, 2000);
}

// A normal turns by at most the motion over the distance of the axes, 0.1 here, and some of it for the turn; points
// slide along the axes by a few times as much. What jumps is faster by 1e5.
TEST(GeometryCapsules, PointsMoveWithTheCapsules) {
  Rng rng(32);
  double gap = 0, point = 0, normal = 0;
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    Shape a = random_shape(rng, GeomType::capsule), b = nearly_parallel(a, rng);
    if (axis_distance(a, b) < 0.1 || overlap(a, b) < 0.1 * (a.size[0] + b.size[0])) continue;
    ++compared;
    const double size = std::pow(10, uniform(rng, -13, -5));
    const Vec3 shift = random_vector(rng, size), turn = random_vector(rng, size);
    const auto before = contacts(a, b);
    b = turned(b, turn), b.pos += shift;
    const auto after = contacts(a, b);
    const double motion = shift.norm() + turn.norm() + 1e-14;
    for (std::size_t k = 0; k < 2; ++k) {
      gap = std::max(gap, std::abs(after[k].distance - before[k].distance) / motion);
      normal = std::max(normal, (after[k].normal - before[k].normal).norm() / motion);
      point = std::max(point, (after[k].point1 - before[k].point1).norm() / motion);
    }
  }
  std::printf("capsules: %d poses; gap %.1f, normal %.1f, point %.1f per motion\n", compared, gap,
              normal, point);
  EXPECT_GT(compared, 10000);
  EXPECT_LT(gap, 25);
  EXPECT_LT(normal, 25);
  EXPECT_LT(point, 60);
}

// A slot keeps its end while the capsules turn and slide through the parallel pose.
TEST(GeometryCapsules, SlotsKeepTheirEnds) {
  Rng rng(33);
  for (int i = 0; i < 2000; ++i) {
    const Shape a = capsule(0.1, 1, Vec3::Zero(), Vec3::UnitX());
    const double sense = rng() % 2 == 0 ? 0 : M_PI;
    const Shape b = turned(capsule(0.1, 1, Vec3(uniform(rng, -1, 1), 0, 0.2), Vec3::UnitX()),
                           Vec3(0, 0, sense));
    const Vec3 turn = random_vector(rng, 0.01);
    const auto w = contacts(a, turned(b, turn)), there = contacts(a, turned(b, -turn));
    ASSERT_LT(w[0].point1.x(), w[1].point1.x() - 0.5);
    for (std::size_t k = 0; k < 2; ++k) ASSERT_LT((w[k].point1 - there[k].point1).norm(), 0.1) << i;
  }
}

}  // namespace
}  // namespace stiction::reference::test

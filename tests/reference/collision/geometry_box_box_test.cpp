// A box against a box: distance at special poses, the names of the slots, resting and sliding.
#include <gtest/gtest.h>

#include <set>

#include "model/mjcf.h"
#include "reference/collision/geometry_oracle.h"
#include "stiction/reference.h"

namespace stiction::reference::test {
namespace {

constexpr double kRoundOff = 1e-13;  // a hundred operations on numbers up to 4
constexpr double kTied = 1e-11;      // ties are decided at 1e-12 of the extent

Shape box(const Vec3& half, const Vec3& pos, const Mat3& rot = Mat3::Identity()) {
  return {GeomType::box, half, pos, rot};
}
Mat3 turned(double angle, const Vec3& axis) {
  return Eigen::AngleAxisd(angle, axis).toRotationMatrix();
}
// The slots that overlap.
std::set<int> touching(const std::vector<Witness>& w) {
  std::set<int> slots;
  for (int k = 0; k < 8; ++k)
    if (w[at(k)].distance < 0) slots.insert(k);
  return slots;
}
// The 24 rotations of a cube onto itself.
std::vector<Mat3> cube_rotations() {
  std::vector<Mat3> rotations;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int s = 0; s < 4 && i != j; ++s) {
        const Vec3 x = (s & 1 ? 1 : -1) * Vec3::Unit(i), y = (s & 2 ? 1 : -1) * Vec3::Unit(j);
        Mat3 r;
        r << x, y, x.cross(y);
        rotations.push_back(r);
      }
  return rotations;
}

// The normal proves that the distance is no larger, sampled directions that it is no smaller.
void expect_signed_distance(const Shape& a, const Shape& b, Rng& rng, bool brute) {
  const auto all = contacts(a, b);
  const Witness& w = nearest(all);
  ASSERT_NEAR(w.normal.norm(), 1, 1e-14);
  ASSERT_NEAR(separation(a, b, w.normal), w.distance, kTied);
  for (const Witness& x : all) ASSERT_EQ(x.normal, w.normal);
  if (w.distance > kTied) {  // points of both boxes this close: it is no larger
    ASSERT_LT(outside(a, w.point1), kTied);
    ASSERT_LT(outside(b, w.point2), kTied);
  } else {
    for (int i = 0; i < 200; ++i) {
      ASSERT_LT(separation(a, b, random_unit(rng)), w.distance + kTied);
    }
  }
  if (brute) {
    ASSERT_LT(brute_force_distance(a, b, rng), w.distance + kTied);
  }
}

TEST(GeometryBoxBox, SlabsAndNeedles) {
  Rng rng(3);
  int overlaps = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto thin = [&] {
      Vec3 half(uniform(rng, 0.5, 1), uniform(rng, 0.5, 1), uniform(rng, 0.5, 1));
      half[i % 3] *= 0.01;
      if (i % 2) half[(i + 1) % 3] *= 0.01;
      return half;
    };
    const Shape a = box(thin(), random_vector(rng, 0.3), random_rotation(rng));
    const Shape b = box(thin(), random_vector(rng, 0.3), random_rotation(rng));
    overlaps += nearest(contacts(a, b)).distance < 0;
    ASSERT_NO_FATAL_FAILURE(expect_signed_distance(a, b, rng, i < 100)) << i;
  }
  EXPECT_GT(overlaps, 300);
}

TEST(GeometryBoxBox, NearlyAlignedCubes) {
  Rng rng(5);
  for (const Mat3& r : cube_rotations()) {
    for (const double turn : {0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.785}) {
      for (int i = 0; i < 8; ++i) {
        const Mat3 rot = r * turned(turn, i % 2 ? Vec3(Vec3::Unit(i % 3)) : random_unit(rng));
        const Vec3 half = i < 4 ? Vec3(0.5, 0.5, 0.5) : Vec3(0.2, 0.4, 0.7);
        const Vec3 pos = i % 4 == 0 ? Vec3(0, 0, 0.99) : random_vector(rng, 1.1);
        const bool brute = turn > 0.01 && i == 2;
        ASSERT_NO_FATAL_FAILURE(expect_signed_distance(box({0.5, 0.5, 0.5}, Vec3::Zero()),
                                                       box(half, pos, rot), rng, brute))
            << turn << " " << i;
      }
    }
  }
}

TEST(GeometryBoxBox, NeverDeeperAndNearTheSurfaces) {
  Rng rng(7);
  for (int i = 0; i < 5000; ++i) {
    const Shape a = random_shape(rng, GeomType::box, 0.8),
                b = random_shape(rng, GeomType::box, 0.8);
    const auto all = contacts(a, b);
    const double least = nearest(all).distance;
    for (const Witness& w : all) {
      if (w.distance > 0) continue;
      const Vec3 middle = 0.5 * (w.point1 + w.point2);
      ASSERT_LT(outside(a, middle), -0.5 * least + kRoundOff);
      ASSERT_LT(outside(b, middle), -0.5 * least + kRoundOff);
    }
  }
}

// A small box on a table: its four corners, named by its own sides; the table's sides are far away.
TEST(GeometryBoxBox, BoxOnATable) {
  const Shape table = box({2, 1, 0.5}, {0, 0, -0.5});
  for (const double yaw : {0.0, 0.3, 0.785}) {
    const Mat3 rot = turned(yaw, Vec3::UnitZ());
    const auto w = contacts(table, box({0.1, 0.2, 0.3}, {0.4, 0.3, 0.299}, rot));
    EXPECT_EQ(touching(w), (std::set<int>{4, 5, 6, 7}));
    for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(w[k].normal, Vec3::UnitZ());
    for (std::size_t k = 4; k < 8; ++k) {
      EXPECT_NEAR(w[k].distance, -0.001, 1e-15);
      const Vec3 corner = rot.transpose() * (w[k].point2 - Vec3(0.4, 0.3, 0.299));
      EXPECT_LT((corner.cwiseAbs() - Vec3(0.1, 0.2, 0.3)).norm(), 1e-15);
    }
  }
}

TEST(GeometryBoxBox, CrossedPlanksTouchAtFourPoints) {
  const Shape low = box({1, 0.1, 0.05}, Vec3::Zero());
  for (const double tilt : {0.0, 1e-12, 1e-9, 1e-6, 1e-4}) {
    const Mat3 rot = turned(tilt, Vec3(1, 2, 0).normalized());
    const auto w = contacts(low, box({0.1, 1, 0.05}, {0, 0, 0.0999}, rot));
    EXPECT_EQ(touching(w).size(), 4u) << tilt;
    Vec3 mean = Vec3::Zero();
    for (const int k : touching(w)) {
      mean += 0.25 * w[at(k)].point1;
      EXPECT_NEAR(std::abs(w[at(k)].point1.x()), 0.1, 1e-4);
      EXPECT_NEAR(std::abs(w[at(k)].point1.y()), 0.1, 1e-4);
      EXPECT_NEAR(w[at(k)].distance, -1e-4, 0.2 * tilt + 1e-15);
    }
    EXPECT_LT(mean.head<2>().norm(), 1e-4);
  }
}

// Equal boxes flush on each other: round-off decides nothing. Half the depth is the allowance.
TEST(GeometryBoxBox, FlushBoxesKeepTheirSlots) {
  Rng rng(9);
  const Shape low = box({0.5, 0.5, 0.5}, Vec3::Zero());
  for (int i = 0; i < 1000; ++i) {
    const double noise = std::pow(10, uniform(rng, -16, -5));
    const Mat3 rot = turned(noise, random_unit(rng));
    const Vec3 pos = Vec3(0, 0, 0.9999) + random_vector(rng, noise);
    const auto w = contacts(low, box({0.5, 0.5, 0.5}, pos, rot));
    ASSERT_EQ(touching(w), (std::set<int>{4, 5, 6, 7})) << noise;
    for (std::size_t k = 4; k < 8; ++k) ASSERT_NEAR(w[k].distance, -1e-4, 3 * noise + 1e-15);
  }
}

// A nearly flat box pressed in by 1e-3 moves a corner over a side of the other, in steps of 5e-6, and
// turns: slots come and go, and their depths follow the motion. Crossing sides move 1/sin of their
// angle times as fast; a step that is 1/10 of the depth would be a jump.
TEST(GeometryBoxBox, DepthsOfTheSlotsAreContinuous) {
  Rng rng(11);
  const double depth = 1e-3, step = 5e-6;
  int changes = 0;
  double largest = 0;
  for (int i = 0; i < 300; ++i) {
    const Shape a = random_shape(rng, GeomType::box, 0);
    Shape b = random_shape(rng, GeomType::box, 0);
    const Mat3 yaw = turned(0.2 + i % 4 * M_PI / 2 + uniform(rng, 0, 1.1), Vec3::UnitZ());
    b.rot = a.rot * yaw * exp_quat(random_vector(rng, 1e-4)).toRotationMatrix();
    b.pos = a.rot * Vec3(0, uniform(rng, -1, 1), a.size[2] + b.size[2] - depth);
    // the leftmost or rightmost corner, in the frame of a, is just inside of a's right side
    const double reach = (b.rot.transpose() * a.rot.col(0)).cwiseAbs().dot(b.size);
    b.pos += (a.size[0] + (i % 2 ? reach : -reach) - 0.5 * depth) * a.rot.col(0);
    std::vector<Witness> before = contacts(a, b);
    for (int k = 0; k < 400; ++k) {
      b.pos += step * a.rot.col(0);
      b.rot = exp_quat(random_vector(rng, step)).toRotationMatrix() * b.rot;
      const auto after = contacts(a, b);
      if (before[0].normal.dot(after[0].normal) > 0.999) {  // else another face's turn
        changes += touching(before) != touching(after);
        for (std::size_t j = 0; j < 8; ++j) {
          const double x = before[j].distance, y = after[j].distance;
          largest = std::max(largest, std::abs(std::min(0.0, y) - std::min(0.0, x)));
        }
      }
      before = after;
    }
  }
  std::printf("touching slots changed %d times, largest change %.1e\n", changes, largest);
  EXPECT_GT(changes, 100);
  EXPECT_LT(largest, 0.1 * depth);
}

TEST(GeometryBoxBox, EdgeOnEdgeAndVertexOnVertex) {
  const Mat3 roof = turned(M_PI / 4, Vec3::UnitX()), keel = turned(M_PI / 4, Vec3::UnitY());
  const double h = std::sqrt(2.0);
  for (const double gap : {-0.01, 0.01, 0.5}) {
    const auto w =
        contacts(box({1, 1, 1}, Vec3::Zero(), roof), box({1, 1, 1}, {0.3, 0.2, 2 * h + gap}, keel));
    EXPECT_NEAR(nearest(w).distance, gap, 1e-14);
    EXPECT_LT((nearest(w).normal - Vec3::UnitZ()).norm(), 1e-14);
    EXPECT_LT((nearest(w).point1 - Vec3(0.3, 0, h)).norm(), kTied);
    if (gap < 0) {
      EXPECT_EQ(touching(w).size(), 1u);
    }
  }
  const auto w = contacts(box({1, 1, 1}, Vec3::Zero()), box({1, 1, 1}, Vec3(3, 4, 4)));
  EXPECT_NEAR(nearest(w).distance, 3, 1e-14);
  EXPECT_LT((nearest(w).normal - Vec3(1, 2, 2) / 3).norm(), 1e-14);
}

}  // namespace
}  // namespace stiction::reference::test

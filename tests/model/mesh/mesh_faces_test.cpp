// Triangles of one plane become one face.
#include "model/mesh/mesh_faces.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "model/mesh/mesh_hull.h"

namespace stiction::model {
namespace {

struct Shape {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;
  HullFaces found;
};

Shape faces_of(const std::vector<Vec3>& points) {
  const Hull hull = convex_hull(points);
  Shape s;
  std::vector<int> local(points.size(), -1);
  for (const int i : hull.vertices) {
    local[static_cast<std::size_t>(i)] = static_cast<int>(s.points.size());
    s.points.push_back(points[static_cast<std::size_t>(i)]);
  }
  for (auto f : hull.faces) {
    for (int& i : f) i = local[static_cast<std::size_t>(i)];
    s.triangles.push_back(f);
  }
  s.found = hull_faces(s.points, s.triangles);
  return s;
}

// Faces are flat, convex, counterclockwise, the longest edge first, and belong to all their triangles.
void check(const Shape& s) {
  double extent = 0;
  for (const Vec3& p : s.points) extent = std::max(extent, p.norm());
  const auto at = [&](int i) { return s.points[static_cast<std::size_t>(i)]; };
  for (const HullFace& f : s.found.faces) {
    ASSERT_GE(f.corners.size(), 3u);
    EXPECT_NEAR(f.normal.norm(), 1, 1e-14);
    const std::size_t n = f.corners.size();
    const double longest = (at(f.corners[1]) - at(f.corners[0])).norm();
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 p = at(f.corners[i]), q = at(f.corners[(i + 1) % n]),
                 r = at(f.corners[(i + 2) % n]);
      EXPECT_GT((q - p).cross(r - q).dot(f.normal), 0);
      EXPECT_LE((q - p).norm(), longest + 1e-8 * extent);
      for (const Vec3& x : s.points) EXPECT_LT(f.normal.dot(x - p), 3 * kCoplanar * extent);
    }
  }
  ASSERT_EQ(s.found.of_triangle.size(), s.triangles.size());
  for (std::size_t t = 0; t < s.triangles.size(); ++t) {
    const HullFace& f = s.found.faces[static_cast<std::size_t>(s.found.of_triangle[t])];
    for (const int i : s.triangles[t])
      EXPECT_LT(std::abs(f.normal.dot(at(i) - at(f.corners[0]))), 3 * kCoplanar * extent);
  }
}

std::vector<Vec3> box(double x, double y, double z) {
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i) points.emplace_back(i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
  return points;
}

TEST(MeshFaces, ABoxHasSix) {
  const Shape s = faces_of(box(0.3, 0.2, 0.1));
  check(s);
  ASSERT_EQ(s.found.faces.size(), 6u);
  for (const HullFace& f : s.found.faces) {
    EXPECT_EQ(f.corners.size(), 4u);
    EXPECT_NEAR(f.normal.cwiseAbs().maxCoeff(), 1, 1e-15);
  }
}

TEST(MeshFaces, OfFloatsInAnyFrame) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 20; ++round) {
    const Quat q = Quat(normal(rng), normal(rng), normal(rng), normal(rng)).normalized();
    std::vector<Vec3> points;
    for (const Vec3& p : box(0.3, 0.2, 0.01)) {
      const Vec3 turned = q * p + Vec3(1, 2, 3) * 0.01;
      points.push_back(turned.cast<float>().cast<double>());
    }
    const Shape s = faces_of(points);
    check(s);
    EXPECT_EQ(s.found.faces.size(), 6u);
  }
}

// Points on the edges and in the middle of faces are no corners.
TEST(MeshFaces, CornersAreTheOutline) {
  std::vector<Vec3> points = box(1, 1, 1);
  for (int i = -3; i < 4; ++i)
    for (int j = -3; j < 4; ++j)
      points.emplace_back(0.25 * i, 0.25 * j, 1), points.emplace_back(0.25 * i, -1, 0.25 * j);
  for (int i = -3; i < 4; ++i) points.emplace_back(1, 0.25 * i, 1);
  const Shape s = faces_of(points);
  check(s);
  ASSERT_EQ(s.found.faces.size(), 6u);
  for (const HullFace& f : s.found.faces) EXPECT_EQ(f.corners.size(), 4u);
}

TEST(MeshFaces, APrismHasItsSides) {
  std::vector<Vec3> points;
  for (int i = 0; i < 15; ++i)
    for (const double z : {-0.1, 0.2})
      points.emplace_back(std::cos(0.41887902 * i), std::sin(0.41887902 * i), z);
  const Shape s = faces_of(points);
  check(s);
  std::multiset<std::size_t> corners;
  for (const HullFace& f : s.found.faces) corners.insert(f.corners.size());
  EXPECT_EQ(corners.count(15), 2u);
  EXPECT_EQ(corners.count(4), 15u);
  EXPECT_EQ(corners.size(), 17u);
}

TEST(MeshFaces, WhatIsCurvedStaysTriangles) {
  std::mt19937_64 rng(5);
  std::normal_distribution<double> normal;
  std::vector<Vec3> points;
  for (int i = 0; i < 300; ++i)
    points.push_back(Vec3(normal(rng), normal(rng), normal(rng)).normalized());
  const Shape s = faces_of(points);
  check(s);
  EXPECT_GT(s.found.faces.size(), s.triangles.size() - 5);
}

// A surface that is flat but for less than the tolerance, and a plate that is hardly thicker.
TEST(MeshFaces, OutlinesAreConvexWhereFlatnessIsATolerance) {
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const double bend : {1e-8, 1e-6, 1e-5, 1e-3}) {
    std::vector<Vec3> points = box(1.1, 1.1, 0.2);
    for (int i = 0; i < 300; ++i) {
      const double x = uniform(rng), y = uniform(rng);
      points.emplace_back(x, y, 0.2 + bend * (2.42 - x * x - y * y));
    }
    const Shape s = faces_of(points);
    for (const HullFace& f : s.found.faces) {
      const std::size_t n = f.corners.size();
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = [&](std::size_t k) {
          return s.points[static_cast<std::size_t>(f.corners[k % n])];
        };
        EXPECT_GT((at(i + 1) - at(i)).cross(at(i + 2) - at(i + 1)).dot(f.normal), 0);
      }
    }
  }
  const Shape plate = faces_of(box(1, 1, 1e-7));
  ASSERT_GE(plate.found.faces.size(), 2u);
  EXPECT_LT(plate.found.faces[0].normal.dot(plate.found.faces[1].normal), -0.9);
}

}  // namespace
}  // namespace stiction::model

// Sphere and capsule against a box: closed forms by hand, and the choice of the capsule's points.
#include <gtest/gtest.h>

#include "reference/collision/geometry_oracle.h"

namespace stiction::reference::test {
namespace {

constexpr double kRoundOff = 2e-14;  // some thirty operations on numbers up to 4: 30 * 4 * 2^-53

const Shape kTable{GeomType::box, Vec3(2, 1, 0.5), Vec3(0, 0, -0.5),
                   Mat3::Identity()};  // top z = 0

Shape sphere(double radius, const Vec3& pos) {
  return {GeomType::sphere, Vec3(radius, 0, 0), pos, Mat3::Identity()};
}
// A capsule of radius 0.25 along `axis`.
Shape capsule(double half, const Vec3& pos, const Vec3& axis) {
  const Quat turn = Quat::FromTwoVectors(Vec3::UnitZ(), axis);
  return {GeomType::capsule, Vec3(0.25, half, 0), pos, turn.toRotationMatrix()};
}
// Where on the capsule's axis the sphere of a contact is, from -half to half.
double along(const Shape& c, const Witness& w) {
  return c.rot.col(2).dot(w.point1 - c.size[0] * w.normal - c.pos);
}

void expect_near(const Vec3& a, const Vec3& b, double tolerance = kRoundOff) {
  EXPECT_LT((a - b).norm(), tolerance) << a.transpose() << " against " << b.transpose();
}

TEST(GeometryBox, SphereOverFaceEdgeAndVertex) {
  const Witness face = contacts(sphere(0.5, Vec3(1, 0.5, 2)), kTable)[0];
  EXPECT_DOUBLE_EQ(face.distance, 1.5);
  expect_near(face.normal, Vec3(0, 0, -1));
  expect_near(face.point2, Vec3(1, 0.5, 0));

  const Witness edge = contacts(sphere(0.5, Vec3(2 + 3, 0, 4)), kTable)[0];
  EXPECT_DOUBLE_EQ(edge.distance, 4.5);
  expect_near(edge.normal, Vec3(-0.6, 0, -0.8));
  expect_near(edge.point2, Vec3(2, 0, 0));

  const Witness vertex = contacts(sphere(0.5, Vec3(-2 - 2, 1 + 3, 6)), kTable)[0];
  EXPECT_DOUBLE_EQ(vertex.distance, 6.5);
  expect_near(vertex.normal, Vec3(2, -3, -6) / 7);
}

TEST(GeometryBox, SphereCentreInsideLeavesByTheNearestFace) {
  const Witness side = contacts(sphere(0.5, Vec3(-1.9, 0, -0.5)), kTable)[0];
  EXPECT_NEAR(side.distance, -0.6, kRoundOff);
  expect_near(side.normal, Vec3(1, 0, 0));
  expect_near(side.point2, Vec3(-2, 0, -0.5));

  // the centre of a cube is as near to all faces: +x
  const Shape cube{GeomType::box, Vec3(1, 1, 1), Vec3::Zero(), Mat3::Identity()};
  const Witness centre = contacts(sphere(0.5, Vec3::Zero()), cube)[0];
  EXPECT_DOUBLE_EQ(centre.distance, -1.5);
  expect_near(centre.normal, Vec3(-1, 0, 0));
}

TEST(GeometryBox, CapsuleLyingOnAFaceTouchesAtItsEnds) {
  for (const double height : {0.3, 0.25, 0.2, 0.0, -0.1}) {  // apart, touching, axis in the box
    for (const double yaw : {0.0, 0.4, 2.0, M_PI}) {
      const Shape c = capsule(0.8, Vec3(0, 0, height), Vec3(std::cos(yaw), std::sin(yaw), 0));
      const auto w = contacts(c, kTable);
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_NEAR(w[k].distance, height - 0.25, kRoundOff);
        EXPECT_NEAR(along(c, w[k]), k == 0 ? -0.8 : 0.8, kRoundOff);
        expect_near(w[k].normal, Vec3(0, 0, -1));
      }
    }
  }
}

TEST(GeometryBox, OverhangingCapsuleTouchesUpToTheEdges) {
  for (const double height : {0.3, 0.2, -0.1}) {
    const Shape across = capsule(3, Vec3(0, 0.5, height), Vec3::UnitY());  // over both edges
    const auto both = contacts(across, kTable);
    EXPECT_NEAR(both[0].distance, height - 0.25, kRoundOff);
    EXPECT_NEAR(both[1].distance, height - 0.25, kRoundOff);
    EXPECT_NEAR(along(across, both[0]), -1.5, kRoundOff);
    EXPECT_NEAR(along(across, both[1]), 0.5, kRoundOff);

    const Shape beyond = capsule(1, Vec3(1.5, 0, height), Vec3::UnitX());  // over one edge
    const auto one = contacts(beyond, kTable);
    EXPECT_NEAR(along(beyond, one[0]), -1, kRoundOff);
    EXPECT_NEAR(along(beyond, one[1]), 0.5, kRoundOff);
  }
}

// A little tilted, both ends still carry, each with its own height.
TEST(GeometryBox, TiltedCapsuleKeepsBothEnds) {
  for (const double tilt : {-0.2, -1e-6, 1e-6, 0.2}) {
    const Shape c = capsule(0.8, Vec3(0, 0, 0.4), Vec3(std::cos(tilt), 0, std::sin(tilt)));
    const auto w = contacts(c, kTable);
    EXPECT_NEAR(w[0].distance, 0.15 - 0.8 * std::sin(tilt), kRoundOff);
    EXPECT_NEAR(w[1].distance, 0.15 + 0.8 * std::sin(tilt), kRoundOff);
  }
}

// Overhanging and tilted down beyond the edge: the edge carries, and so does the far end.
TEST(GeometryBox, CapsuleTiltedOverAnEdgeKeepsTheFarEnd) {
  const double tilt = 0.05;
  const Shape c = capsule(1, Vec3(1.5, 0, 0.3), Vec3(std::cos(tilt), 0, -std::sin(tilt)));
  const auto w = contacts(c, kTable);
  EXPECT_NEAR(along(c, w[0]), -1, kRoundOff);
  EXPECT_NEAR(w[0].distance, 0.3 + std::sin(tilt) - 0.25, kRoundOff);
  // distance of the corner (2, 0, 0) from the axis
  const double corner = 0.3 * std::cos(tilt) - 0.5 * std::sin(tilt);
  EXPECT_NEAR(w[1].distance, corner - 0.25, kRoundOff);
  expect_near(w[1].point2, Vec3(2, 0, 0));
}

TEST(GeometryBox, CapsuleAcrossAnEdge) {
  // falling at 45 degrees past the edge x = 2, z = 0; the axis misses it by 0.5, or enters by 0.1
  for (const double miss : {0.5, -0.1}) {
    const Vec3 out = Vec3(1, 0, 1).normalized();
    const Shape c = capsule(1, Vec3(2, 0.25, 0) + miss * out, Vec3(1, 0, -1));
    const auto w = contacts(c, kTable);
    const Witness& edge = nearest(w);
    EXPECT_NEAR(edge.distance, miss - 0.25, kRoundOff);
    EXPECT_NEAR(along(c, edge), 0, 1e-14);
    expect_near(edge.normal, -out);
    expect_near(edge.point2, Vec3(2, 0.25, 0));
  }
}

// Parallel to an edge, beside it: both ends of the overlap carry.
TEST(GeometryBox, CapsuleAlongAnEdge) {
  const Shape c = capsule(3, Vec3(2.3, 0.5, 0.4), Vec3::UnitY());
  const auto w = contacts(c, kTable);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(w[k].distance, 0.25, kRoundOff);
    EXPECT_NEAR(along(c, w[k]), k == 0 ? -1.5 : 0.5, kRoundOff);
    expect_near(w[k].normal, Vec3(-0.6, 0, -0.8));
  }
}

TEST(GeometryBox, UprightCapsuleStandsOnOneEnd) {
  const Shape c = capsule(0.5, Vec3(0, 0, 0.6), Vec3::UnitZ());
  const auto w = contacts(c, kTable);
  EXPECT_NEAR(w[0].distance, 0.1 - 0.25, kRoundOff);
  EXPECT_NEAR(w[1].distance, 1.1 - 0.25, kRoundOff);
  expect_near(w[0].point2, Vec3(0, 0, 0));
}

// A rod through a plate leaves sideways over the nearest edge of the plate.
TEST(GeometryBox, AxisThroughTheBox) {
  const Shape c = capsule(3, Vec3(1.7, 0, -0.5), Vec3::UnitZ());
  const Witness w = nearest(contacts(c, kTable));
  EXPECT_NEAR(w.distance, -0.3 - 0.25, kRoundOff);
  expect_near(w.normal, Vec3(-1, 0, 0));
}

// Unless the axis enters the box, both contacts are those of spheres on the axis.
TEST(GeometryBox, BothPointsAreSpheresOnTheBox) {
  // About ten operations on coordinates of a few metres, each rounded at 4e-16.
  constexpr double round_off = 1e-14;
  Rng rng(21);
  for (int i = 0; i < 3000; ++i) {
    const Shape c = random_shape(rng, GeomType::capsule), box = random_shape(rng, GeomType::box);
    const auto w = contacts(c, box);
    ASSERT_LE(along(c, w[0]), along(c, w[1]) + round_off);
    if (nearest(w).distance + c.size[0] < 1e-6) continue;
    for (const Witness& x : w) {
      ASSERT_LE(std::abs(along(c, x)), c.size[1] + round_off);
      const Shape ball{GeomType::sphere, c.size, x.point1 - c.size[0] * x.normal, c.rot};
      ASSERT_NEAR(contacts(ball, box)[0].distance, x.distance, round_off);
    }
  }
}

// A path of the capsule from one pose to another.
struct Path {
  Shape from;
  Vec3 shift, turn;
  Shape at(double s) const {
    Shape c = from;
    c.pos += s * shift;
    c.rot = exp_quat(s * turn).toRotationMatrix() * from.rot;
    return c;
  }
};

// Both distances of the capsule at s, the smaller first.
Vec2 distances(const Path& path, double s, const Shape& box) {
  const auto w = contacts(path.at(s), box);
  return {std::min(w[0].distance, w[1].distance), std::max(w[0].distance, w[1].distance)};
}

// The largest change of a distance within a piece of the path that cannot be told from a point, by
// bisection of the piece that changes most: 0 if continuous, the height of the step otherwise.
double largest_jump(const Path& path, const Shape& box) {
  constexpr int kPieces = 64;
  double low = 0, step = 1.0 / kPieces, largest = -1;
  const auto change = [&](double a, double b) {
    return (distances(path, b, box) - distances(path, a, box)).cwiseAbs().maxCoeff();
  };
  for (int i = 0; i < kPieces; ++i) {
    const double c = change(i * step, (i + 1) * step);
    if (c > largest) largest = c, low = i * step;
  }
  for (int i = 0; i < 36; ++i) {  // to 2e-13 of the path
    step *= 0.5;
    if (change(low + step, low + 2 * step) > change(low, low + step)) low += step;
  }
  return change(low, low + step);
}

// Both distances are continuous while the axis stays outside of the box (the direction is then
// unique). Turning a polytope moves its nearest point by up to the root of the angle: 1e-6.
TEST(GeometryBox, BothDistancesAreContinuous) {
  Rng rng(31);
  int paths = 0;
  for (int i = 0; i < 4000; ++i) {
    const Shape box = random_shape(rng, GeomType::box, 0);
    Path path{random_shape(rng, GeomType::capsule), random_vector(rng, 0.5), random_vector(rng, 1)};
    if (i % 2) {  // through a pose that is parallel to an edge
      path.from.rot = exp_quat(-0.5 * path.turn).toRotationMatrix() * box.rot *
                      exp_quat(M_PI / 2 * Vec3::Unit(i / 2 % 3)).toRotationMatrix();
    }
    double clearance = 1;
    for (int k = 0; k <= 64; ++k) {
      clearance = std::min(clearance, distances(path, k / 64.0, box)[0] + path.from.size[0]);
    }
    if (clearance < 0.05) continue;
    ++paths;
    ASSERT_LT(largest_jump(path, box), 1e-5) << "path " << i;
  }
  EXPECT_GT(paths, 1000);
}

// Sinking into a face changes both distances continuously, also as the axis passes through it.
TEST(GeometryBox, SinkingIntoAFaceIsContinuous) {
  Rng rng(41);
  for (int i = 0; i < 500; ++i) {
    const double yaw = uniform(rng, 0, 7), tilt = uniform(rng, -0.1, 0.1);
    const Vec3 axis(std::cos(yaw), std::sin(yaw), tilt);
    const Vec3 above(uniform(rng, -0.6, 0.6), uniform(rng, -0.3, 0.3), 0.2);
    const Path path{capsule(uniform(rng, 0.1, 0.6), above, axis), Vec3(0, 0, -0.3), Vec3::Zero()};
    // a step of 1e-12 of the path: 0.3e-12, and the ties of 1e-12 between features
    ASSERT_LT(largest_jump(path, kTable), 1e-11) << "path " << i;
  }
}

}  // namespace
}  // namespace stiction::reference::test

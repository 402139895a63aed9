// Hulls of meshes: a box given as a mesh is a box, faces stand on four corners, and slots keep them.
#include <gtest/gtest.h>

#include "reference/collision/geometry.h"
#include "reference/collision/geometry_oracle.h"

namespace stiction::reference::test {
namespace {

constexpr double kDepth = 1e-4;
const Mat3 kUpright = Mat3::Identity();
const Vec3 kBoxSize(0.5, 0.25, 0.125);

// The box of the zoo stands in its frame with its axes in some order: a box of the same place.
Shape box_like(const Shape& mesh) {
  Vec3 size = Vec3::Zero();
  for (int i = 0; i < mesh.hull.vertices(); ++i)
    size = size.cwiseMax(mesh.hull.vertex(i).cwiseAbs());
  return {GeomType::box, size, mesh.pos, mesh.rot};
}
Mat3 turned(const Vec3& r) {
  return exp_quat(r).toRotationMatrix();
}
// A mesh of the zoo with its longest axis along x and its shortest along z.
Shape laid(int mesh, const Vec3& pos, double turn = 0) {
  const Vec3 size = mesh_shape(mesh).size;
  int z = 0, x = 0;
  size.minCoeff(&z), size.maxCoeff(&x);
  Mat3 rot = Mat3::Zero();  // columns: where the axes of the mesh go
  rot.col(x) = Vec3::UnitX(), rot.col(z) = Vec3::UnitZ();
  const int y = 3 - x - z;
  rot.col(y) = rot.col((y + 1) % 3).cross(rot.col((y + 2) % 3));
  return mesh_shape(mesh, pos, turned(turn * Vec3::UnitZ()) * rot);
}
std::vector<Vec3> touching(const Shape& a, const Shape& b, double depth = kDepth) {
  std::vector<Vec3> points;
  for (const Witness& w : contacts(a, b)) {
    if (w.distance >= 0) continue;
    EXPECT_NEAR(w.distance, -depth, 1e-12);
    points.push_back(w.point1);
  }
  return points;
}
double area(const std::vector<Vec3>& p) {  // of four points in the order of their slots
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i].cross(p[(i + 1) % p.size()]);
  return 0.5 * sum.norm();
}

TEST(MeshContacts, ABoxAsAMeshIsAsFarAsABox) {
  using G = GeomType;
  Rng rng(5);
  for (const G type : {G::plane, G::sphere, G::capsule, G::ellipsoid, G::cylinder, G::box}) {
    double worst = 0;
    for (int i = 0; i < 300; ++i) {
      const Shape other = random_shape(rng, type, 1);
      const Shape mesh = mesh_shape(kBox, random_vector(rng, 1), random_rotation(rng));
      const Witness m = nearest(contacts(other, mesh)),
                    b = nearest(contacts(other, box_like(mesh)));
      worst = std::max(worst, std::abs(m.distance - b.distance));
    }
    EXPECT_LT(worst, 1e-8) << name(type);
  }
}

TEST(MeshContacts, StandOnFourCorners) {
  const Shape plane{GeomType::plane, {1, 1, 1}, {0, 0, 0}, kUpright};
  const Shape mesh = laid(kBox, {0.1, 0.2, 0.125 - kDepth}, 0.3);
  const auto on_plane = touching(plane, mesh);
  ASSERT_EQ(on_plane.size(), 4u);
  EXPECT_NEAR(area(on_plane), 0.5, 1e-12);
  // on a box, on a mesh, on the cap of a cylinder: all of the face below
  const Shape box{GeomType::box, {2, 2, 1}, {0, 0, -1}, kUpright};
  const Shape cylinder{GeomType::cylinder, {1.5, 1, 0}, {0, 0, -1}, kUpright};
  for (const Shape& below : {box, cylinder}) {
    const auto points = touching(below, mesh);
    ASSERT_EQ(points.size(), 4u);
    EXPECT_NEAR(area(points), 0.5, 1e-7);  // corners may be 1e-9 of the extent outside
  }
  const auto on_mesh = touching(laid(kBox, {0, 0, 0}), laid(kBox, {0.2, 0.1, 0.25 - kDepth}));
  ASSERT_EQ(on_mesh.size(), 4u);
  EXPECT_NEAR(area(on_mesh), 0.8 * 0.4, 1e-7);
}

// Turned by 45 degrees the overlap has eight corners, of which four are kept, and they span most of it.
TEST(MeshContacts, OfManyCornersFourSpanTheOverlap) {
  const Shape below = laid(kPrism, {0, 0, 0});
  const double half = below.size.minCoeff();
  for (double turn = 0; turn < 1; turn += 0.1) {
    const auto points = touching(below, laid(kPrism, {0, 0, 2 * half - kDepth}, turn));
    ASSERT_EQ(points.size(), 4u);
    EXPECT_GT(area(points), 0.45);  // the disc has 0.785, the square in it 0.5
  }
}

TEST(MeshContacts, ACylinderStandsOnAMesh) {
  const Shape cylinder{GeomType::cylinder, {0.1, 0.2, 0}, {0, 0, 0.325 - kDepth}, kUpright};
  auto points = touching(cylinder, laid(kBox, {0, 0, 0}));
  ASSERT_EQ(points.size(), 4u);
  for (const Vec3& p : points) EXPECT_NEAR(p.head<2>().norm(), 0.1, 1e-9);
  // over an edge
  points = touching(cylinder, laid(kBox, {0.5, 0, 0}));
  ASSERT_EQ(points.size(), 4u);
  for (const Vec3& p : points) EXPECT_GT(p.x(), -1e-9);
  // on its side
  const Shape lying{
      GeomType::cylinder, {0.1, 0.2, 0}, {0, 0, 0.225 - kDepth}, turned(M_PI / 2 * Vec3::UnitX())};
  points = touching(lying, laid(kBox, {0, 0, 0}));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR((points[0] - points[1]).norm(), 0.4, 1e-9);
}

TEST(MeshContacts, ACapsuleLiesOnTwoPoints) {
  const Shape capsule{
      GeomType::capsule, {0.1, 0.4, 0}, {0, 0, 0.225 - kDepth}, turned(M_PI / 2 * Vec3::UnitX())};
  const auto points = touching(capsule, laid(kBox, {0, 0, 0}));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR((points[0] - points[1]).norm(), 0.5, 1e-9);
}

// A sole of vertices between two heights, 0.1 mm apart, and its corners; or a round one that bulges. Below a smaller top.
struct Sole {
  ModelPtr model;
  explicit Sole(int seed, double bulge = 0) {
    Rng rng(static_cast<std::uint64_t>(seed));
    std::vector<Eigen::Vector3d> points;
    for (const double x : {-1, 1})
      for (const double y : {-1, 1}) {
        points.emplace_back(0.07 * x, 0.03 * y, 0.05);
        if (bulge == 0) points.emplace_back(0.1 * x, 0.04 * y, uniform(rng, 0, 1e-4));
      }
    while (points.size() < (bulge == 0 ? 40 : 200)) {
      const double x = uniform(rng, -1, 1), y = uniform(rng, -1, 1), square = x * x + y * y;
      if (bulge != 0 && square > 1) continue;
      points.emplace_back(0.1 * x, 0.04 * y, bulge == 0 ? uniform(rng, 0, 1e-4) : bulge * square);
    }
    model = model_of_meshes({points});
  }
  // Its frame where the file has it.
  Shape shape(const Vec3& pos, const Mat3& rot) const {
    const Eigen::Map<const Eigen::Vector3d> size(&model->geom_size[3]), at(&model->geom_pos[3]);
    const double* q = &model->geom_quat[4];
    return {GeomType::mesh, size, pos + rot * Vec3(at),
            rot * Quat(q[0], q[1], q[2], q[3]).toRotationMatrix(), hull_of(*model, 0)};
  }
};

// Of a sole that is flat to 0.1 mm the same vertices touch while it tilts as far, though its facets take turns at being the
// one that looks down. They are its corners.
TEST(MeshContacts, AnUnevenSoleKeepsItsPointsWhileItTilts) {
  const Shape plane{GeomType::plane, {1, 1, 1}, {0, 0, 0}, kUpright};
  const Shape box{GeomType::box, {1, 1, 0.1}, {0, 0, -0.1}, kUpright};
  Rng rng(11);
  for (int seed = 0; seed < 5; ++seed) {
    const Sole sole(seed);
    for (int i = 0; i < 50; ++i) {
      const Mat3 rot = turned(i == 0 ? Vec3(Vec3::Zero()) : random_vector(rng, 1e-3));
      const Shape mesh = sole.shape({0, 0, -5e-5}, rot);
      for (const Shape& below : {plane, box}) {
        const auto points = contacts(below, mesh);
        for (const Witness& w : points) {
          const Vec3 p = rot.transpose() * w.point2;
          EXPECT_NEAR(std::abs(p.x()), 0.1, 1e-3);
          EXPECT_NEAR(std::abs(p.y()), 0.04, 1e-3);
          EXPECT_LT(w.distance, 1e-3);
        }
        EXPECT_NEAR(nearest(points).distance, -support(mesh, -Vec3::UnitZ()), 1e-9);
      }
    }
  }
}

// As a sole that bulges rocks, its points move, and do not jump: forces have no steps.
TEST(MeshContacts, PointsOfARoundSoleMoveAsItRocks) {
  const Shape plane{GeomType::plane, {1, 1, 1}, {0, 0, 0}, kUpright};
  const Sole sole(3, 3e-4);
  constexpr int kSteps = 4000;
  double fastest = 0;
  std::vector<Witness> before;
  for (int i = 0; i < kSteps; ++i) {
    const double tilt = 6e-3 * (2.0 * i / kSteps - 1);
    const auto points =
        contacts(plane, sole.shape({0, 0, 0}, turned(tilt * Vec3(0.6, 0.8, 0).normalized())));
    for (std::size_t k = 0; k < before.size(); ++k)
      fastest = std::max(fastest, (points[k].point1 - before[k].point1).norm());
    before = points;
  }
  // from one vertex to the next, 0.1 m at most, in 2 * 0.1 * 0.02 rad
  EXPECT_LT(fastest, 3 * 0.1 / 4e-3 * 12e-3 / kSteps);
}

// Corners of a facet that no direction finds have a slot, too: it stands on all three.
TEST(MeshContacts, ATriangleStandsOnItsThreeCorners) {
  const Shape plane{GeomType::plane, {1, 1, 1}, {0, 0, 0}, kUpright};
  const Shape box{GeomType::box, {2, 2, 1}, {0, 0, -1}, kUpright};
  for (double turn = 0; turn < 6.2; turn += 0.1) {
    const Mat3 about = turned(turn * Vec3::UnitZ());
    std::vector<Eigen::Vector3d> points{{-0.5, 0, 0}, {0.5, 0, 0}, {0, 0.15, 0}};
    for (auto& p : points) p = about * p;
    const ModelPtr model = model_of_meshes({{points[0], points[1], points[2], {0, 0.02, 0.3}}});
    const Eigen::Map<const Eigen::Vector3d> size(&model->geom_size[3]), at(&model->geom_pos[3]);
    const double* q = &model->geom_quat[4];
    const Shape mesh{GeomType::mesh, size, at - kDepth * Vec3::UnitZ(),
                     Quat(q[0], q[1], q[2], q[3]).toRotationMatrix(), hull_of(*model, 0)};
    for (const Shape& below : {plane, box}) {
      const auto found = touching(below, mesh);
      for (const auto& corner : points) {
        double nearest = 1;
        for (const Vec3& p : found) nearest = std::min(nearest, (p - corner).head<2>().norm());
        EXPECT_LT(nearest, 1e-6) << turn;
      }
    }
  }
}

// Shapes that rest on each other move a little: every slot keeps its point.
TEST(MeshContacts, SlotsKeepTheirPointsWhileShapesMoveALittle) {
  Rng rng(3);
  const Shape box{GeomType::box, {0.4, 0.3, 0.1}, {0, 0, -0.1}, kUpright};
  const double half = mesh_shape(kPrism).size.minCoeff();
  struct Rest {
    Shape below, above;
  };
  const Rest rests[] = {
      {box, laid(kBox, {0, 0, 0.125 - kDepth})},
      {box, laid(kBox, {0.1, 0, 0.125 - kDepth}, M_PI / 4)},
      {laid(kBox, {0, 0, -0.125}), laid(kBox, {0, 0, 0.125 - kDepth})},
      {laid(kBox, {0, 0, -0.125}), laid(kBox, {0, 0, 0.125 - kDepth}, M_PI / 2)},
      {laid(kPrism, {0, 0, -half}), laid(kPrism, {0, 0, half - kDepth})},
      {{GeomType::plane, {1, 1, 1}, {0, 0, 0}, kUpright}, laid(kPrism, {0, 0, half - kDepth})}};
  for (const Rest& rest : rests) {
    const auto before = contacts(rest.below, rest.above);
    for (int i = 0; i < 100; ++i) {
      Shape moved = rest.above;
      const Vec3 shift = random_vector(rng, 1e-8), turn = random_vector(rng, 1e-8);
      moved.pos += shift, moved.rot = turned(turn) * moved.rot;
      const auto after = contacts(rest.below, moved);
      for (std::size_t k = 0; k < 4; ++k) {
        ASSERT_LT((after[k].point1 - before[k].point1).norm(), 3e-5);  // 1000 times the tilt
        ASSERT_LT(std::abs(after[k].distance - before[k].distance), 1e-7);
      }
    }
  }
}

// Of a plane: points are vertices, and the least distance is that of the deepest of all.
TEST(MeshContacts, APlaneTouchesTheDeepestVertex) {
  Rng rng(9);
  for (int i = 0; i < 500; ++i) {
    const Shape plane = random_shape(rng, GeomType::plane),
                mesh = random_shape(rng, GeomType::mesh);
    const auto all = contacts(plane, mesh);
    ASSERT_EQ(all.size(), 4u);
    const Vec3 n = plane.rot.col(2);
    EXPECT_NEAR(nearest(all).distance, -support(mesh, -n) - n.dot(plane.pos), 1e-8);
    for (const Witness& w : all) {
      EXPECT_EQ(w.normal, n);
      EXPECT_LT((w.point2 - w.point1 - w.distance * w.normal).norm(), 1e-13);
    }
  }
}

}  // namespace
}  // namespace stiction::reference::test

// Supports of hulls beside looking at all vertices.
#include "physics/collision/convex/convex_hull.h"

#include <gtest/gtest.h>

#include <random>

#include "physics/collision/collider_shapes.h"

namespace stiction::test {
namespace {

namespace ref = reference::test;
using V = physics::Vec3<double>;

// A box, a wheel whose rims have 300 corners, stones, needles; the large ones are climbed in along the wheel's axis.
const Model& hulls() {
  static const ModelPtr model = ref::model_of_meshes(
      {ref::box_points({0.5, 0.25, 0.125}), ref::prism_points(300, 0.5, 0.1),
       ref::stone_points(60, {0.6, 0.4, 0.3}), ref::stone_points(2500, {0.4, 0.6, 0.5}),
       ref::prism_points(5, 1e-3, 2), ref::stone_points(300, {1, 1, 1e-3})});
  return *model;
}

// Farthest but for the round-off of a product with the largest coordinate.
void expect_farthest(const physics::HullRef& hull, const V& m, int count, double extent) {
  const int found = farthest_vertex(hull, m);
  ASSERT_GE(found, 0);
  ASSERT_LT(found, count);
  double most = physics::dot(m, hull.vertex(0));
  for (int i = 1; i < count; ++i) most = std::max(most, physics::dot(m, hull.vertex(i)));
  ASSERT_GE(physics::dot(m, hull.vertex(found)), most - 1e-15 * extent * physics::norm(m))
      << m.x << ' ' << m.y << ' ' << m.z;
}

TEST(ConvexHull, FarthestVertexIsThatOfAll) {
  const Env<double> env(hulls(), {});
  const auto& w = env.m();
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  for (int mesh = 0; mesh < hulls().nmesh; ++mesh) {
    const physics::HullRef hull{&w, mesh};
    const int count = w.mesh_vertnum[mesh], cells = w.mesh_cells[mesh];
    double extent = 0;
    for (int i = 0; i < count; ++i) extent = std::max(extent, physics::norm(hull.vertex(i)));
    for (int round = 0; round < 20000; ++round) {
      // of any direction, near an axis, on one, and at the edges of cells
      V m{normal(rng), normal(rng), normal(rng)};
      if (round % 4 == 1) m = {1e-6 * m.x, 1e-6 * m.y, m.z};
      if (round % 4 == 2) m = {round % 8 == 2 ? 0.0 : m.x, round % 16 == 2 ? 0.0 : m.y, m.z};
      if (round % 4 == 3) {
        const int cell =
            static_cast<int>(rng() % static_cast<unsigned>(physics::cell_count(cells)));
        m = physics::cell_direction(cell, cells, round % 8 == 3 ? 0 : 1, 0.25 * (round % 5));
      }
      expect_farthest(hull, m, count, extent);
    }
  }
}

// Of vertices that are as far, in a cell that lists them: the first.
TEST(ConvexHull, OfEqualsTheFirst) {
  const Env<double> env(hulls(), {});
  const physics::HullRef box{&env.m(), 0};
  for (const V& m : {V{1, 0, 0}, V{0, -1, 0}, V{0, 0, 1}, V{-1, 0, 0}}) {
    int first = 0;
    for (int i = 1; i < 8; ++i)
      if (physics::dot(m, box.vertex(i)) > physics::dot(m, box.vertex(first))) first = i;
    EXPECT_EQ(farthest_vertex(box, m), first);
  }
}

// No number is a direction, but some vertex is returned.
TEST(ConvexHull, OfNoDirectionSomeVertex) {
  const Env<double> env(hulls(), {});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const V& m : {V{0, 0, 0}, V{nan, nan, nan}, V{nan, 1, 0}}) {
    const int found = farthest_vertex({&env.m(), 1}, m);
    EXPECT_GE(found, 0);
    EXPECT_LT(found, env.m().mesh_vertnum[1]);
  }
}

}  // namespace
}  // namespace stiction::test

// Edges of a face over another one: climbing from crossing to crossing finds what looking at all edges finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "physics/collision/convex/convex_overlap.h"

namespace stiction::test {
namespace {

using physics::FaceCrossings;
using physics::FarthestCorners;
using physics::LanePart;
using physics::Polygon;
using V = physics::Vec3<double>;
constexpr double kTie = 1e-9;

// A convex face in a plane through `centre`, as a mesh has it.
struct Face {
  std::vector<double> vertex;
  std::vector<int> corner;
  Polygon polygon;

  // Corners on an ellipse, at angles that rise by random steps: some of them all but equal.
  Face(std::mt19937_64& rng, int count, const V& centre, const V& outward, double turn) {
    std::uniform_real_distribution<double> uniform(0.2, 1);
    std::vector<double> angle;
    double sum = 0;
    for (int i = 0; i < count; ++i)
      angle.push_back(sum += uniform(rng) < 0.3 ? 1e-3 : uniform(rng));
    const double rx = uniform(rng), ry = uniform(rng);
    for (int i = 0; i < count; ++i) {
      const double a = 2 * M_PI * angle[static_cast<std::size_t>(i)] / (sum + 0.5);
      vertex.insert(vertex.end(), {rx * std::cos(a), ry * std::sin(a), 0.0});
      corner.push_back(i);
    }
    place(centre, outward, turn);
  }
  Face(const std::vector<double>& xy, const V& centre, const V& outward, double turn) {
    for (std::size_t i = 0; i < xy.size() / 2; ++i) {
      vertex.insert(vertex.end(), {xy[2 * i], xy[2 * i + 1], 0.0});
      corner.push_back(static_cast<int>(i));
    }
    place(centre, outward, turn);
  }
  void place(const V& centre, const V& z, double turn) {
    V x = physics::cross(z, V{0.3, 0.5, -0.8});
    x = (1 / physics::norm(x)) * x;
    const V y = physics::cross(z, x), turned = std::cos(turn) * x + std::sin(turn) * y;
    polygon = {centre,        turned,        physics::cross(z, turned),      z, {},
               vertex.data(), corner.data(), static_cast<int>(corner.size())};
    polygon.plane.centre = centre, polygon.plane.outward = z;
    polygon.plane.x = polygon.x, polygon.plane.y = polygon.y, polygon.plane.disc = false;
  }
};

// Ends of edges are apart by the round-off of a crossing, which grows as lines and edges become parallel.
void expect_same(const Face& a, const Face& b, const V& n) {
  FaceCrossings crossings(b.polygon, -n, kTie);
  for (int i = 0; i < a.polygon.count; ++i) {
    const V p = a.polygon.placed(a.polygon.at(i)),
            u = a.polygon.placed(a.polygon.at(a.polygon.next(i))) - p;
    const LanePart all = physics::over(b.polygon, p, u, {0, 1}, -n, kTie),
                   found = crossings.over_edge(p, u);
    if (all.high - all.low < -1e-9) {
      ASSERT_LT(found.high - found.low, 0) << i;
    } else if (all.high - all.low > 1e-9) {
      ASSERT_NEAR(found.low, all.low, 1e-9) << i;
      ASSERT_NEAR(found.high, all.high, 1e-9) << i;
    }
  }
}

TEST(ConvexPolygon, CrossingsOfRandomFacesAreThoseOfAllEdges) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int round = 0; round < 2000; ++round) {
    const V tilt{0.4 * uniform(rng), 0.4 * uniform(rng), 1};
    const V n = (1 / physics::norm(tilt)) * tilt;
    const int count = 9 + static_cast<int>(60 * std::abs(uniform(rng)));
    const Face a(rng, 3 + count / 2, {uniform(rng), uniform(rng), 0}, {0, 0, 1}, 3 * uniform(rng));
    const Face b(rng, count, {0, 0, 0.1}, {0, 0, -1}, 3 * uniform(rng));
    expect_same(a, b, n), expect_same(b, a, -n);
  }
}

// Edges that lie on each other are over each other.
TEST(ConvexPolygon, FlushEdgesOverlap) {
  std::vector<double> xy;
  for (int i = 0; i < 24; ++i)
    xy.insert(xy.end(), {std::cos(2 * M_PI * i / 24), std::sin(2 * M_PI * i / 24)});
  const V n{0, 0, 1};
  const Face a(xy, {0, 0, 0}, n, 0.7);
  Face b(xy, {0, 0, 0}, -n, 0);
  b.polygon.x = a.polygon.x, b.polygon.y = -a.polygon.y;
  FaceCrossings crossings(b.polygon, -n, kTie);
  for (int i = 0; i < a.polygon.count; ++i) {
    const V p = a.polygon.placed(a.polygon.at(i)),
            u = a.polygon.placed(a.polygon.at(a.polygon.next(i))) - p;
    const LanePart part = crossings.over_edge(p, u);
    ASSERT_NEAR(part.low, 0, 1e-8) << i;
    ASSERT_NEAR(part.high, 1, 1e-8) << i;
  }
}

// What is not cut would not have been the farthest.
TEST(ConvexPolygon, CornersAreThoseOfAllEdges) {
  std::mt19937_64 rng(6);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const V n{0, 0, 1};
  for (int round = 0; round < 1000; ++round) {
    const Face a(rng, 4 + round % 40, {uniform(rng), uniform(rng), 0}, n, 3 * uniform(rng));
    const Face b(rng, 9 + round % 30, {0, 0, 0}, -n, 3 * uniform(rng));
    const auto ways = physics::four_ways(n, a.polygon.x, a.polygon.y);
    FarthestCorners all(ways, kTie), found(ways, kTie);
    const auto offer = [](FarthestCorners& to) { return [&](const V& p) { to.offer(p, 0); }; };
    FaceCrossings over_a(a.polygon, n, kTie), over_b(b.polygon, -n, kTie);
    for (int i = 0; i < a.polygon.count; ++i) physics::offer_edge(a.polygon, i, over_b, offer(all));
    for (int i = 0; i < b.polygon.count; ++i) physics::offer_edge(b.polygon, i, over_a, offer(all));
    const physics::FaceExtent ea(a.polygon, ways, kTie), eb(b.polygon, ways, kTie);
    double limit[4];
    for (int k = 0; k < 4; ++k) limit[k] = std::min(ea.most[k], eb.most[k]);
    physics::offer_edges(ea, over_b, found, limit, offer(found));
    physics::offer_edges(eb, over_a, found, limit, offer(found));
    ASSERT_EQ(found.any, all.any) << round;
    // of equals one or the other
    for (int k = 0; all.any && k < 4; ++k)
      ASSERT_NEAR(found.along[k], all.along[k], 3 * kTie) << round;
  }
}

}  // namespace
}  // namespace stiction::test

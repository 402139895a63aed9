// What a search of two convex shapes says of itself, at poses where they touch: there the direction between the
// nearest points is round-off.
#include "physics/collision/convex/convex_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace stiction::test {
namespace {

using physics::LaneShape;
using V = physics::Vec3<double>;

class Shapes {
 public:
  explicit Shapes(unsigned seed) : rng_(seed) {}
  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng_);
  }
  LaneShape any(GeomType type) {
    const V z = direction();
    const V beside = direction(), flat = beside - physics::dot(beside, z) * z;
    const V x = (1 / physics::norm(flat)) * flat;
    return {type, inside(0.6), x, physics::cross(z, x), z, {size(), size(), size()}};
  }

 private:
  double size() { return number(0.05, 0.3); }
  V inside(double r) { return {number(-r, r), number(-r, r), number(-r, r)}; }
  V direction() {
    std::normal_distribution<double> normal;
    const V v{normal(rng_), normal(rng_), normal(rng_)};
    return (1 / physics::norm(v)) * v;
  }
  std::mt19937_64 rng_;
};

// Of shapes with edges and faces a support is any point of an edge, and a ray at a slant meets a facet anywhere: the
// points that are reported are a distance apart along the normal all the same. Pulls end where they would gain
// kSettled, which leaves the normals of two rounds sqrt(2 kSettled/kPull) apart; they have moved a shape by kPull, and of a
// cylinder's side they may be at their number before.
TEST(ConvexDistance, PointsOfTouchingShapesAreOppositeEachOther) {
  using G = GeomType;
  constexpr double kOpposite = 1e-5, kFar = 1e9;
  Shapes shapes(1);
  for (const G first : {G::box, G::cylinder, G::ellipsoid, G::capsule})
    for (const G second : {G::box, G::cylinder, G::ellipsoid})
      for (const double span : {1e-6, 1e-9, 0.0}) {
        double worst = 0, unlike = 0;
        for (int k = 0; k < 400; ++k) {
          const LaneShape a = shapes.any(first);
          LaneShape b = shapes.any(second);
          const physics::ConvexDistance before = physics::convex_distance(a, b, kFar);
          // along the normal nearest points stay nearest
          b.centre = b.centre + (shapes.number(-span, span) - before.distance) * before.normal;
          const physics::ConvexDistance d = physics::convex_distance(a, b, kFar);
          const physics::ConvexPair<LaneShape> pair{a, b, b.centre - a.centre, 0};
          const double radii = a.radius() + b.radius();
          const double apart = physics::dot(d.normal, pair.support(-d.normal).w) - radii;
          unlike = std::max(unlike, std::abs(apart - d.distance));
          worst = std::max(worst, physics::norm(d.point_b - d.point_a - d.distance * d.normal));
        }
        EXPECT_LT(worst, kOpposite)
            << static_cast<int>(first) << " " << static_cast<int>(second) << " " << span;
        EXPECT_LT(unlike, 1e-14);  // what is reported is s at the normal that is reported
      }
}

}  // namespace
}  // namespace stiction::test

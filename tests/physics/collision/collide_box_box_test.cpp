// Box against box in every number type: the reference's witnesses, lane by lane.
#include "physics/collision/collide_box_box.h"

#include <gtest/gtest.h>

#include "physics/env.h"
#include "reference/collision/geometry_oracle.h"

namespace stiction::test {
namespace {

using reference::Shape;
using reference::Witness;
using reference::test::random_rotation;
using reference::test::random_shape;
using reference::test::random_vector;
using reference::test::Rng;
using reference::test::uniform;
using WidePack = physics::Wide<TestPack>;

template <class W>
struct Contacts {
  physics::Vec3<W> point1[8], point2[8], normal;
  W distance[8], beyond;
};
struct Placed {
  Shape a, b;
};

// Lane i holds pair i of the list.
template <class W>
Contacts<W> collide_lanes(const std::vector<Placed>& pairs,
                          double reach = std::numeric_limits<double>::infinity()) {
  physics::Vec3<W> pos[2], size[2];
  physics::Mat3<W> rot[2];
  for (int lane = 0; lane < physics::kLanes<W>; ++lane) {
    const Placed& pair = pairs[static_cast<std::size_t>(lane)];
    for (int k = 0; k < 2; ++k) {
      const Shape& s = k == 0 ? pair.a : pair.b;
      const auto put = [&](physics::Vec3<W>& v, const Vec3& x) {
        physics::set_lane(v.x, lane, x[0]);
        physics::set_lane(v.y, lane, x[1]);
        physics::set_lane(v.z, lane, x[2]);
      };
      put(pos[k], s.pos), put(size[k], s.size);
      put(rot[k].x, s.rot.col(0)), put(rot[k].y, s.rot.col(1)), put(rot[k].z, s.rot.col(2));
    }
  }
  Contacts<W> c;
  physics::SearchLimit<W> limit{W(reach), W(0.0)};
  physics::collide_box_box(pos[0], rot[0], size[0], pos[1], rot[1], size[1],
                           physics::all_lanes<W>(), limit, c.point1, c.point2, c.normal,
                           c.distance);
  c.beyond = limit.beyond;
  return c;
}

template <class W>
Vec3 lane_of(const physics::Vec3<W>& v, int lane) {
  return {physics::get_lane(v.x, lane), physics::get_lane(v.y, lane), physics::get_lane(v.z, lane)};
}

// Anything from far apart to deep, aligned or not, flush or not.
Placed random_pair(Rng& rng) {
  Shape a = random_shape(rng, GeomType::box, 1), b = random_shape(rng, GeomType::box, 1);
  const int kind = static_cast<int>(uniform(rng, 0, 4));
  if (kind == 1) b.rot = a.rot;
  if (kind >= 2) {  // b rests on a, nearly
    const double noise = kind == 2 ? 1e-3 : 1e-2;
    const Mat3 yaw = Eigen::AngleAxisd(uniform(rng, 0, 6), Vec3::UnitZ()).toRotationMatrix();
    b.rot = a.rot * yaw * exp_quat(random_vector(rng, noise)).toRotationMatrix();
    b.pos = a.pos + a.rot * Vec3(uniform(rng, -1, 1), uniform(rng, -1, 1),
                                 a.size[2] + b.size[2] + uniform(rng, -noise, noise));
  }
  return {a, b};
}

// A hundred roundings of metres, over the sine of nearly parallel edges.
constexpr double kAgree = 1e-10;

TEST(CollideBoxBox, AgreesWithTheReference) {
  Rng rng(1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const Placed pair = random_pair(rng);
    const Contacts<double> c = collide_lanes<double>({pair});
    const std::vector<Witness> w = reference::test::contacts(pair.a, pair.b);
    // parallel boxes that are apart at an edge or a corner: the overlap of the faces is a line or
    // a point, and round-off picks among its corners
    const bool degenerate = pair.a.rot == pair.b.rot && reference::test::nearest(w).distance > 0;
    double difference = (lane_of(c.normal, 0) - w[0].normal).norm();
    for (std::size_t k = 0; k < 8; ++k) {
      difference = std::max(difference, std::abs(c.distance[k] - w[k].distance));
      if (degenerate) continue;
      difference = std::max({difference, (lane_of(c.point1[k], 0) - w[k].point1).norm(),
                             (lane_of(c.point2[k], 0) - w[k].point2).norm()});
    }
    ASSERT_LT(difference, kAgree) << i;
    worst = std::max(worst, difference);
  }
  std::printf("worst difference %.1e\n", worst);
}

// Boxes that are farther apart than the reach are said to be, and no others; these have the same points.
TEST(CollideBoxBox, ThoseBeyondTheReachAreLeftOut) {
  Rng rng(5);
  int beyond = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const Placed pair = random_pair(rng);
    const double reach = uniform(rng, 0, 0.5);
    const double distance =
        reference::test::nearest(reference::test::contacts(pair.a, pair.b)).distance;
    if (std::abs(distance - reach) < kAgree) continue;
    const Contacts<double> all = collide_lanes<double>({pair}),
                           c = collide_lanes<double>({pair}, reach);
    ASSERT_EQ(all.beyond, 0);
    ASSERT_EQ(c.beyond, distance > reach ? 1 : 0) << i;
    beyond += distance > reach, apart += distance > 0 && distance < reach;
    for (int k = 0; k < 8 && distance < reach; ++k) {
      ASSERT_EQ(c.distance[k], all.distance[k]);
      ASSERT_EQ(lane_of(c.point1[k], 0), lane_of(all.point1[k], 0));
    }
  }
  EXPECT_GT(beyond, 1000);
  EXPECT_GT(apart, 1000);
}

TEST(CollideBoxBox, PacksEqualTheReferenceInEveryLane) {
  Rng rng(2);
  const auto lanes = static_cast<std::size_t>(physics::kLanes<WidePack>);
  for (int i = 0; i < 300; ++i) {
    std::vector<Placed> pairs;
    for (std::size_t lane = 0; lane < lanes; ++lane) pairs.push_back(random_pair(rng));
    const auto mixed = collide_lanes<WidePack>(pairs);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const int l = static_cast<int>(lane);
      // bitwise: the neighbours do not matter
      const auto copies = collide_lanes<WidePack>(std::vector<Placed>(lanes, pairs[lane]));
      const auto alone = collide_lanes<double>({pairs[lane]});
      for (std::size_t k = 0; k < 8; ++k) {
        ASSERT_EQ(physics::get_lane(mixed.distance[k], l),
                  physics::get_lane(copies.distance[k], l));
        ASSERT_EQ(lane_of(mixed.point1[k], l), lane_of(copies.point1[k], l));
        ASSERT_EQ(lane_of(mixed.point2[k], l), lane_of(copies.point2[k], l));
        // contraction may differ in the change of frames
        ASSERT_NEAR(physics::get_lane(mixed.distance[k], l), alone.distance[k], kAgree);
      }
      ASSERT_EQ(lane_of(mixed.normal, l), lane_of(copies.normal, l));
    }
  }
}

// Scaling lengths by four changes nothing but the exponents.
TEST(CollideBoxBox, ScalesBitwise) {
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    Placed pair = random_pair(rng);
    const auto before = collide_lanes<double>({pair});
    for (Shape* s : {&pair.a, &pair.b}) s->size *= 4, s->pos *= 4;
    const auto after = collide_lanes<double>({pair});
    ASSERT_EQ(lane_of(after.normal, 0), lane_of(before.normal, 0));
    for (std::size_t k = 0; k < 8; ++k) {
      ASSERT_EQ(after.distance[k], 4 * before.distance[k]);
      ASSERT_EQ(lane_of(after.point2[k], 0), 4 * lane_of(before.point2[k], 0));
    }
  }
}

}  // namespace
}  // namespace stiction::test

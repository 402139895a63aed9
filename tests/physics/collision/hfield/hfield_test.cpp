// Height fields: the collider of the packs and the reference's, a flat field and a plane, distances and the
// nearest triangle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "physics/collision/collider_shapes.h"
#include "reference/collision/geometry_colliders.h"

namespace stiction::test {
namespace {

namespace ref = reference;
using ref::test::Rng;
using Pack = physics::Pack<double, physics::kNativeLanes>;
using G = GeomType;
constexpr int kW = physics::kNativeLanes;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr G kShapes[] = {G::sphere, G::capsule, G::ellipsoid, G::cylinder, G::box, G::mesh};

// A field of nrow x ncol nodes, and the arrays that the physics text reads.
struct Field {
  int nrow, ncol, adr = 0;
  std::array<double, 4> size;
  std::vector<double> data;
  double top = 0, bottom = 0;

  template <class F>
  Field(int rows, int columns, const std::array<double, 4>& s, const F& elevation)
      : nrow(rows), ncol(columns), size(s) {
    for (int j = 0; j < rows; ++j)
      for (int i = 0; i < columns; ++i) data.push_back(elevation(i, j));
    top = size[2] * *std::max_element(data.begin(), data.end());
    bottom = -size[3];
  }
  physics::HfieldArrays arrays() const {
    return {&nrow, &ncol, &adr, size.data(), data.data(), &top, &bottom};
  }
  Vec3 node(int i, int j) const {
    return {2 * size[0] * i / (ncol - 1) - size[0], 2 * size[1] * j / (nrow - 1) - size[1],
            size[2] * data[at(j * ncol + i)]};
  }
  ref::Shape shape(const Vec3& pos = Vec3::Zero(), const Mat3& rot = Mat3::Identity()) const {
    return {G::hfield, Vec3::Zero(), pos, rot, {}, {nrow, ncol, {size[0], size[1], size[2]}, data}};
  }
  double height(double x, double y) const {
    physics::HfieldArrays a = arrays();
    return physics::hfield_of(physics::HfieldRef{&a, 0}).height(x, y);
  }
};

Field hills(std::uint64_t seed, double roughness) {
  Rng rng(seed);
  return {
      9, 12, {1.1, 0.8, roughness, 0.1}, [&](int, int) { return ref::test::uniform(rng, 0, 1); }};
}
Field stairs() {
  return {9, 12, {1.1, 0.8, 0.1, 0.1}, [](int i, int) { return i / 3; }};
}
Field flat() {
  return {9, 12, {1.1, 0.8, 1, 0.1}, [](int, int) { return 0.2; }};
}

ref::Shape small_shape(Rng& rng, G type) {
  const auto size = [&] { return ref::test::uniform(rng, 0.03, 0.25); };
  if (type == G::mesh) {
    ref::Shape s = ref::test::mesh_shape(static_cast<int>(rng() % ref::test::kZoo));
    s.rot = ref::test::random_rotation(rng);
    return s;
  }
  return {type, {size(), size(), size()}, Vec3::Zero(), ref::test::random_rotation(rng)};
}

struct Found {
  std::vector<ref::Witness> points;
  bool beyond, overflow;
};
Found collide(const Field& field, const ref::Shape& place, const ref::Shape& s, double reach) {
  const physics::HfieldArrays arrays = field.arrays();
  physics::HfieldLimit<double> limit{{reach, 0}, 0};
  Found f{std::vector<ref::Witness>(at(contact_points(G::hfield, s.type))), false, false};
  physics::collide_shapes<double, physics::Colliders::hfields>(
      {G::hfield, physics::HfieldRef{&arrays, 0}}, kind(s), shape<double>(place), shape<double>(s),
      true, limit, [&](int k, const physics::Witness<double>& w) {
        f.points[at(k)] = {get(w.point1, 0), get(w.point2, 0), get(w.normal, 0), w.distance};
      });
  f.beyond = limit.beyond > 0.5, f.overflow = limit.overflow > 0.5;
  return f;
}
double least(const std::vector<ref::Witness>& points) {
  return ref::test::nearest(points).distance;
}

// Shapes that touch, all but touch, or are a little deep, anywhere on a field that is placed anyhow.
template <class Check>
void at_random_poses(const Field& field, int rounds, const Vec2& spread, const Check& check) {
  Rng rng(11);
  for (const G type : kShapes) {
    for (int round = 0; round < rounds; ++round) {
      const ref::Shape place =
          field.shape(ref::test::random_vector(rng, 2), ref::test::random_rotation(rng));
      ref::Shape s = small_shape(rng, type);
      s.pos = Vec3(ref::test::uniform(rng, -spread[0], spread[0]),
                   ref::test::uniform(rng, -spread[1], spread[1]), 2);
      const double gap = 1e-3 * (round % 3) - 5e-4;
      for (int i = 0; i < 200; ++i) {  // down until it is so far away
        const double more = least(ref::test::contacts(field.shape(), s)) - gap;
        if (more < 1e-9) break;
        s.pos.z() -= std::min(more, 0.1);
      }
      s.pos = place.pos + place.rot * s.pos, s.rot = place.rot * s.rot;
      check(place, s);
    }
  }
}

TEST(Hfield, AgreesWithTheReference) {
  for (const Field& field : {hills(3, 0.05), hills(5, 0.3), stairs()}) {
    int points = 0, unlike = 0;
    at_random_poses(field, 20, {1, 0.7}, [&](const ref::Shape& place, const ref::Shape& s) {
      constexpr double kReach = 0.02;
      const auto expected = ref::test::contacts(place, s);
      const Found found = collide(field, place, s, kReach);
      EXPECT_FALSE(found.beyond);
      ref::Shape above = s;
      above.pos += 0.5 * place.rot.col(2);  // all of the field is within 0.3 m
      EXPECT_TRUE(collide(field, place, above, kReach).beyond);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const ref::Witness &w = found.points[k], &e = expected[k];
        if (e.distance > kReach) {
          EXPECT_GT(w.distance, kReach);
          continue;
        }
        ++points;
        const double worst =
            std::max({std::abs(w.distance - e.distance), (w.normal - e.normal).norm(),
                      (w.point1 - e.point1).norm(), (w.point2 - e.point2).norm()});
        unlike += worst > 1e-4;  // normals of curved shapes: the root of the distance
      }
      EXPECT_NEAR(least(found.points), least(expected), 1e-8);
    });
    EXPECT_GT(points, 140);
    EXPECT_LE(unlike, points / 100);
  }
}

physics::HullShape lane_shape(const ref::Shape& s) {
  const physics::Shape<double> p = shape<double>(s);
  return {{s.type, p.pos, p.rot.x, p.rot.y, p.rot.z, p.size}, {}};
}

// Lines and points against the reference's search, at depths and distances up to the size of the shapes.
TEST(Hfield, ClosedFormsAreWhatASearchFinds) {
  constexpr double kQuarterTurn = 1.5707963267948966;
  constexpr double kLong = 3, kSearch = 1e-8;  // where searches end, of the line's length
  Rng rng(8);
  int deep = 0, apart = 0;
  for (const G type : {G::box, G::cylinder, G::sphere, G::capsule}) {
    for (int round = 0; round < 1000; ++round) {
      const ref::Shape s = small_shape(rng, type);
      const Vec3 p = ref::test::random_vector(rng, 0.3);
      const auto check = [&](const physics::ConvexDistance& d, const ref::Shape& core) {
        const ref::SignedDistance e = ref::nearest_convex(core, s);
        EXPECT_NEAR(d.distance, e.distance, kSearch) << round;
        const Vec3 n = get(d.normal, 0);
        EXPECT_NEAR(n.norm(), 1, 1e-12);
        // its own normal and points say the same distance
        EXPECT_NEAR(n.dot(get(d.point_b, 0) - get(d.point_a, 0)), e.distance, kSearch);
        deep += d.distance<0, apart += d.distance> 0;
      };
      check(physics::point_distance({p.x(), p.y(), p.z()}, lane_shape(s), 10),
            {G::sphere, Vec3::Zero(), p, Mat3::Identity()});
      if (type == G::sphere || type == G::capsule) continue;

      Mat3 rot = ref::test::random_rotation(rng);
      if (round % 2 == 0) {  // across an axis of the shape, or along one
        const double angle =
            round % 4 == 0 ? ref::test::uniform(rng, 0, 6) : kQuarterTurn * (round / 2);
        rot = s.rot * Eigen::AngleAxisd(angle, Vec3::Unit(round % 3)).toRotationMatrix();
      }
      const Vec3 u = rot.col(2), c = s.pos - p;
      const physics::Vec3<double> way{u.x(), u.y(), u.z()}, to{c.x(), c.y(), c.z()};
      const auto d = type == G::box ? physics::line_box_distance(way, to, lane_shape(s))
                                    : physics::line_cylinder_distance(way, to, lane_shape(s));
      EXPECT_NEAR(get(d.normal, 0).dot(u), 0, 1e-12);
      EXPECT_LT(get(d.point_a, 0).cross(u).norm(), 1e-12);
      check(d, {G::capsule, {0, kLong, 0}, p, rot});
      const Vec3 on_shape = p + get(d.point_b, 0);
      if (d.distance > 1e-6) {
        const ref::Shape core{G::sphere, Vec3::Zero(), on_shape, rot};
        EXPECT_NEAR(ref::nearest_convex(core, s).distance, 0, 10 * kSearch);
      }
    }
  }
  EXPECT_GT(deep, 1000);
  EXPECT_GT(apart, 1000);
}

// Every edge, node and face of the field that gives a shape a point is among those that the filter lets through, wherever
// its cell is; so are the corners of a box that a face has points of.
TEST(Hfield, TheFilterLosesNothing) {
  constexpr double kReach = 0.02;
  int touching = 0, through = 0, all = 0;
  for (const Field& field : {hills(3, 0.1), hills(5, 0.4), stairs()}) {
    const physics::HfieldArrays arrays = field.arrays();
    const physics::Hfield h = physics::hfield_of({&arrays, 0});
    Rng rng(6);
    for (const G type : kShapes) {
      for (int round = 0; round < 100; ++round) {
        ref::Shape s = small_shape(rng, type);
        s.pos = {ref::test::uniform(rng, -1.1, 1.1), ref::test::uniform(rng, -0.8, 0.8), 0};
        s.pos.z() = field.height(s.pos.x(), s.pos.y()) + ref::test::uniform(rng, -0.1, 0.3);
        const physics::HullShape b{lane_shape(s), kind(s).hull(0)};
        const auto found = [&](const auto& offer, bool corners) {
          physics::HfieldPoints points{};
          points.own = contact_points(G::plane, type);
          points.radius = b.radius();
          points.extent = physics::core_extent(b) + points.radius, points.reach = kReach;
          for (physics::CornerCells& c : points.corner) c = {0, h.ncol, 0, h.nrow};
          if (corners) physics::place_corners(h, b, points);
          offer(points);
          return points.count + static_cast<int>(std::count(std::begin(points.filled),
                                                            std::end(points.filled), true));
        };
        physics::HfieldPoints points{};
        points.reach = kReach;
        const physics::HfieldFilter<Pack> filter(h, b, points,
                                                 physics::window_of(h, b, kReach).lowest, true);
        physics::HfieldNodes<Pack> nodes;
        for (int node = 0; node < h.ncol * h.nrow; ++node) {
          const int i = node % h.ncol, j = node / h.ncol;
          nodes.count = node % kW;  // the others are what they were
          nodes.add(h, i, j, h.has_node(i + 1, j + 1));
          const auto bits = static_cast<int>(physics::get_lane(filter.bits(h, nodes), node % kW));
          const auto check = [&](int bit, const auto& offer) {
            const bool touches = found(offer, false) > 0;
            EXPECT_TRUE(!touches || (bits & bit) != 0) << static_cast<int>(type) << " bit " << bit;
            if (bit >= physics::kFaceBit)
              return;  // here of a shape that is deep: all that it is not above
            touching += touches, through += (bits & bit) != 0, ++all;
          };
          for (int k = 0; k < 3; ++k) {
            int di, dj;
            physics::neighbour(k, di, dj);
            if (!h.has_node(i + di, j + dj)) continue;
            const physics::HfieldEdge e = physics::edge_of(h, i, j, k);
            if (physics::is_ridge(e))
              check(1 << k, [&](auto& p) { physics::ridge_points(e, b, p); });
          }
          check(physics::kNodeBit, [&](auto& p) { physics::peak_points(h, i, j, b, p); });
          for (int which = 0; which < 2 && h.has_node(i + 1, j + 1); ++which) {
            const auto offer = [&](auto& p) {
              physics::face_points(h, physics::face_of(h, i, j, which), b, p);
            };
            check(physics::kFaceBit << which, offer);
            EXPECT_EQ(found(offer, true), found(offer, false));
          }
        }
      }
    }
  }
  EXPECT_GT(touching, 400);
  EXPECT_LT(through, all / 20);  // of edges and nodes
}

TEST(Hfield, IsAPlaneWhereItIsFlat) {
  const Field field = flat();
  at_random_poses(field, 30, {0.3, 0.2}, [&](const ref::Shape& place, const ref::Shape& s) {
    const ref::Shape plane{G::plane, Vec3::Zero(), place.pos + 0.2 * place.rot.col(2), place.rot};
    auto expected = ref::test::contacts(plane, s);
    double deepest = least(expected);
    // the points, which are not lowered to the vertex that is deepest: that has a slot of its own
    if (s.type == G::mesh) deepest = ref::plane_corners(plane, s, expected).distance;
    const Found found = collide(field, place, s, 0.1);
    // a point between two vertices has weights of differences over 2e-3 of their distance
    const double round_off = s.type == G::mesh ? 1e-12 : 1e-14;
    EXPECT_NEAR(least(found.points), deepest, 1e-14);
    for (std::size_t k = 0; k < found.points.size(); ++k) {
      const ref::Witness& w = found.points[k];
      if (k >= expected.size() || expected[k].distance > 0.1) {
        if (k >= expected.size() && s.type == G::mesh) continue;
        EXPECT_GT(w.distance, 0.1) << k;
        continue;
      }
      EXPECT_NEAR(w.distance, expected[k].distance, round_off);
      EXPECT_LT((w.normal - expected[k].normal).norm(), 1e-14);
      EXPECT_LT((w.point2 - expected[k].point2).norm(), round_off);
    }
  });
}

// Nearest point of a triangle, by its seven features.
double distance(const Vec3& p, const std::array<Vec3, 3>& t) {
  double best = kInfinity;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 u = t[(i + 1) % 3] - t[i];
    const double s = std::clamp(u.dot(p - t[i]) / u.squaredNorm(), 0.0, 1.0);
    best = std::min(best, (p - t[i] - s * u).norm());
  }
  const Vec3 n = (t[1] - t[0]).cross(t[2] - t[0]).normalized(), foot = p - n.dot(p - t[0]) * n;
  for (std::size_t i = 0; i < 3; ++i)
    if (n.dot((t[(i + 1) % 3] - t[i]).cross(foot - t[i])) < 0) return best;
  return std::min(best, (p - foot).norm());
}

TEST(Hfield, ABallIsAsFarAsTheNearestTriangle) {
  const Field field = hills(7, 0.4);
  Rng rng(2);
  int compared = 0;
  for (int round = 0; round < 2000; ++round) {
    const double radius = ref::test::uniform(rng, 0.01, 0.3);
    ref::Shape ball{G::sphere, Vec3::Constant(radius), Vec3::Zero(), Mat3::Identity()};
    ball.pos = {ref::test::uniform(rng, -1, 1), ref::test::uniform(rng, -0.7, 0.7),
                ref::test::uniform(rng, -0.1, 0.6)};
    double nearest = kInfinity;
    for (int j = 0; j + 1 < field.nrow; ++j)
      for (int i = 0; i + 1 < field.ncol; ++i) {
        const Vec3 a = field.node(i, j), b = field.node(i + 1, j), c = field.node(i, j + 1),
                   d = field.node(i + 1, j + 1);
        nearest = std::min({nearest, distance(ball.pos, {a, b, d}), distance(ball.pos, {a, d, c})});
      }
    const bool above = ball.pos.z() > field.height(ball.pos.x(), ball.pos.y());
    if (!above) continue;  // its centre in the ground: see the next test
    ++compared;
    const auto found = collide(field, field.shape(), ball, 1);
    EXPECT_NEAR(least(found.points), nearest - radius, 1e-9) << round;
  }
  EXPECT_GT(compared, 1000);
}

// Below the surface a shape is pushed out, up to its whole height deep.
TEST(Hfield, NothingIsBelowTheGround) {
  const Field fine{121, 161, {1.1, 0.8, 1, 0.1}, [](int, int) { return 0.2; }};
  for (const Field& field : {hills(3, 0.1), stairs(), flat(), fine}) {
    Rng rng(5);
    for (const G type : kShapes) {
      for (int round = 0; round < 100; ++round) {
        ref::Shape s = small_shape(rng, type);
        s.pos = {ref::test::uniform(rng, -0.7, 0.7), ref::test::uniform(rng, -0.4, 0.4), 0};
        s.pos.z() = field.height(s.pos.x(), s.pos.y()) - ref::test::uniform(rng, 0, 0.1);
        const auto found = collide(field, field.shape(), s, 0.1);
        const ref::Witness w = ref::test::nearest(found.points);
        EXPECT_LT(w.distance, 0);
        EXPECT_GT(w.normal.z(), 0);
      }
    }
  }
}

// As a shape moves the least distance changes no faster.
TEST(Hfield, DistanceIsContinuous) {
  for (const Field& field : {hills(9, 0.1), stairs()}) {
    Rng rng(3);
    for (const G type : kShapes) {
      double fastest = 0;
      for (int path = 0; path < 12; ++path) {
        ref::Shape s = small_shape(rng, type);
        s.pos = {ref::test::uniform(rng, -0.7, 0.7), ref::test::uniform(rng, -0.4, 0.4), 1};
        s.pos.z() -= least(collide(field, field.shape(), s, 2).points) - 5e-3;
        const Vec3 way(ref::test::uniform(rng, -0.2, 0.2), ref::test::uniform(rng, -0.2, 0.2), 0);
        constexpr int kSteps = 400;
        double last = kInfinity;
        for (int i = 0; i < kSteps; ++i) {
          const double d = least(collide(field, field.shape(), s, 1).points);
          if (std::abs(last) < 1 && std::max(d, last) > 0)
            fastest = std::max(fastest, std::abs(d - last) / (way.norm() / kSteps));
          last = d;
          s.pos += way / kSteps;
          if (d < -2e-3) s.pos.z() += 1e-3, last = kInfinity;  // stays near the surface
          if (d > 1e-2) s.pos.z() -= 5e-3, last = kInfinity;
        }
      }
      EXPECT_LT(fastest, 1 + 1e-6) << static_cast<int>(type);
    }
  }
}

TEST(Hfield, ALaneIsTheSameInAnyCompany) {
  const Field field = hills(3, 0.2);
  const physics::HfieldArrays arrays = field.arrays();
  Rng rng(4);
  for (const G type : {G::sphere, G::box, G::cylinder}) {
    physics::Shape<Pack> pack{};
    std::array<Found, kW> alone;
    const ref::Shape place = field.shape();
    for (int lane = 0; lane < kW; ++lane) {
      ref::Shape s = small_shape(rng, type);
      s.pos = {ref::test::uniform(rng, -1, 1), ref::test::uniform(rng, -0.7, 0.7), 0.2};
      alone[at(lane)] = collide(field, place, s, 0.05);
      put(pack, lane, s);
    }
    physics::HfieldLimit<Pack> limit{{Pack(0.05), Pack(0.0)}, Pack(0.0)};
    physics::collide_shapes<Pack, physics::Colliders::hfields>(
        {G::hfield, physics::HfieldRef{&arrays, 0}}, type, shape<Pack>(place), pack,
        physics::all_lanes<Pack>(), limit, [&](int k, const physics::Witness<Pack>& w) {
          for (int lane = 0; lane < kW; ++lane) {
            if (alone[at(lane)].beyond) continue;
            const ref::Witness& a = alone[at(lane)].points[at(k)];
            EXPECT_EQ(physics::get_lane(w.distance, lane), a.distance);
            EXPECT_EQ(get(w.normal, lane), a.normal);
            EXPECT_EQ(get(w.point1, lane), a.point1);
          }
        });
    for (int lane = 0; lane < kW; ++lane)
      EXPECT_EQ(physics::get_lane(limit.beyond, lane) > 0.5, alone[at(lane)].beyond);
  }
}

// A box on the floor, a millimetre into the side of a step: pushed aside, not on top of it.
TEST(Hfield, AStepIsNoWayUp) {
  // cells of a millimetre: its corner is below the top of the step, too
  const Field step{9, 41, {0.02, 1, 0.3, 0.1}, [](int i, int) { return i > 20; }};
  const ref::Shape box{G::box, {0.008, 0.15, 0.1}, {-0.0065, 0.03, 0.0995}, Mat3::Identity()};
  int aside = 0, up = 0;
  for (const ref::Witness& w : collide(step, step.shape(), box, 0.01).points) {
    EXPECT_GT(w.distance, -2e-3);
    aside += w.distance < 0 && w.normal.x() < -0.9;
    up += w.distance < 0 && w.normal.z() > 0.9;
  }
  EXPECT_GT(aside, 0);
  EXPECT_GE(up, 2);
}

// A flat box over many spikes: the nearest and outermost are kept, and it is said.
TEST(Hfield, MorePointsThanSlotsAreReported) {
  const Field spikes{21, 21, {1, 1, 0.1, 0.1}, [](int i, int j) { return (i + j) % 2; }};
  const ref::Shape box{G::box, {0.5, 0.5, 0.1}, {0.03, 0.02, 0.199}, Mat3::Identity()};
  const Found found = collide(spikes, spikes.shape(), box, 0.01);
  EXPECT_TRUE(found.overflow);
  const ref::Shape small{G::box, {0.16, 0.16, 0.1}, {0.13, 0.02, 0.199}, Mat3::Identity()};
  // five: corners that are above have no use for their slots
  EXPECT_FALSE(collide(spikes, spikes.shape(), small, 0.01).overflow);
  const ref::Shape ball{G::sphere, {0.03, 0, 0}, {0.1, 0, 0.129}, Mat3::Identity()};
  EXPECT_FALSE(collide(spikes, spikes.shape(), ball, 0.01).overflow);
  // fifteen as high: those farthest out hold the others, but not one that is higher
  const ref::Shape plate{G::box, {0.25, 0.45, 0.1}, {0, 0, 0.199}, Mat3::Identity()};
  for (const double middle : {1., 1.001}) {
    const Field field{21, 21, {1, 1, 0.1, 0.1}, [&](int i, int j) {
                        return i == 10 && j == 10 ? middle : (i + 1) % 2 * ((j + 1) % 2);
                      }};
    EXPECT_EQ(collide(field, field.shape(), plate, 0.01).overflow, middle > 1);
  }
}

}  // namespace
}  // namespace stiction::test

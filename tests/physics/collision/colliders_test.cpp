// Every collider against the reference's, at random poses and at poses where everything is aligned:
// there all numbers are exact, so both must make the same choices.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "reference/collision/geometry_capsules.h"
#include "physics/collision/collider_shapes.h"

namespace stiction::test {
namespace {

namespace ref = reference;
using ref::test::Rng;
using Pack = physics::Pack<double, physics::kNativeLanes>;
constexpr int kW = physics::kNativeLanes;
constexpr double kTolerance = 1e-10;

// With no more colliders than the pair needs.
template <class W>
std::array<physics::Witness<W>, 12> run(const physics::ShapeKind<W>& a,
                                        const physics::ShapeKind<W>& b, const physics::Shape<W>& s,
                                        const physics::Shape<W>& t, physics::SearchLimit<W> limit,
                                        W* beyond = nullptr) {
  std::array<physics::Witness<W>, 12> out;
  using physics::Colliders;
  const auto collide = [&]<Colliders has>() {
    physics::collide_shapes<W, has>(a, b, s, t, physics::all_lanes<W>(), limit,
                                    [&](int k, const physics::Witness<W>& w) { out[at(k)] = w; });
  };
  switch (physics::colliders_of(a.type, b.type)) {
    case Colliders::round: collide.template operator()<Colliders::round>(); break;
    case Colliders::box: collide.template operator()<Colliders::box>(); break;
    case Colliders::boxes: collide.template operator()<Colliders::boxes>(); break;
    case Colliders::convex: collide.template operator()<Colliders::convex>(); break;
    case Colliders::meshes: collide.template operator()<Colliders::meshes>(); break;
    case Colliders::hfields: break;  // hfield_test.cpp
  }
  if (beyond != nullptr) *beyond = limit.beyond;
  return out;
}
template <class W>
std::array<physics::Witness<W>, 12> run(const physics::ShapeKind<W>& a,
                                        const physics::ShapeKind<W>& b, const physics::Shape<W>& s,
                                        const physics::Shape<W>& t) {
  return run<W>(a, b, s, t, {W(std::numeric_limits<double>::infinity()), W(0.0)});
}

// Of boxes that are apart with parallel faces or edges many points are nearest: any will do.
template <class W>
double deviation(const physics::Witness<W>& a, const ref::Witness& b, int lane, bool boxes) {
  if (boxes && b.distance > 0)
    return std::max((get(a.normal, lane) - b.normal).norm(),
                    std::abs(physics::get_lane(a.distance, lane) - b.distance));
  return std::max({(get(a.point1, lane) - b.point1).norm(), (get(a.point2, lane) - b.point2).norm(),
                   (get(a.normal, lane) - b.normal).norm(),
                   std::abs(physics::get_lane(a.distance, lane) - b.distance)});
}

// Eight poses of a pair of types: alone and as the lanes of a pack.
template <class Pose>
void check(const ref::test::TypePair& types, const Pose& pose, int rounds) {
  double worst = 0, worst_pack = 0;
  const bool boxes = types.a == GeomType::box && types.b == GeomType::box;
  for (int round = 0; round < rounds; ++round) {
    physics::Shape<Pack> pa{}, pb{};
    std::array<std::vector<ref::Witness>, kW> expected;
    for (int lane = 0; lane < kW; ++lane) {
      const ref::Shape a = pose(types.a), b = pose(types.b);
      expected[at(lane)] = ref::test::contacts(a, b);
      put(pa, lane, a), put(pb, lane, b);
      const auto found = run<double>(types.a, types.b, shape<double>(a), shape<double>(b));
      for (std::size_t k = 0; k < expected[at(lane)].size(); ++k)
        worst = std::max(worst, deviation(found[k], expected[at(lane)][k], 0, boxes));
    }
    const auto found = run<Pack>(types.a, types.b, pa, pb);
    for (int lane = 0; lane < kW; ++lane)
      for (std::size_t k = 0; k < expected[at(lane)].size(); ++k)
        worst_pack = std::max(worst_pack, deviation(found[k], expected[at(lane)][k], lane, boxes));
  }
  EXPECT_LT(worst, kTolerance) << static_cast<int>(types.a) << " " << static_cast<int>(types.b);
  EXPECT_LT(worst_pack, kTolerance)
      << static_cast<int>(types.a) << " " << static_cast<int>(types.b);
}

TEST(Colliders, AgreeWithTheReferenceAtRandomPoses) {
  Rng rng(1);
  for (const auto& types : ref::test::all_pairs())
    for (const double spread : {0.2, 1.0, 3.0})
      check(
          types, [&](GeomType t) { return ref::test::random_shape(rng, t, spread); }, 500);
}

TEST(Colliders, ChooseAsTheReferenceWhereEverythingIsAligned) {
  Rng rng(2);
  const auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<std::uint64_t>(n)); };
  const auto aligned = [&](GeomType type) {
    Mat3 rot = Mat3::Zero();
    const int x = pick(3), y = (x + 1 + pick(2)) % 3;
    rot(x, 0) = pick(2) != 0 ? 1 : -1, rot(y, 1) = pick(2) != 0 ? 1 : -1;
    rot.col(2) = rot.col(0).cross(rot.col(1));
    const auto size = [&] { return std::ldexp(1.0, -pick(3)); };
    const auto place = [&] { return 0.25 * (pick(9) - 4); };
    return ref::Shape{type, {size(), size(), size()}, {place(), place(), place()}, rot};
  };
  for (const auto& types : ref::test::all_pairs()) check(types, aligned, 2000);
}

TEST(Colliders, AgreeWithTheReferenceWhereCapsulesAreNearlyParallel) {
  Rng rng(5);
  std::optional<ref::Shape> first;
  const auto pose = [&](GeomType type) {
    if (first) {
      // of parallel axes with an overlap below r/kShort either end may be the nearest
      ref::Shape second = ref::test::nearly_parallel(*first, rng);
      const auto short_overlap = [&] {
        const double radii = first->size[0] + second.size[0];
        return std::abs(ref::test::overlap(*first, second)) < 0.02 * radii;
      };
      while (short_overlap()) second = ref::test::nearly_parallel(*first, rng);
      first.reset();
      return second;
    }
    return *(first = ref::test::random_shape(rng, type, 1));
  };
  check({GeomType::capsule, GeomType::capsule}, pose, 2000);
}

// Whether the other lanes' capsules lie along each other or cross decides what is computed, but not a bit.
TEST(Colliders, CapsulesTouchTheSameInAnyCompany) {
  Rng rng(6);
  using Shape = physics::Shape<Pack>;
  const physics::ShapeKind<Pack> kind = GeomType::capsule;
  for (int round = 0; round < 500; ++round) {
    Shape a{}, b{}, alike_a{}, alike_b{};
    const int chosen = round % kW;
    for (int lane = 0; lane < kW; ++lane) {
      const ref::Shape s = ref::test::random_shape(rng, GeomType::capsule, 1);
      const ref::Shape t = rng() % 2 == 0 ? ref::test::nearly_parallel(s, rng)
                                          : ref::test::random_shape(rng, GeomType::capsule, 1);
      put(a, lane, s), put(b, lane, t);
      for (int other = 0; lane == chosen && other < kW; ++other)
        put(alike_a, other, s), put(alike_b, other, t);
    }
    const auto mixed = run<Pack>(kind, kind, a, b), alike = run<Pack>(kind, kind, alike_a, alike_b);
    for (std::size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(physics::get_lane(mixed[k].distance, chosen),
                physics::get_lane(alike[k].distance, 0));
      ASSERT_EQ(get(mixed[k].point1, chosen), get(alike[k].point1, 0));
      ASSERT_EQ(get(mixed[k].normal, chosen), get(alike[k].normal, 0));
    }
  }
}

// Cylinders, ellipsoids and meshes: two searches, which agree in the distance to what both resolve, and in the
// points unless features tie.
TEST(Colliders, SearchesAgreeWithTheReference) {
  using G = GeomType;
  constexpr int kRounds = 250;
  Rng rng(3);
  std::vector<ref::test::TypePair> pairs = ref::test::searched_pairs();
  pairs.push_back({G::plane, G::mesh});
  for (const auto& types : pairs) {
    int unlike = 0;
    for (int round = 0; round < kRounds; ++round) {
      physics::Shape<Pack> pa{}, pb{};
      std::array<std::vector<ref::Witness>, kW> expected;
      std::array<std::array<physics::Witness<double>, 12>, kW> alone;
      physics::ShapeKind<Pack> kind_a = types.a, kind_b = types.b;
      const auto pose = [&](GeomType type, int mesh) {
        const double spread = round % 2 == 0 ? 1.0 : 1.5;
        ref::Shape s = ref::test::random_shape(rng, type, spread);
        if (type == G::mesh) s = ref::test::mesh_shape(mesh, s.pos, s.rot);
        return s;
      };
      for (int lane = 0; lane < kW; ++lane) {
        // each lane has meshes of its own
        const ref::Shape a = pose(types.a, (round + lane) % ref::test::kZoo);
        ref::Shape b = pose(types.b, (round / 3 + 2 * lane) % ref::test::kZoo);
        const ref::Witness w = ref::test::nearest(ref::test::contacts(a, b));
        // touching; where two vertices just touch there are many normals
        const double gap =
            types.b == G::mesh ? 1.5e-3 - 1e-3 * (round % 3) : 1e-3 * (1 - round % 3);
        if (round % 3 != 0) b.pos -= (w.distance - gap) * w.normal;
        expected[at(lane)] = ref::test::contacts(a, b);
        put(pa, lane, a), put(pb, lane, b);
        alone[at(lane)] = run<double>(kind(a), kind(b), shape<double>(a), shape<double>(b));
        if (lane == 0) kind_a = kind<Pack>(a), kind_b = kind<Pack>(b);
        if (types.a == G::mesh) physics::set_lane(kind_a.mesh, lane, kind(a).mesh);
        if (types.b == G::mesh) physics::set_lane(kind_b.mesh, lane, kind(b).mesh);
      }
      const auto found = run<Pack>(kind_a, kind_b, pa, pb);
      for (int lane = 0; lane < kW; ++lane) {
        const auto& wanted = expected[at(lane)];
        double least = alone[at(lane)][0].distance, worst = 0;
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          const auto& w = alone[at(lane)][k];
          least = std::min(least, w.distance);
          worst = std::max(worst, deviation(w, wanted[k], 0, false));
          // a lane is the same in any company
          EXPECT_EQ(physics::get_lane(found[k].distance, lane), w.distance);
          EXPECT_EQ(get(found[k].point1, lane), get(w.point1, 0));
          EXPECT_EQ(get(found[k].normal, lane), get(w.normal, 0));
        }
        // the same way out, as short
        EXPECT_LT(std::abs(least - ref::test::nearest(wanted).distance), 1e-8)
            << ref::test::name(types);
        unlike += worst > 1e-3;
      }
    }
    EXPECT_LE(unlike, kRounds * kW / 20) << ref::test::name(types);
  }
}

// A search that may end early says so where the shapes are farther apart, and else is the same to the bit.
TEST(Colliders, SearchesEndWhereShapesAreFartherThanTheyReach) {
  using G = GeomType;
  Rng rng(4);
  int ended = 0, total = 0;
  for (const auto& types : {ref::test::TypePair{G::sphere, G::cylinder},
                            {G::cylinder, G::box},
                            {G::capsule, G::mesh},
                            {G::mesh, G::mesh}})
    for (int i = 0; i < 300; ++i, ++total) {
      const ref::Shape a = ref::test::random_shape(rng, types.a),
                       b = ref::test::random_shape(rng, types.b);
      const double reach = std::pow(10, ref::test::uniform(rng, -3, 0));
      double beyond = 0, least = 1e9;
      const auto whole = run<double>(kind(a), kind(b), shape<double>(a), shape<double>(b));
      const auto found =
          run<double>(kind(a), kind(b), shape<double>(a), shape<double>(b), {reach, 0.0}, &beyond);
      for (std::size_t k = 0; k < ref::test::contacts(a, b).size(); ++k) {
        least = std::min(least, whole[k].distance);
        if (beyond != 0) continue;
        EXPECT_EQ(found[k].distance, whole[k].distance);
        EXPECT_EQ(get(found[k].point1, 0), get(whole[k].point1, 0));
      }
      EXPECT_EQ(beyond != 0, least > reach);
      ended += beyond != 0;
    }
  EXPECT_GT(ended, total / 10);
}

}  // namespace
}  // namespace stiction::test

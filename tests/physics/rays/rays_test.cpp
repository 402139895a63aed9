// Rays and height scans against rays of the reference, in packs and by every kind of team.
#include "physics/rays/rays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "math.h"
#include "physics/rays/height_scan.h"
#include "physics/states.h"
#include "physics/tree/kinematics.h"

namespace stiction::test {
namespace {

using physics::Field;
using physics::kNativeLanes;
using Pack = physics::Pack<double, kNativeLanes>;

// Every shape, some of them on bodies that move; of the ground a field that is tilted, and one that is not.
constexpr const char* kScene = R"(<mujoco>
  <asset>
    <mesh name="hull" vertex="0 0 0.4 0.5 0 0 -0.3 0.4 0 -0.2 -0.5 0 0.1 0 -0.3 0.3 0.3 0.2"/>
    <hfield name="rough" nrow="4" ncol="5" size="1.5 1.1 0.5 0.2"
            elevation="0 .3 .1 .7 .2  .5 1 .2 .3 .4  .1 .9 .6 0 .8  .2 .3 .5 .4 .1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="3 4 1" pos="0 0 -0.5" group="1"/>
    <geom type="hfield" hfield="rough" pos="0.5 0 -0.4"/>
    <geom type="hfield" hfield="rough" pos="-2 0 -0.4" euler="10 -5 30" group="2"/>
    <geom type="box" size="0.3 0.2 0.4" pos="1 1 0" euler="20 0 30"/>
    <body pos="0 -1 0"><geom type="cylinder" size="0.3 0.2" euler="70 0 0"/></body>
    <body name="hand" mocap="true" pos="0 1 0.5"><geom type="ellipsoid" size="0.3 0.1 0.2"/></body>
    <body name="base" pos="0 0 0.8"><freejoint/>
      <geom type="sphere" size="0.15"/><geom type="capsule" size="0.1 0.3" pos="0.3 0 0" euler="0 60 0"/>
      <body pos="0 0.3 0"><joint axis="1 0 0"/><geom type="mesh" mesh="hull" pos="0 0.3 0"/></body></body>
  </worldbody>
</mujoco>)";

struct Given {
  std::vector<double> origins, directions;  // (n,3)
};
Given random_rays(std::mt19937& rng, int n) {
  std::uniform_real_distribution<double> at(-2, 2);
  std::normal_distribution<double> along;
  Given g;
  for (int i = 0; i < 3 * n; ++i) g.origins.push_back(at(rng)), g.directions.push_back(along(rng));
  return g;
}

// A pack of random states, with the poses of their bodies.
template <class S>
struct Posed {
  ModelPtr model = load_model_from_string(kScene);
  Reference reference{model};
  Env<S> env{*model};
  std::vector<State> states;

  explicit Posed(unsigned seed) {
    RandomStates random(seed);
    for (int lane = 0; lane < env.lanes(); ++lane) {
      states.push_back(random(*model));
      State& s = states.back();
      for (std::size_t k = 0; k < 3; ++k) s.qpos[k] *= 0.3;
      s.qpos[2] += 0.8;
      env.set(Field::qpos, lane, s.qpos);
      env.set(Field::mocap_pos, lane, s.mocap_pos), env.set(Field::mocap_quat, lane, s.mocap_quat);
    }
    kinematics(physics::TeamOfOne(), env.m(), env.e);
    env.poison(cpu::FieldKind::scratch);  // tasks don't see it either
  }
  RayHits<double> expected(int lane, const Given& g, const RayOptions& options) const {
    const State& s = states[at(lane)];
    return reference.raycast(s.qpos, g.origins, g.directions, options, s.inputs());
  }
};

// Where a float's chain of quaternions turned the body: positions are double all the same.
constexpr double kPose = 1e-9;

template <class S>
void hit_what_the_references_do() {
  using W = physics::Wide<S>;
  constexpr int n = 1500;
  std::mt19937 rng(4);
  const Posed<S> posed(3);
  const auto& env = posed.env;
  const RayOptions filters[] = {{}, {.flg_static = false}, {.geomgroup = 2}, {.bodyexclude = 3}};
  int hit_geoms = 0;
  for (const RayOptions& options : filters) {
    const Given g = random_rays(rng, n);
    std::vector<W> rays, hits(5 * n);
    for (int k = 0; k < n; ++k)
      for (int c = 0; c < 6; ++c)
        rays.push_back(W(c < 3 ? g.origins[at(3 * k + c)] : g.directions[at(3 * k + c - 3)]));
    physics::cast_rays(physics::TeamOfOne(), env.m(), env.e, options, 0, n, rays.data(),
                       hits.data());
    for (int lane = 0; lane < env.lanes(); ++lane) {
      const RayHits<double> expected = posed.expected(lane, g, options);
      for (int k = 0; k < n; ++k) {
        const auto number = [&](int i) { return physics::get_lane(hits[at(5 * k + i)], lane); };
        ASSERT_EQ(number(1), expected.geomid[at(k)]) << "ray " << k;
        EXPECT_NEAR(number(0), expected.distance[at(k)], kPose * (1 + std::abs(number(0))));
        for (int c = 0; c < 3; ++c)
          EXPECT_NEAR(number(2 + c), expected.normal[at(3 * k + c)], 100 * kPose);
        hit_geoms |= expected.geomid[at(k)] >= 0 ? 1 << expected.geomid[at(k)] : 0;
      }
    }
    for (int k = 0; k < n; ++k) {  // one at a time
      const auto ray = [&](int half) { return physics::load3(&rays[at(6 * k)], half); };
      const auto one = physics::cast_ray(env.m(), env.e, options, ray(0), ray(1));
      for (int lane = 0; lane < env.lanes(); ++lane) {
        EXPECT_EQ(physics::get_lane(one.geom, lane), physics::get_lane(hits[at(5 * k + 1)], lane));
        EXPECT_NEAR(physics::get_lane(one.distance, lane), physics::get_lane(hits[at(5 * k)], lane),
                    kPose);
      }
    }
  }
  EXPECT_EQ(hit_geoms, (1 << posed.model->ngeom) - 1);
}

TEST(Rays, HitWhatTheReferencesDo) {
  hit_what_the_references_do<double>();
  hit_what_the_references_do<TestPack>();
}

template <class S>
void heights_are_those_of_rays_down() {
  const Posed<S> posed(5);
  const Model& m = *posed.model;
  const auto& env = posed.env;
  const int base = m.body("base");
  const HeightScan scan{.nx = 6, .ny = 5, .step = 0.4, .x = 0.1, .y = -0.2, .above = 9};
  std::vector<S> heights(at(scan.count()));
  physics::height_scan(physics::TeamOfOne(), env.m(), env.e, scan, base, heights.data());
  const double round_off = 20 * physics::epsilon<S>() + kPose;
  for (int lane = 0; lane < env.lanes(); ++lane) {
    const State& s = posed.states[at(lane)];
    const ForwardResult f = posed.reference.forward(s.qpos, s.qvel, s.inputs());
    const Vec3 p = row3(f.xpos, base), ahead = row4(f.xquat, base) * Vec3(Vec3::UnitX());
    const double psi = std::atan2(ahead.y(), ahead.x());
    for (int k = 0; k < scan.count(); ++k) {
      const double x = (k / scan.ny - 2.5) * scan.step + scan.x;
      const double y = (k % scan.ny - 2) * scan.step + scan.y;
      Given ray{{p.x() + std::cos(psi) * x - std::sin(psi) * y,
                 p.y() + std::sin(psi) * x + std::cos(psi) * y, p.z() + scan.above},
                {0, 0, -1}};
      const auto above = static_cast<double>(physics::get_lane(heights[at(k)], lane));
      // what the ray meets first that nothing moves; of the plane beyond its size
      double z = -0.5;
      while (true) {
        const RayHits<double> hit = posed.expected(lane, ray, {});
        if (hit.geomid[0] < 0) break;
        ray.origins[2] -= hit.distance[0];
        if (m.body_weldid[at(m.geom_bodyid[at(hit.geomid[0])])] == 0) {
          z = std::max(z, ray.origins[2]);
          break;
        }
        ray.origins[2] -= 1e-9;
      }
      EXPECT_NEAR(above, z - p.z(), round_off * (scan.above + 1)) << "sample " << k;
    }
  }
}

TEST(Rays, HeightsAreThoseOfRaysDown) {
  heights_are_those_of_rays_down<double>();
  heights_are_those_of_rays_down<TestPack>();
}

// As tasks call it: a float in every lane, and teams of several threads.
TEST(HeightScan, IsTheSameBitsByEveryTeam) {
  const Posed<float> posed(7);
  const auto& env = posed.env;
  const HeightScan scan{.nx = 9, .ny = 7};
  const auto run = [&](const auto& team, std::vector<float>& out) {
    physics::height_scan(team, env.m(), env.e, scan, posed.model->body("base"), out.data());
  };
  std::vector<float> alone(at(scan.count())), shuffled = alone, threads = alone;
  run(physics::TeamOfOne(), alone);
  run(ShuffledTeam(5), shuffled);
  ThreadTeam::run(3, [&](const ThreadTeam& team) { run(team, threads); });
  EXPECT_EQ(alone, shuffled);
  EXPECT_EQ(alone, threads);
  for (const float h : alone) EXPECT_TRUE(std::isfinite(h));
}

// Above, beside and below: of a group that is left out there is no ground.
TEST(HeightScan, SeesNothingWhereNothingIs) {
  const Posed<double> posed(8);
  const auto& env = posed.env;
  std::vector<float> out(1);
  HeightScan scan{.nx = 1, .ny = 1, .x = 50, .geomgroup = 1};
  physics::height_scan(physics::TeamOfOne(), env.m(), env.e, scan, 0, out.data());
  EXPECT_EQ(out[0], -std::numeric_limits<float>::infinity());
  scan.geomgroup = 2;  // the plane, 3 m wide
  physics::height_scan(physics::TeamOfOne(), env.m(), env.e, scan, 0, out.data());
  EXPECT_FLOAT_EQ(out[0], -0.5f);
}

}  // namespace
}  // namespace stiction::test

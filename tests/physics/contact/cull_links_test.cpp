// Boxes around links leave out no pair that comes near, and most of those that do not.
#include <gtest/gtest.h>

#include "physics/collision/collide_models.h"

namespace stiction::test {
namespace {

// Free bodies of several geoms each, geoms of the world, and a floor.
ModelPtr heap() {
  std::string text = R"(<mujoco><option timestep="0.005"/><worldbody>
    <geom type="plane" size="1 1 1"/><geom type="box" size=".1 .1 .1" pos=".3 0 .1"/>
    <geom type="sphere" size=".1" pos="-.3 .2 .3"/><geom type="capsule" size=".05 .2" pos="0 -.4 .3"/>)";
  for (int i = 0; i < 8; ++i)
    text += R"(<body><freejoint/><geom type="box" size=".04 .02 .03" friction=")" +
            std::to_string(0.2 * i) + R"(" margin=")" + std::to_string(0.002 * i) + R"("/>
      <geom type="capsule" size=".02 .05" pos=".05 0 .02"/><geom type="sphere" size=".03" pos="-.06 .02 0"/>
      <geom type="cylinder" size=".02 .04" pos="0 .05 0"/></body>)";
  return load_model_from_string(text + "</worldbody></mujoco>");
}

template <class S>
void check(ContactModel law) {
  const ModelPtr m = heap();
  Options o;
  o.contact_model = law;
  Rng rng(7);
  int near = 0, skipped = 0, linkpairs = 0;
  for (int round = 0; round < 40; ++round) {
    Env<S> env(*m, o), all(*m, o);
    // every pair is compared: the largest margin is not known where environments have their own
    all.host.make_own(Field::pair_margin);
    for (int lane = 0; lane < env.lanes(); ++lane) {
      CollideState s = random_state(*m, rng);
      for (int b = 0; b < 8; ++b)
        for (int k = 0; k < 3; ++k)
          s.qpos[static_cast<std::size_t>(7 * b + k)] = uniform(rng, -0.5, 0.5);
      put_state(env, lane, s), put_state(all, lane, s);
    }
    run_collide(physics::TeamOfOne(), env), run_collide(physics::TeamOfOne(), all);
    ASSERT_EQ(env.e.npoint[0], all.e.npoint[0]);
    ASSERT_EQ(env.e.ncand[0], all.e.ncand[0]);
    for (int i = 0; i < env.e.ncand[0]; ++i) ASSERT_EQ(env.e.cand_slot[i], all.e.cand_slot[i]);
    near += env.e.ncand[0];
    const S reach = physics::reach_of_gravity(env.m(), env.e);
    for (int k = 0; k < env.m().nlinkpair; ++k)
      ++linkpairs, skipped += physics::links_meet(env.m(), env.e, k, reach) ? 0 : 1;
  }
  EXPECT_GT(near, 1000);
  EXPECT_GT(skipped, linkpairs / 20);
}

TEST(CullLinks, LeaveOutNothingThatComesNear) {
  check<double>(ContactModel::lagged);
  check<double>(ContactModel::similar);
  check<double>(ContactModel::sap);
  check<TestPack>(ContactModel::lagged);
}

// Every pair belongs to one linkpair, in order, and its geoms to the two links of that.
TEST(CullLinks, LinkPairsHaveAllPairs) {
  const ModelPtr m = heap();
  const Env<double> env(*m);
  const auto& w = env.m();
  ASSERT_EQ(w.linkpair_adr[0], 0);
  ASSERT_EQ(w.linkpair_adr[w.nlinkpair], m->npair);
  EXPECT_EQ(w.nlink, 8 + 3);
  const auto has = [&](int link, int g) {
    for (int i = w.link_geomadr[link]; i < w.link_geomadr[link + 1]; ++i)
      if (w.link_geom[i] == g) return true;
    return false;
  };
  for (int k = 0; k < w.nlinkpair; ++k)
    for (int pair = w.linkpair_adr[k]; pair < w.linkpair_adr[k + 1]; ++pair) {
      const int g1 = w.pair_geom1[pair], g2 = w.pair_geom2[pair];
      const int link1 = w.linkpair_link[2 * k], link2 = w.linkpair_link[2 * k + 1];
      if (physics::is_bounded_by_plane(w, g1)) {
        EXPECT_EQ(w.linkpair_margin[k], std::numeric_limits<double>::infinity());
        continue;
      }
      EXPECT_TRUE((has(link1, g1) && has(link2, g2)) || (has(link1, g2) && has(link2, g1)));
      EXPECT_GE(w.linkpair_margin[k], m->pair_margin[static_cast<std::size_t>(pair)]);
    }
}

}  // namespace
}  // namespace stiction::test

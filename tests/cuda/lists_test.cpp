// The lists of all lanes are those of one, and so is the curvature over them.
#include "cuda/lists.h"

#include <gtest/gtest.h>

#include <random>

#include "cuda/curvature.h"
#include "cuda/emulated_lanes.h"
#include "physics/env.h"
#include "physics/solve_models.h"

namespace stiction::test {
namespace {

using physics::TeamOfOne;

// Random near pairs and points of them, among them some that don't live.
class Lists {
 public:
  Lists(const Model& m, std::uint32_t seed) : env(m) {
    const physics::ModelView& view = env.m();
    physics::EnvView<float>& e = env.e;
    std::mt19937 random(seed);
    const int every = 1 + static_cast<int>(seed % 5);
    for (int pair = 0; pair < view.npair; ++pair)
      if (static_cast<int>(random()) % every == 0) e.near_pair[nnear++] = pair;
    int n = 0;
    for (int i = 0; i < nnear; ++i)
      for (int k = 0; k < view.pair_slotnum[e.near_pair[i]] && n < 90; ++k) {
        if (random() % 3 == 0) continue;
        e.point_slot[n] = view.pair_slotadr[e.near_pair[i]] + k;
        e.cand_active[e.point_slot[n]] = random() % 4 == 0 ? 0.0f : 1.0f;
        e.point_pair[n] = e.near_pair[i];
        weld_point(view, e, n++);
      }
    e.npoint[0] = n;
  }
  template <class Team>
  static void fill(const Team& team, const physics::ModelView& m, physics::EnvView<float>& e,
                   int nnear) {
    list_candidates(team, m, e, nnear);
    body_lists(team, m, e);
    count_contacts(team, e);
    live_points(team, m, e, true, true);
    live_points(team, m, e, true, false);
  }

  Env<float> env;
  int nnear = 0;
};

TEST(Lists, OfAllLanesAreThoseOfOne) {
  LanesShared warp(1), block(2);
  int points = 0;
  for (const TestModel& model : solve_models())
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      Lists one(*model.model, seed), lanes(*model.model, seed), blocks(*model.model, seed);
      Lists::fill(TeamOfOne(), one.env.m(), one.env.e, one.nnear);
      on_lanes<EmulatedWarp>(warp, [&](const auto& team) {
        Lists::fill(team, lanes.env.m(), lanes.env.e, lanes.nnear);
      });
      on_lanes<EmulatedBlock>(block, [&](const auto& team) {
        Lists::fill(team, blocks.env.m(), blocks.env.e, blocks.nnear);
      });
      points += one.env.e.nlive[0];
      for (const physics::Field f :
           {Field::cand_slot, Field::ncand, Field::body_pointadr, Field::body_point, Field::ncon,
            Field::live_point, Field::nlive, Field::live_cross, Field::nlivecross,
            Field::body_firstpoint, Field::point_next, Field::body_firstchild,
            Field::body_composite, Field::live_adr, Field::body_sibling, Field::live_body}) {
        const std::vector<double> expected = one.env.get(f);
        EXPECT_EQ(lanes.env.get(f), expected) << model.name << " " << one.env.spec(f).name;
        EXPECT_EQ(blocks.env.get(f), expected) << model.name << " " << one.env.spec(f).name;
      }
    }
  EXPECT_GT(points, 200);
}

// One lane adds the same numbers in the same order.
TEST(Curvature, OfAllLanesIsThatOfOne) {
  LanesShared warp(1);
  double sum = 0;
  for (const TestModel& model : solve_models())
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      Lists one(*model.model, seed), lanes(*model.model, seed);
      for (Lists* l : {&one, &lanes}) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (const Field f :
             {Field::point_hess, Field::point_r1, Field::point_r2, Field::cdof, Field::H})
          for (int i = 0; i < l->env.spec(f).size(); ++i) l->env.put(f, i, 0, uniform(random));
        model_structure(TeamOfOne(), l->env.m(), l->env.e);
      }
      const auto text = [](const auto& team, Lists& l) {
        Lists::fill(team, l.env.m(), l.env.e, l.nnear);
        composite_curvature(team, l.env.m(), l.env.e);
      };
      text(TeamOfOne(), one);
      on_lanes<EmulatedWarp>(warp, [&](const auto& team) { text(team, lanes); });
      const std::vector<double> expected = one.env.get(Field::H), H = lanes.env.get(Field::H);
      for (std::size_t i = 0; i < H.size(); ++i) {
        EXPECT_NEAR(H[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << model.name;
        sum += std::abs(H[i]);
      }
    }
  EXPECT_GT(sum, 1e4);
}

}  // namespace
}  // namespace stiction::test

// The lists of all lanes are those of one, and so are the products with J over them.
#include "cuda/lists.h"

#include <gtest/gtest.h>

#include <random>

#include "cuda/emulated_lanes.h"
#include "cuda/jacobian.h"
#include "physics/env.h"
#include "physics/solver/solve_models.h"

namespace stiction::test {
namespace {

using physics::TeamOfOne;

// Random near pairs and points of them, among them some that don't live.
class Lists {
 public:
  Lists(const Model& m, std::uint32_t seed) : env(m, {}, true) {
    const physics::ModelView& view = env.m();
    physics::EnvView<float>& e = env.e;
    std::mt19937 random(seed);
    const int every = 1 + static_cast<int>(seed % 5);
    for (int pair = 0; pair < view.npair; ++pair)
      if (static_cast<int>(random()) % every == 0) {
        e.pair_near[pair] = random() % 4 == 0 ? 0.0f : 1.0f;  // beyond the reach of a search
        e.near_pair[nnear++] = pair;
      }
    int n = 0;
    for (int i = 0; i < nnear; ++i)
      for (int k = 0; k < view.pair_slotnum[e.near_pair[i]] && n < 90; ++k) {
        if (random() % 3 == 0) continue;
        const int slot = view.pair_slotadr[e.near_pair[i]] + k;
        e.cand_active[slot] = random() % 4 == 0 ? 0.0f : 1.0f;
        place_point(view, e, n++, slot);
      }
    e.npoint[0] = n;
  }
  template <class Team>
  static void fill(const Team& team, const physics::ModelView& m, physics::EnvView<float>& e,
                   int nnear) {
    list_candidates(team, m, e, nnear);
    body_lists(team, m, e);
    count_contacts(team, e);
    live_points(team, m, e, true, physics::LivePoints::all);
    live_points(team, m, e, true, physics::LivePoints::of_fewer_lanes);
  }

  Env<float> env;
  int nnear = 0;
};

TEST(Lists, OfAllLanesAreThoseOfOne) {
  LanesShared tile(1, 8), block(2);
  int points = 0;
  for (const TestModel& model : solve_models())
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      Lists one(*model.model, seed), lanes(*model.model, seed), blocks(*model.model, seed);
      Lists::fill(TeamOfOne(), one.env.m(), one.env.e, one.nnear);
      on_lanes<EmulatedTile>(tile, [&](const auto& team) {
        Lists::fill(team, lanes.env.m(), lanes.env.e, lanes.nnear);
      });
      on_lanes<EmulatedBlock>(block, [&](const auto& team) {
        Lists::fill(team, blocks.env.m(), blocks.env.e, blocks.nnear);
      });
      points += one.env.e.nlive[0];
      for (const physics::Field f :
           {Field::cand_slot, Field::ncand, Field::body_pointadr, Field::body_point, Field::ncon,
            Field::live_point, Field::nlive, Field::live_cross, Field::nlivecross}) {
        const std::vector<double> expected = one.env.get(f);
        EXPECT_EQ(lanes.env.get(f), expected) << model.name << " " << one.env.spec(f).name;
        EXPECT_EQ(blocks.env.get(f), expected) << model.name << " " << one.env.spec(f).name;
      }
    }
  EXPECT_GT(points, 200);
}

// Random numbers for J; points that don't live have no impulse and no curvature.
void fill_numbers(Lists& l, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Field f :
       {Field::point_hess, Field::point_impulse, Field::point_r1, Field::point_r2, Field::cdof,
        Field::H, Field::qvel, Field::point_couple, Field::point_couple_hess})
    for (int i = 0; i < l.env.spec(f).size(); ++i) l.env.put(f, i, 0, uniform(random));
  const physics::EnvView<float>& e = l.env.e;
  for (int p = 0; p < e.npoint[0]; ++p) {
    if (e.cand_active[e.point_slot[p]] > 0) continue;
    store3(e.point_impulse, p, physics::zero3<float>());
    store_sym3(e.point_hess, p, physics::Sym3<float>{});
    if (l.env.m().ncouple == 0) continue;
    store3(e.point_couple, p, physics::zero3<float>());
    store_sym3(e.point_couple_hess, p, physics::Sym3<float>{});
  }
  model_structure(TeamOfOne(), l.env.m(), l.env.e);
  // the axes of a free joint's translations
  for (int i = 0; i < l.env.m().nv; ++i) {
    const int last = l.env.m().body_translation[l.env.m().dof_bodyid[i]], k = i - (last - 2);
    if (i > last) continue;
    for (int c = 0; c < 6; ++c) e.cdof[6 * i + c] = c == 3 + k ? 1.0f : 0.0f;
  }
}

TEST(Jacobian, OfAllLanesIsThatOfOne) {
  LanesShared tile(1, 8), block(2);
  double sum = 0;
  int cross = 0;
  for (const TestModel& model : solve_models())
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      Lists one(*model.model, seed), lanes(*model.model, seed), blocks(*model.model, seed);
      for (Lists* l : {&one, &lanes, &blocks}) fill_numbers(*l, seed);
      const auto text = [](const auto& team, Lists& l) {
        const physics::ModelView& m = l.env.m();
        physics::EnvView<float>& e = l.env.e;
        Lists::fill(team, m, e, l.nnear);
        point_velocities(team, m, e, e.qvel, e.point_vel, e.point_omega);
        contact_impulses(team, m, e, e.gradient);
        composite_curvature(team, m, e);
      };
      text(TeamOfOne(), one);
      on_lanes<EmulatedTile>(tile, [&](const auto& team) { text(team, lanes); });
      on_lanes<EmulatedBlock>(block, [&](const auto& team) { text(team, blocks); });
      cross += one.env.e.nlivecross[0];
      const auto compare = [&](Field f, int i, const Lists& other) {
        const double expected = one.env.number(f, i, 0), x = other.env.number(f, i, 0);
        EXPECT_NEAR(x, expected, 2e-5 * (1 + std::abs(expected))) << model.name;
        sum += std::abs(x);
      };
      for (const Lists* l : {&lanes, &blocks}) {
        for (int i = 0; i < l->env.m().ntri; ++i) compare(Field::H, i, *l);
        for (int i = 0; i < l->env.m().nv; ++i) compare(Field::gradient, i, *l);
        for (int k = 0; k < one.env.e.nlive[0]; ++k)
          for (int c = 0; c < 3; ++c) {
            compare(Field::point_vel, 3 * one.env.e.live_point[k] + c, *l);
            if (l->env.m().ncouple > 0)
              compare(Field::point_omega, 3 * one.env.e.live_point[k] + c, *l);
          }
      }
    }
  EXPECT_GT(sum, 1e4);
  EXPECT_GT(cross, 20);
}

}  // namespace
}  // namespace stiction::test

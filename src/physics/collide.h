// Contacts: from the candidate pairs of the model to the active points of this step and the
// constants of their laws.
//
//   cull             pairs near enough: bounding spheres, then separating axes (cull.h)
//   narrow_phase     witness points of the survivors, in Wide (narrow.h)
//   activate         which of them are in the problem, per lane (activation.h)
//   gather_points    one list of points, laws, lists by body (points.h)
//   adhesion         actuators that press contacts together (adhesion.h)
//
// reads   poses, cdof, cvel0, v_free, inv_diag, anchor, act_law; geom_ and pair_ parameters
// writes  cvel_free, geom_xpos, geom_off, geom_bar, geom_bound, near_pair, cand_*, point_*, body_point, ncon;
//         act_pull, cfrc_adhesion; adds to qfrc_smooth and qfrc_actuator
#pragma once

#include "physics/adhesion.h"
#include "physics/cull.h"
#include "physics/points.h"
#include "physics/status.h"

STICTION_PHYSICS_BEGIN

// Slots of the pairs that survive the cull, and the search where there is one.
template <SerialTeam Team, class S>
STICTION_FN void list_candidates(const Team& team, const ModelView& m, EnvView<S>& e, int nnear) {
  team.once([&] {
    int count = 0;
    for (int i = 0; i < nnear; ++i) {
      const int pair = e.near_pair[i];
      if (!any_near(e, pair)) continue;
      for (int k = 0; k < m.pair_slotnum[pair]; ++k)
        e.cand_slot[count++] = m.pair_slotadr[pair] + k;
    }
    e.ncand[0] = count;
  });
}

template <Colliders has, class Team, class S>
STICTION_FN void collide_with(const Team& team, const ModelView& m, EnvView<S>& e) {
  body_velocities(team, m, e, e.v_free, e.cvel_free);
  const int nnear = cull(team, m, e);
  team.for_each(nnear, [&](int i) {
    const int pair = e.near_pair[i];
    S reach = S(std::numeric_limits<double>::infinity());
    if constexpr (has >= Colliders::boxes)
      if (is_searched(m, pair)) reach = search_reach(m, e, pair);
    narrow_phase<has>(m, e, pair, reach);
    if (any_near(e, pair)) activate(m, e, pair);
  });
  if constexpr (has >= Colliders::hfields) {
    const S most = team.template max<S>(nnear, [&](int i) { return e.pair_near[e.near_pair[i]]; });
    team.once([&] { raise_flag(e, Status::contact_overflow, most >= S(kOverflows)); });
  }
  list_candidates(team, m, e, nnear);
  gather_points(team, m, e);
  if constexpr (has >= Colliders::hfields) adhesion(team, m, e);
}

template <class Team, class S>
STICTION_FN void collide(const Team& team, const ModelView& m, EnvView<S>& e) {
  collide_with<Colliders::hfields>(team, m, e);
}

STICTION_PHYSICS_END

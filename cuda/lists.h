// Lists of contact points built by all threads of a group, with the same contents as the serial loops of
// src/physics: overloads for a GroupTeam, which the stages call instead.
#pragma once

#include "cuda/group_team.h"
#include "physics/contact/collide.h"
#include "physics/solver/hessian.h"

STICTION_PHYSICS_BEGIN

// Pairs whose bounding spheres meet are listed before the finer tests, so that all threads take part in those.
template <class Group, class S>
STICTION_FN int cull(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  geom_bounds(team, m, e);
  const S reach = reach_of_gravity(m, e);
  const auto by_plane = [&](int pair) { return is_bounded_by_plane(m, m.pair_geom1[pair]); };
  int *const met = e.cand_slot, *const list = e.near_pair;
  S* const pair_near = e.pair_near;
  const auto put = [&](int pair, bool near) {
    pair_near[pair] = near ? S(1.0) : S(0.0);
    return near;
  };
  const int nmet = team.compact(m.npair, met, [&](int pair) {
    if (by_plane(pair)) return put(pair, plane_meets(m, e, pair, reach) || is_everywhere(m, pair));
    return put(pair, spheres_meet(sphere_gap(m, e, pair, reach)));
  });
  const int count = team.compact(nmet, list, [&](int k) {
    const int pair = met[k];
    if (by_plane(pair)) return true;
    return put(pair, hulls_meet(m, e, pair, sphere_gap(m, e, pair, reach), true, reach));
  });
  team.for_each(count, [&](int k) { list[k] = met[list[k]]; });
  return count;
}

template <class Group, class S>
STICTION_FN void list_candidates(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                                 int nnear) {
  const int count = team.allot(
      nnear,
      [&](int i) {
        const int pair = e.near_pair[i];
        return any_near(e, pair) ? m.pair_slotnum[pair] : 0;
      },
      [&](int i, int begin) {
        const int pair = e.near_pair[i];
        if (!any_near(e, pair)) return;
        for (int k = 0; k < m.pair_slotnum[pair]; ++k)
          e.cand_slot[begin + k] = m.pair_slotadr[pair] + k;
      });
  team.once([&] { e.ncand[0] = count; });
}

// Each body searches for its points.
template <class Group, class S>
STICTION_FN void body_lists(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const int npoint = e.npoint[0];
  const int* const bodies = e.point_body;
  int *const adr = e.body_pointadr, *const list = e.body_point;
  const auto each_point = [&](int body, const auto& f) {
    for (int p = 0; p < npoint; ++p) {
      const int body1 = bodies[2 * p], body2 = bodies[2 * p + 1];
      if (body2 == body) f(p + 1);
      if (body1 == body) f(-(p + 1));
    }
  };
  const int total = team.allot(
      m.nbody,
      [&](int b) {
        int n = 0;
        each_point(b, [&](int) { ++n; });
        return n;
      },
      [&](int b, int begin) {
        adr[b] = begin;
        each_point(b, [&](int code) { list[begin++] = code; });
      });
  team.once([&] { adr[m.nbody] = total; });
}

STICTION_PHYSICS_END

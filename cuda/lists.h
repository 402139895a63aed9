// Lists of the contact points by all lanes, with the numbers of the serial chains of the text:
// overloads that the stages prefer.
#pragma once

#include "cuda/lane_team.h"
#include "physics/collide.h"
#include "physics/hessian.h"

STICTION_PHYSICS_BEGIN

template <class Group, class S>
STICTION_FN void list_candidates(const LaneTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                                 int nnear) {
  const int count = team.allot(
      nnear, [&](int i) { return m.pair_slotnum[e.near_pair[i]]; },
      [&](int i, int begin) {
        const int pair = e.near_pair[i];
        for (int k = 0; k < m.pair_slotnum[pair]; ++k)
          e.cand_slot[begin + k] = m.pair_slotadr[pair] + k;
      });
  team.once([&] { e.ncand[0] = count; });
}

// Each body looks for its points.
template <class Group, class S>
STICTION_FN void body_lists(const LaneTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const int npoint = e.npoint[0];
  const auto each_point = [&](int body, const auto& f) {
    for (int p = 0; p < npoint; ++p) {
      const PairBodies b = pair_bodies(m, e.point_pair[p]);
      if (b.body2 == body) f(p + 1);
      if (b.body1 == body) f(-(p + 1));
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
        e.body_pointadr[b] = begin;
        each_point(b, [&](int code) { e.body_point[begin++] = code; });
      });
  team.once([&] { e.body_pointadr[m.nbody] = total; });
}

// The tree of live bodies is built by one lane, the lists of points and bodies by all. A code is
// 2 point + side.
template <class Group, class S>
STICTION_FN void live_tree(const LaneTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const int n = e.nlive[0];
  const auto code = [&](int i) { return 2 * e.live_point[i / 2] + i % 2; };
  const auto body = [&](int i) { return e.point_body[code(i)]; };
  const int ncross = team.compact(n, e.live_cross, [&](int k) {
    const int p = e.live_point[k];
    return e.point_body[2 * p] > 0 && e.point_body[2 * p + 1] > 0;
  });
  team.for_each(ncross, [&](int k) { e.live_cross[k] = e.live_point[e.live_cross[k]]; });
  team.for_each(2 * n, [&](int i) {
    const int b = body(i);
    int next = i + 1;
    while (next < 2 * n && body(next) != b) ++next;
    e.point_next[code(i)] = next < 2 * n ? code(next) : -1;
  });
  team.for_each(m.nbody, [&](int b) {
    e.body_firstpoint[b] = e.body_firstchild[b] = e.body_composite[b] = -1;
    for (int i = 2 * n - 1; i >= 0; --i) {
      if (body(i) != b) continue;
      e.body_firstpoint[b] = code(i);
      if (e.point_body[code(i) ^ 1] == 0) e.body_composite[b] = b;
    }
  });
  team.once([&] {
    e.nlivecross[0] = ncross;
    for (int i = m.nbody - 1; i > 0; --i) hang_body(m, e, m.level_body[i]);
  });
  const int first = m.level_adr[1], nlive = team.compact(m.nbody - first, e.live_body, [&](int i) {
    return is_live(e, m.level_body[first + i]);
  });
  team.for_each(m.nlevel, [&](int l) {
    int k = 0;
    while (k < nlive && first + e.live_body[k] < m.level_adr[l + 1]) ++k;
    e.live_adr[l + 1] = k;
  });
  team.for_each(nlive, [&](int k) { e.live_body[k] = m.level_body[first + e.live_body[k]]; });
}

STICTION_PHYSICS_END

// Contacts: from the candidate pairs of the model to the active points of this step and the
// constants of their laws.
//
//   cull             pairs near enough: boxes around links (cull_links.h), bounding spheres, then separating axes (cull.h)
//   narrow_phase     witness points of the survivors, in Wide (narrow.h)
//   activate         which of them are in the problem, per lane (activation.h)
//   gather_points    one list of points, laws, lists by body (points.h)
//   adhesion         actuators that press contacts together (adhesion.h)
//
// reads   poses, cdof, cvel0, v_free, inv_diag, anchor, act_law; geom_ and pair_ parameters
// writes  cvel_free, geom_xpos, geom_off, geom_bar, geom_bound, link_*, near_pair, cand_*, point_*, body_point, ncon;
//         act_pull, cfrc_adhesion; adds to qfrc_smooth and qfrc_actuator
#pragma once

#include "physics/base/status.h"
#include "physics/contact/adhesion.h"
#include "physics/contact/closing.h"
#include "physics/contact/cull_links.h"
#include "physics/contact/gather_boxes.h"
#include "physics/contact/points.h"

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

template <Colliders has, class S>
STICTION_FN S searched_reach(const ModelView& m, const EnvView<S>& e, int pair) {
  if constexpr (has >= Colliders::boxes)
    if (is_searched(m, pair)) return search_reach(m, e, pair);
  return S(std::numeric_limits<double>::infinity());
}

// The narrow phase with what the velocities tell of the pair.
template <Colliders has, class S>
STICTION_FN void narrow_near(const ModelView& m, EnvView<S>& e, int pair, S reach) {
  if constexpr (has >= Colliders::convex) {
    ClosingMotion<Wide<S>> closing;
    const bool known = knows_closing(m, pair);
    if (known) closing = pair_closing(m, e, pair);
    narrow_phase<has>(m, e, pair, reach, known ? &closing : nullptr);
  } else {
    narrow_phase<has>(m, e, pair, reach);
  }
}

template <Colliders has, class Team, class S>
STICTION_FN void narrow_pairs(const Team& team, const ModelView& m, EnvView<S>& e, int nnear) {
  team.for_each(nnear, [&](int i) {
    const int pair = e.near_pair[i];
    narrow_near<has>(m, e, pair, searched_reach<has>(m, e, pair));
    if (any_near(e, pair)) activate(m, e, pair);
  });
}

// Of packs.
template <Colliders has, SerialTeam Team, class S>
requires(kLanes<S> > 1 && has >= Colliders::boxes) STICTION_FN
    void narrow_pairs(const Team& team, const ModelView& m, EnvView<S>& e, int nnear) {
  GatheredBoxes<S> boxes;
  team.once([&] {
    for (int i = 0; i < nnear; ++i) {
      const int pair = e.near_pair[i];
      const S reach = searched_reach<has>(m, e, pair);
      const Mask<S> near = e.pair_near[pair] > S(0.5);
      if (!is_of_boxes(m, pair) || count_lanes(near) > kFewLanes<S>) {
        narrow_near<has>(m, e, pair, reach);
        continue;
      }
      PlacedPair<S> placed;
      place_pair(m, e, pair, placed);
      clear_candidates(m, e, pair);
      per_lane<S>([&](int lane) {
        if (!get_lane(near, lane)) return;
        boxes.add(e, placed, widen(reach), pair, lane);
        if (boxes.count == kLanes<S>) boxes.collide(m, e);
      });
    }
    boxes.collide(m, e);
    for (int i = 0; i < nnear; ++i)
      if (any_near(e, e.near_pair[i])) activate(m, e, e.near_pair[i]);
  });
}

template <Colliders has, class Team, class S>
STICTION_FN void collide_with(const Team& team, const ModelView& m, EnvView<S>& e) {
  body_velocities(team, m, e, e.mocap_twist, e.v_free, e.cvel_free);
  const int nnear = cull(team, m, e);
  narrow_pairs<has>(team, m, e, nnear);
  if constexpr (has >= Colliders::hfields) {
    const auto any = [&](double bit) {
      return team.template max<S>(nnear, [&](int i) {
        const S near = e.pair_near[e.near_pair[i]], both = S(1 + kOverflows + kIsCut);
        return select(near == S(1 + bit) || near == both, S(1.0), S(0.0));
      });
    };
    const S overflows = any(kOverflows), cut = any(kIsCut);
    team.once([&] {
      raise_flag(e, Status::contact_overflow, overflows > S(0.5));
      raise_flag(e, Status::late_contact, cut > S(0.5));
    });
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

// Gathers the lanes of box pairs that are near in few lanes of a pack into packs of their own, across pairs, and
// scatters the results. Gathering does not change the numbers of a lane; the colliders are compiled once.
//
// reads, writes  as narrow_phase
#pragma once

#include "physics/contact/narrow.h"

STICTION_PHYSICS_BEGIN

// Break-even: gathering and scattering this many lanes takes as long as one call of the box collider.
template <class S>
inline constexpr int kFewLanes = 2 * kLanes<S> / 5;

STICTION_FN bool is_of_boxes(const ModelView& m, int pair) {
  const int box = static_cast<int>(GeomType::box);
  return m.geom_type[m.pair_geom1[pair]] == box && m.geom_type[m.pair_geom2[pair]] == box;
}

template <class S>
struct GatheredBoxes {
  int count = 0;
  int pair[kLanes<S>], lane[kLanes<S>];
  PlacedPair<S> placed{};
  Wide<S> weight{}, margin{}, reach{};

  STICTION_FN void add(const EnvView<S>& e, const PlacedPair<S>& p, const Wide<S>& reaches,
                       int of_pair, int of_lane) {
    const int i = count++;
    pair[i] = of_pair, lane[i] = of_lane;
    const auto take = [&](auto& to, const auto& from) { set_lane(to, i, get_lane(from, of_lane)); };
    const auto take_shape = [&](Shape<Wide<S>>& to, const Shape<Wide<S>>& from) {
      take(to.size, from.size), take(to.pos, from.pos);
      take(to.rot.x, from.rot.x), take(to.rot.y, from.rot.y), take(to.rot.z, from.rot.z);
    };
    take_shape(placed.shape1, p.shape1), take_shape(placed.shape2, p.shape2);
    take(placed.origin1, p.origin1), take(placed.origin2, p.origin2);
    take(weight, e.pair_weight[of_pair]), take(margin, e.pair_margin[of_pair]);
    take(reach, reaches);
  }

  // Collides the gathered pairs and scatters their points to the lanes that they came from.
  STICTION_FN void collide(const ModelView& m, EnvView<S>& e) {
    if (count == 0) return;
    S used(0.0);
    for (int i = 0; i < count; ++i) set_lane(used, i, Lane<S>(1));
    SearchLimit<Wide<S>> limit{reach, Wide<S>(0.0)};
    collide_boxes<Wide<S>>(placed.shape1, placed.shape2, widen_mask<S>(used > S(0.5)), limit,
                           [&](int k, const Witness<Wide<S>>& w) {
                             const Candidate<S> c = candidate(placed, weight, margin, w);
                             for (int i = 0; i < count; ++i)
                               put(e, m.pair_slotadr[pair[i]] + k, i, c);
                           });
    for (int i = 0; i < count; ++i)
      if (get_lane(limit.beyond, i) > 0.5) set_lane(e.pair_near[pair[i]], lane[i], Lane<S>(0));
    count = 0;
  }

 private:
  STICTION_FN void put(EnvView<S>& e, int slot, int i, const Candidate<S>& c) {
    const auto to = [&](S& field, const S& from) { set_lane(field, lane[i], get_lane(from, i)); };
    const auto to3 = [&](S* field, const Vec3<S>& from) {
      to(field[3 * slot], from.x), to(field[3 * slot + 1], from.y), to(field[3 * slot + 2], from.z);
    };
    to(e.cand_gap[slot], c.gap);
    to3(e.cand_normal, c.normal), to3(e.cand_r1, c.r1), to3(e.cand_r2, c.r2);
  }
};

// Candidates of lanes that are not near: a gap of the size of the boxes.
template <class S>
STICTION_FN void clear_candidates(const ModelView& m, EnvView<S>& e, int pair) {
  const S gap = e.geom_bound[4 * m.pair_geom1[pair]] + e.geom_bound[4 * m.pair_geom2[pair]];
  const Candidate<S> none{gap, {S(1.0), S(0.0), S(0.0)}, zero3<S>(), zero3<S>()};
  for (int k = 0; k < m.pair_slotnum[pair]; ++k) store_candidate(e, m.pair_slotadr[pair] + k, none);
}

STICTION_PHYSICS_END

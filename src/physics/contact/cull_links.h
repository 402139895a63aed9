// Broad phase over links: pairs of geoms are tested one by one only where the bounding boxes of their links come near.
// The pairs found are the same as without it.
//
// reads   geom_off, geom_bound, geom_friction; what may_touch reads (cull.h)
// writes  link_box, link_pace, near_pair, pair_near of the pairs listed there; ncand, their number
//
// The boxes are axis-aligned in the world. If two links are a distance d apart, no two of their geoms are nearer, so
// none of their pairs can act if d exceeds reach_of (cull.h) of the largest margin, friction, speed and turning.
#pragma once

#include "physics/contact/cull.h"

STICTION_PHYSICS_BEGIN

// Writes link_box and link_pace, which bound all geoms of the link.
template <class S>
STICTION_FN void bound_link(const ModelView& m, EnvView<S>& e, int link) {
  const S inf(std::numeric_limits<double>::infinity());
  Vec3<S> low{inf, inf, inf}, high = -low;
  S speed(0.0), turning(0.0), friction(0.0);
  for (int i = m.link_geomadr[link]; i < m.link_geomadr[link + 1]; ++i) {
    const int g = m.link_geom[i];
    const Vec3<S> off = load3(e.geom_off, g);
    const S* const bound = e.geom_bound + 4 * g;
    const Vec3<S> radius{bound[0], bound[0], bound[0]}, from = off - radius, to = off + radius;
    low = {vmin(low.x, from.x), vmin(low.y, from.y), vmin(low.z, from.z)};
    high = {vmax(high.x, to.x), vmax(high.y, to.y), vmax(high.z, to.z)};
    speed = vmax(speed, bound[1]), turning = vmax(turning, bound[2]);
    friction = vmax(friction, e.geom_friction[g]);
  }
  store3(e.link_box, 2 * link, low), store3(e.link_box, 2 * link + 1, high);
  e.link_pace[3 * link] = speed, e.link_pace[3 * link + 1] = turning;
  e.link_pace[3 * link + 2] = friction;
}

// Returns whether any pair of the two links may act in any lane.
template <class S>
STICTION_FN bool links_meet(const ModelView& m, const EnvView<S>& e, int linkpair,
                            S gravity_reach) {
  const double margin = m.linkpair_margin[linkpair];
  if (!(margin < std::numeric_limits<double>::infinity())) return true;
  const int link1 = m.linkpair_link[2 * linkpair], link2 = m.linkpair_link[2 * linkpair + 1];
  const S *pace1 = e.link_pace + 3 * link1, *pace2 = e.link_pace + 3 * link2;
  const S reach = reach_of(m, S(margin), vmax(pace1[2], pace2[2]), S(m.linkpair_horizon[linkpair]),
                           pace1[0] + pace2[0], vmax(pace1[1], pace2[1]), gravity_reach);
  const Vec3<S> low1 = load3(e.link_box, 2 * link1), high1 = load3(e.link_box, 2 * link1 + 1);
  const Vec3<S> low2 = load3(e.link_box, 2 * link2), high2 = load3(e.link_box, 2 * link2 + 1);
  const auto apart = [](const S& l1, const S& h1, const S& l2, const S& h2) {
    return vmax(vmax(l2 - h1, l1 - h2), S(0.0));
  };
  const Vec3<S> gap{apart(low1.x, high1.x, low2.x, high2.x),
                    apart(low1.y, high1.y, low2.y, high2.y),
                    apart(low1.z, high1.z, low2.z, high2.z)};
  return any_lane(norm2(gap) <= S(1.0 + kSlack * epsilon<S>()) * (reach * reach));
}

// Writes near_pair and returns the number of pairs in it.
template <SerialTeam Team, class S>
STICTION_FN int cull(const Team& team, const ModelView& m, EnvView<S>& e) {
  geom_bounds(team, m, e);
  team.for_each(m.nlink, [&](int link) { bound_link(m, e, link); });
  const S reach = reach_of_gravity(m, e);
  team.once([&] {
    int count = 0;
    for (int k = 0; k < m.nlinkpair; ++k) {
      if (!links_meet(m, e, k, reach)) continue;
      for (int pair = m.linkpair_adr[k]; pair < m.linkpair_adr[k + 1]; ++pair) {
        const Mask<S> near = may_touch(m, e, pair, reach);
        e.pair_near[pair] = is_everywhere(m, pair) ? S(1.0) : select(near, S(1.0), S(0.0));
        if (any_near(e, pair)) e.near_pair[count++] = pair;
      }
    }
    e.ncand[0] = count;  // tells all threads of the team; list_candidates overwrites it
  });
  return e.ncand[0];
}

STICTION_PHYSICS_END

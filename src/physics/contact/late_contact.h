// Points that were left out of the problem but close their gap: the status bit late_contact.
//
// reads   cand_*, v
// writes  body_vel, flags
//
// late: a point of a pair that is near in the lane, not active, with φ0 > 0 and φ0 + h z(J v) < 0 at the solution.
#pragma once

#include "physics/base/status.h"
#include "physics/contact/activation.h"
#include "physics/tree/pair_bodies.h"

STICTION_PHYSICS_BEGIN

template <class Team, class S>
STICTION_FN void late_contacts(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.opt.penetrating_deepest) return;
  body_velocities(team, m, e, e.mocap_twist, e.v, e.body_vel);
  const S late = team.template max<S>(e.ncand[0], [&](int i) {
    const int slot = e.cand_slot[i], pair = m.slot_pair[slot];
    const Vec3<S> v = candidate_velocity(e, e.body_vel, pair_bodies(m, pair), slot);
    const S z = opening(m, load3(e.cand_normal, slot), v, sliding_friction(m, e, pair));
    const S gap = e.cand_gap[slot];
    const Mask<S> left_out = e.pair_near[pair] > S(0.5) && e.cand_active[slot] < S(0.5);
    const Mask<S> closes = left_out && gap > S(0.0) && gap + horizon(m, e, pair) * z < S(0.0);
    return select(closes, S(1.0), S(0.0));
  });
  team.once([&] { raise_flag(e, Status::late_contact, late > S(0.5)); });
}

STICTION_PHYSICS_END

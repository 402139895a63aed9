// Adhesion: actuators that press a body against what it touches.
//
// adhesion  in   points, cand_active, cdof, act_law; actuator_forcerange
//           out  act_pull, cfrc_adhesion; adds to qfrc_smooth and qfrc_actuator
//
//   f n/N on geom 1 and −f n/N on geom 2, with f the actuator's force, at each of the N points of the body whose
//   gap is not positive at the start of the step; nothing where N = 0
//
// This force is part of k, so the contact law reacts to it: the normal impulse and the friction bound grow by it.
#pragma once

#include "physics/actuation/actuation.h"

STICTION_PHYSICS_BEGIN

// Returns 1 where point p overlaps, in the lanes where the point is active, else 0.
template <class S>
STICTION_FN S overlaps(const EnvView<S>& e, int p) {
  const Mask<S> active = e.cand_active[e.point_slot[p]] > S(0.5);
  return select(active && e.point_gap[p] <= S(0.0), S(1.0), S(0.0));
}

// Visits the entries of body b in body_point: f(point, whether b is the second body of the point).
template <class S, class F>
STICTION_FN void each_point_of(const EnvView<S>& e, int b, const F& f) {
  for (int n = e.body_pointadr[b]; n < e.body_pointadr[b + 1]; ++n) {
    const int code = e.body_point[n];
    f((code > 0 ? code : -code) - 1, code > 0);
  }
}

template <class S>
STICTION_FN S pull_at_each_point(const ModelView& m, const EnvView<S>& e, int a) {
  S count = S(0.0);
  each_point_of(e, m.actuator_trnid[a], [&](int p, bool) { count = count + overlaps(e, p); });
  return select(count > S(0.0), own_force(m, e, a) / vmax(count, S(1.0)), S(0.0));
}

// Returns the wrench about O of the adhesion forces on body b.
template <class S>
STICTION_FN Spatial<S> adhesion_on(const ModelView& m, const EnvView<S>& e, int b) {
  Spatial<S> wrench = zero6<S>();
  each_point_of(e, b, [&](int p, bool second) {
    S pull = S(0.0);
    for (int a = 0; a < m.nu; ++a)
      if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::body &&
          (m.actuator_trnid[a] == e.point_body[2 * p] ||
           m.actuator_trnid[a] == e.point_body[2 * p + 1]))
        pull = pull + e.act_pull[a];
    const S along = overlaps(e, p) * (second ? -pull : pull);
    const Vec3<S> f = along * load3(e.point_normal, p);
    wrench = wrench + Spatial<S>{cross(load3(second ? e.point_r2 : e.point_r1, p), f), f};
  });
  return wrench;
}

template <class Team, class S>
STICTION_FN void adhesion(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.nadhesion == 0) return;
  team.for_each(m.nu, [&](int a) {
    if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::body)
      e.act_pull[a] = pull_at_each_point(m, e, a);
  });
  team.for_each(m.nbody, [&](int b) { store6(e.cfrc_adhesion, b, adhesion_on(m, e, b)); });
  gather_forces(team, m, e.cfrc_adhesion);
  team.for_each(m.nv, [&](int i) {
    const S f = dot(load6(e.cdof, i), load6(e.cfrc_adhesion, m.dof_bodyid[i]));
    e.qfrc_smooth[i] = e.qfrc_smooth[i] + f;
    e.qfrc_actuator[i] = e.qfrc_actuator[i] + f;
  });
}

STICTION_PHYSICS_END

// Activation: which candidate points are in the problem of a step, decided in each lane.
//
// reads   pair_near, cand_gap, cand_normal, cand_r1, cand_r2, cvel0, cvel_free, rebound
// writes  cand_active
//
// The law of a point gives an impulse where φ0 + h z(v_c) < 0, z = v_n - μ |v_t| (lagged: v_n), with
// the horizon h = δt (sap: δt + τ). It may do so in this step if
//   φ0 <= 2 h max(0, -z(J v0), -z(J v_free)) + 8 |g| δt²
#pragma once

#include "physics/contact/narrow.h"
#include "physics/law/friction.h"
#include "physics/tree/pair_bodies.h"
#include "physics/tree/velocity.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN S horizon(const ModelView& m, const EnvView<S>& e, int pair) {
  if (m.opt.contact_model != kSap) return S(m.opt.timestep);
  return S(m.opt.timestep) + e.pair_relaxation_time[pair];
}

// Returns 8 |g| δt².
template <class S>
STICTION_FN S gravity_drop(const ModelView& m, const EnvView<S>& e) {
  return S(8 * m.opt.timestep * m.opt.timestep) * norm(load3(e.gravity, 0));
}

// Returns J V: the velocity of body 2 relative to body 1 at the candidate, from the spatial velocities of the bodies.
template <class S>
STICTION_FN Vec3<S> candidate_velocity(const EnvView<S>& e, const S* cvel, const PairBodies& b,
                                       int slot) {
  return velocity_at(load6(cvel, b.body2), load3(e.cand_r2, slot)) -
         velocity_at(load6(cvel, b.body1), load3(e.cand_r1, slot));
}

// Returns z(v_c).
template <class S>
STICTION_FN S opening(const ModelView& m, const Vec3<S>& n, const Vec3<S>& v, S mu) {
  const S v_n = dot(n, v);
  if (m.opt.contact_model == kLagged) return v_n;
  return v_n - mu * norm(v - v_n * n);
}

template <class S>
STICTION_FN void activate_speculative(const ModelView& m, EnvView<S>& e, int pair) {
  const PairBodies b = pair_bodies(m, pair);
  const S mu = sliding_friction(m, e, pair), h2 = S(2.0) * horizon(m, e, pair);
  const S drop = gravity_drop(m, e);
  const Mask<S> near = e.pair_near[pair] > S(0.5);
  const int first = m.pair_slotadr[pair];
  for (int slot = first; slot < first + m.pair_slotnum[pair]; ++slot) {
    const Vec3<S> n = load3(e.cand_normal, slot);
    const S start = opening(m, n, candidate_velocity(e, e.cvel0, b, slot), mu);
    const S free = opening(m, n, candidate_velocity(e, e.cvel_free, b, slot), mu);
    S closing = vmax(vmax(-start, -free), S(0.0));
    // a pair that met in the previous step separates in this one, however exactly its gap is closed
    if (m.nrebound > 0) closing = vmax(closing, e.rebound[slot]);
    const Mask<S> acts = near && e.cand_gap[slot] <= h2 * closing + drop;
    e.cand_active[slot] = select(acts, S(1.0), S(0.0));
  }
}

// Activates the deepest overlapping point of the pair, the first one if several are equally deep.
template <class S>
STICTION_FN void activate_deepest(const ModelView& m, EnvView<S>& e, int pair) {
  const int first = m.pair_slotadr[pair], end = first + m.pair_slotnum[pair];
  S least = S(0.0);
  for (int slot = first; slot < end; ++slot) least = vmin(e.cand_gap[slot], least);
  S free = vmin(e.pair_near[pair], S(1.0));
  for (int slot = first; slot < end; ++slot) {
    const S gap = e.cand_gap[slot];
    const S takes = select(gap <= least, free, S(0.0));
    e.cand_active[slot] = takes;
    free = free - takes;
  }
}

template <class S>
STICTION_FN void activate(const ModelView& m, EnvView<S>& e, int pair) {
  if (m.opt.penetrating_deepest)
    activate_deepest(m, e, pair);
  else
    activate_speculative(m, e, pair);
}

STICTION_PHYSICS_END

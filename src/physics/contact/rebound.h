// Restitution: a pair that met at the speed v_a separates at e v_a. Equations: docs/method.md, "Restitution".
//
// rebound_law      reads   rebound, pair_restitution, gravity    writes  point_approach
// advance_rebounds reads   point_approach; point_vel, point_impulse at the solution    writes  rebound
//
// `rebound` of a slot: 0 while no impulse acts; v_a from the step in which an impulse begins, if the pair met faster
// than gravity alone explains; -1 after the bounce, and while the contact rests.
#pragma once

#include "physics/contact/activation.h"
#include "physics/contact/anchors.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kLeastImpact = 4;        // times |g| δt: slower impacts do not bounce
inline constexpr double kSoftBounce = 1.0 / 64;  // δt² k w: below it, bounces last 25 steps or more
inline constexpr double kRigidBounce =
    0x1p10;  // least δt² k w of all other bounces in the two steps that stop and separate the pair
inline constexpr double kPressed = -1;

// Constants of the Hunt–Crossley law of a point: δt (−k φ0 − δt k (v − s))₊ (1 − d (v − s))₊.
template <class S>
struct NormalConstants {
  S gap, k, d, shift;
  Mask<S> rigid;  // the pair is stopped or separates in this step: SAP's law is as stiff as k, too
};

// Returns y = d v_a with which a Hunt–Crossley spring hit at v_a separates at e v_a: the root of
//   y (1 + e) = ln((1 + y)/(1 − e y))
// to 1.5 %, which moves e by less than 0.006. e > 0
template <class S>
STICTION_FN S dissipation_of(S e) {
  const S one = S(1.0);
  return (one - e) * (one + e * (S(1.39) + e * (S(-1.24) + S(0.35) * e))) / e;
}

template <class S>
STICTION_FN Mask<S> bounces_softly(const ModelView& m, S k, S w) {
  const double dt = m.opt.timestep;
  return m.opt.contact_model == kSap ? no_lanes<S>() : S(dt * dt) * (k * w) < S(kSoftBounce);
}

// Returns the speed at the smaller root of the law, without its shift.
template <class S>
STICTION_FN S root_speed(const NormalConstants<S>& law, S horizon) {
  const Mask<S> damped = law.d > S(0.0);
  const S elastic = -law.gap / horizon;
  return select(damped, vmin(elastic, S(1.0) / select(damped, law.d, S(1.0))), elastic);
}

// Returns the law of a step in which the pair bounces; else `usual`, with the k of the pair.
//   δt² k w < kSoftBounce:  d = y/v_a, and the force at the gap φ0 − δt s, s = (1 − √(δt² k w)/8) v_n0: at v_n0 that
//                           of the start of the step, so that the spring returns the energy it took, and a little less
//   else:                   a law stiff enough to reach its root, which is first that of the gap, then e v_a
template <class S>
STICTION_FN NormalConstants<S> rebound_law(const ModelView& m, EnvView<S>& e, int p, int pair,
                                           const NormalConstants<S>& usual, S v_n0, S w,
                                           const Mask<S>& active) {
  const double dt = m.opt.timestep;
  const S zero = S(0.0), one = S(1.0), share = e.pair_restitution[pair];
  const S met = e.rebound[e.point_slot[p]], approach = -v_n0;
  const S least = S(kLeastImpact * dt) * norm(load3(e.gravity, 0));
  e.point_approach[p] = approach;

  const Mask<S> known = met > zero, begins = met == zero && approach > least;
  const S v_a = select(known, met, select(begins, approach, zero));
  const Mask<S> bounces = active && share > zero && v_a > zero;
  const S stiff = S(dt * dt) * (usual.k * w);
  const Mask<S> soft = bounces && bounces_softly(m, usual.k, w);

  const S d = dissipation_of(select(bounces, share, one)) / select(bounces, v_a, one);
  const S s = (one - S(0.125) * vsqrt(vmax(stiff, zero))) * v_n0;
  const S time = horizon(m, e, pair), gap = vmax(usual.gap, zero);
  const S target = select(known, share * v_a, zero);
  const Mask<S> stops = begins && usual.gap >= zero;
  const Mask<S> parts = known && target - gap / time > root_speed(usual, time) + usual.shift;
  const Mask<S> rigid = bounces && !soft && (stops || parts);
  const S least_k = S(kRigidBounce / (dt * dt)) / select(bounces, w, one);
  return {select(soft, usual.gap - S(dt) * s, select(rigid, gap, usual.gap)),
          select(rigid, vmax(usual.k, least_k), usual.k), select(soft, d, usual.d),
          select(soft, zero, select(rigid, target, usual.shift)), rigid};
}

// Returns `rebound` after the step. A soft bounce ends when the contact opens, or when its velocity reverses before
// that: a resting contact does not keep a d made for an impact.
template <class S>
STICTION_FN S next_rebound(const ModelView& m, const EnvView<S>& e, int p) {
  const int slot = e.point_slot[p], pair = m.slot_pair[slot];
  const S zero = S(0.0), pressed = S(kPressed), met = e.rebound[slot];
  const S approach = e.point_approach[p];
  const S least = S(kLeastImpact * m.opt.timestep) * norm(load3(e.gravity, 0));
  const Vec3<S> n = load3(e.point_normal, p);
  const Mask<S> pushes =
      dot(n, load3(e.point_impulse, p)) > zero && e.pair_restitution[pair] > zero;
  const Mask<S> turns = approach <= zero && dot(n, contact_velocity(m, e, p)) < zero;
  const Mask<S> goes_on = bounces_softly(m, e.pair_stiffness[pair], e.point_w[p]) && !turns;
  const S first = select(approach > least, approach, pressed);
  const S later = select(met > zero && goes_on, met, pressed);
  return select(pushes, select(met == zero, first, later), zero);
}

// Writes `rebound` of all slots. Lanes outside `moves` keep theirs.
template <class Team, class S>
STICTION_FN void advance_rebounds(const Team& team, const ModelView& m, EnvView<S>& e,
                                  const Mask<S>& moves) {
  team.for_each(e.npoint[0], [&](int p) { e.point_approach[p] = next_rebound(m, e, p); });
  team.for_each(m.nrebound,
                [&](int slot) { e.rebound[slot] = select(moves, S(0.0), e.rebound[slot]); });
  team.for_each(e.npoint[0], [&](int p) {
    const int slot = e.point_slot[p];
    e.rebound[slot] = select(moves, e.point_approach[p], e.rebound[slot]);
  });
}

STICTION_PHYSICS_END

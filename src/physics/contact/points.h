// The contact points of the problem: compaction of the active candidates, the constants of their laws, and
// lists of points by body.
//
// reads   cand_*, cvel0, inv_diag, xoff, cdof, anchor, rebound; contact parameters
// writes  point_slot ... point_d, point_approach, point_couple_law, point_body, point_weld, npoint; body_pointadr, body_point; ncon
//
// A point is in the list if it is active in any lane; in the other lanes its constants give zero impulse, cost
// or curvature at any velocity.
#pragma once

#include "physics/contact/anchors.h"
#include "physics/contact/rebound.h"
#include "physics/law/couple_law.h"
#include "physics/law/recovery.h"
#include "physics/tree/pair_bodies.h"
#include "physics/tree/point_delassus.h"

STICTION_PHYSICS_BEGIN

// Hunt–Crossley law δt (f_e0 − a v)₊ (1 − d v)₊ with a = δt k, f_e0 = −k φ0, relative to its smaller root v̂:
//   elastic root smaller, d f_e0 <= a:  v̂ = −φ0/δt, F = 0,          D = 1 − d v̂
//   else:                               v̂ = 1/d,    F = f_e0 − a/d, D = 0
template <class S>
STICTION_FN void hunt_crossley_constants(const ModelView& m, EnvView<S>& e, int p, S gap, S k, S d,
                                         const Mask<S>& active) {
  const S dt = S(m.opt.timestep), zero = S(0.0), one = S(1.0);
  const S a = dt * k, f_e0 = -(k * gap);
  const Mask<S> acts = active && a > zero, elastic = d * f_e0 <= a;
  const S open = one / select(elastic, one, d);
  const S v_hat = select(elastic, f_e0 / select(acts, a, one), open);
  S* law = e.point_law + 4 * p;
  law[0] = select(acts, v_hat, zero);
  law[1] = select(acts, a, zero);
  law[2] = select(acts && !elastic, f_e0 - a * open, zero);
  law[3] = select(acts && elastic, one - d * v_hat, zero);
}

// Shift of the root of the law where the overlap is deeper than any load explains: the law separates at 1/d at
// most, 5 cm/s at d = 20 s/m. The depth in excess of kDeepLoads times the weight returns as a critically damped
// oscillator with the time constant T = kDeepSpeed/(d |g|), 20 ms for that d, at no more than kDeepSpeed/d.
inline constexpr double kDeepLoads = 16, kDeepSpeed = 4;
template <class S>
STICTION_FN S deep_shift(const ModelView& m, const EnvView<S>& e, S gap, S k, S d, S w, S v_n0) {
  const double dt = m.opt.timestep;
  const S zero = S(0.0), one = S(1.0), g = norm(load3(e.gravity, 0)), stiff = k * w;
  const S depth = S(kDeepLoads) * (g / select(stiff > zero, stiff, one));
  const S excess = -gap - depth, speed = one / select(d > zero, d, one);
  const Mask<S> deep = stiff > zero && d * g > zero && excess > zero && -gap > S(dt) * speed;
  const S rate = vmin(S(1 / kDeepSpeed) * (d * g), S(1 / (2 * dt)));
  const S aim = return_speed(Recovery<S>{rate * rate, S(2.0) * rate}, dt, vmax(excess, zero),
                             vmax(v_n0, zero));
  return select(deep, vmax(vmin(aim, S(kDeepSpeed) * speed) - speed, zero), zero);
}

// Limits k of a Hunt–Crossley law so that its curvature at the root, δt k |δt + d φ0|, is within `stiffest`. A
// stiffer law closes the gap in one step anyway: the velocities differ by less than 1/stiffest of what the
// contact changes, and the root stays the same.
template <class S>
STICTION_FN S resolved_stiffness(const ModelView& m, S k, S d, S gap, S w) {
  const S dt = S(m.opt.timestep), steepness = w * (dt * (dt + d * vabs(gap)));
  const S ratio = steepness * k * S(1 / stiffest<S>());
  return select(ratio > S(1.0), k / ratio, k);
}

// R_n = max(β²/4π² w, 1/(δt (δt + τ) k)), R_t = σ w, v̂ = −φ0/(δt + τ); time: δt + τ
template <class S>
STICTION_FN void sap_constants(const ModelView& m, EnvView<S>& e, int p,
                               const NormalConstants<S>& given, S w, S time,
                               const Mask<S>& active) {
  constexpr double kFourPi2 = 39.478417604357434;
  const S dt = S(m.opt.timestep), zero = S(0.0), one = S(1.0);
  const S stiff = dt * time * given.k;
  const double floor = m.opt.near_rigid * m.opt.near_rigid / kFourPi2, least = 1 / stiffest<S>();
  const double usual = floor > least ? floor : least;
  const double bounce = usual < 1 / kRigidBounce ? usual : 1 / kRigidBounce;
  const S share = select(given.rigid, S(bounce), S(usual));
  const S near_rigid = share * w;
  const Mask<S> rigid = near_rigid * stiff > one;
  S* law = e.point_law + 4 * p;
  law[0] = select(active, -given.gap / time, zero);
  law[1] = select(active, select(rigid, one / select(rigid, near_rigid, one), stiff), zero);
  law[2] = select(active, one / select(active, regularization<S>(m) * w, one), zero);
  law[3] = zero;
}

// Computes all constants of point p; n0 = δt (f_e0)₊ (1 − d v_n0)₊.
template <class S>
STICTION_FN void point_constants(const ModelView& m, EnvView<S>& e, int p) {
  const int slot = e.point_slot[p], pair = m.slot_pair[slot];
  const PairBodies b = {e.point_body[2 * p], e.point_body[2 * p + 1]};
  const S zero = S(0.0), dt = S(m.opt.timestep), gap = e.cand_gap[slot];
  const Vec3<S> n = load3(e.cand_normal, slot);
  const Vec3<S> r1 = load3(e.cand_r1, slot), r2 = load3(e.cand_r2, slot);

  // no contact where neither body can move
  const S w = point_delassus(m, e, b, r1, r2);
  const Mask<S> active = e.cand_active[slot] > S(0.5) && w > zero;
  e.cand_active[slot] = select(active, S(1.0), zero);

  const S v_n0 = dot(n, candidate_velocity(e, e.cvel0, b, slot));
  NormalConstants<S> usual = {gap, e.pair_stiffness[pair], e.pair_dissipation[pair], zero,
                              no_lanes<S>()};
  if (m.opt.contact_model != kSap && !m.opt.penetrating_deepest)
    usual.shift = select(active, deep_shift(m, e, gap, usual.k, usual.d, w, v_n0), zero);
  const S usual_k = resolved_stiffness(m, usual.k, usual.d, gap, w);
  NormalConstants<S> law = usual;
  if (m.nrebound > 0) law = rebound_law(m, e, p, pair, usual, v_n0, w, active);
  const S d = law.d;
  const S k = m.nrebound > 0 ? resolved_stiffness(m, law.k, d, law.gap, w) : usual_k;
  // in the step in which the pair separates: the impulse of the step that stopped it
  const S shift = select(law.rigid, usual.shift, law.shift);
  const S force = vmax(-(usual_k * gap), zero), damped = vmax(S(1.0) - d * (v_n0 - shift), zero);
  const S n0 = select(active, dt * force * damped, zero);
  const S mu = select(active, sliding_friction(m, e, pair), zero);
  e.point_gap[p] = gap, e.point_w[p] = w, e.point_mu[p] = mu, e.point_n0[p] = n0, e.point_d[p] = d;
  e.point_eps[p] = slip_scale(m, w, mu, n0);
  store3(e.point_normal, p, n);
  store3(e.point_r1, p, r1), store3(e.point_r2, p, r2);
  if (m.opt.contact_model == kSap)
    sap_constants(m, e, p, law, w, horizon(m, e, pair), active);
  else
    hunt_crossley_constants(m, e, p, law.gap, k, d, active);
  e.point_law[4 * p] = e.point_law[4 * p] + law.shift;
  if (m.opt.anchored) turn_anchor(m, e, p, b, active);
  if (m.ndriftslot > 0) drift_point(m, e, p, b, active);
  if (m.ncouple > 0) couple_constants(m, e, p, b, active);
}

// Sets the bodies of point p. Later stages use these and do not depend on the origin of the point.
template <class S>
STICTION_FN void place_point(const ModelView& m, EnvView<S>& e, int p, int slot) {
  const PairBodies b = pair_bodies(m, m.slot_pair[slot]);
  e.point_slot[p] = slot;
  e.point_body[2 * p] = b.body1, e.point_body[2 * p + 1] = b.body2;
  e.point_weld[2 * p] = m.body_weldid[b.body1], e.point_weld[2 * p + 1] = m.body_weldid[b.body2];
}

// CSR lists of the points of each body, by counting sort.
template <SerialTeam Team, class S>
STICTION_FN void body_lists(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.once([&] {
    int* adr = e.body_pointadr;
    for (int b = 0; b <= m.nbody; ++b) adr[b] = 0;
    const auto each_side = [&](int p, const auto& f) {
      f(e.point_body[2 * p], -(p + 1));
      f(e.point_body[2 * p + 1], p + 1);
    };
    for (int p = 0; p < e.npoint[0]; ++p) each_side(p, [&](int b, int) { ++adr[b]; });
    for (int b = 0, total = 0; b <= m.nbody; ++b) adr[b] = total += adr[b];
    for (int p = e.npoint[0] - 1; p >= 0; --p)
      each_side(p, [&](int b, int code) { e.body_point[--adr[b]] = code; });
  });
}

// Sums of small integers: exact in any order.
template <class Team, class S>
STICTION_FN void count_contacts(const Team& team, EnvView<S>& e) {
  const S total =
      team.template sum<S>(e.npoint[0], [&](int p) { return e.cand_active[e.point_slot[p]]; });
  team.once([&] { e.ncon[0] = total; });
}

template <class Team, class S>
STICTION_FN void gather_points(const Team& team, const ModelView& m, EnvView<S>& e) {
  const int npoint = team.compact(e.ncand[0], e.point_slot, [&](int i) {
    return any_lane(e.cand_active[e.cand_slot[i]] > S(0.5));
  });
  team.once([&] { e.npoint[0] = npoint; });
  team.for_each(npoint, [&](int p) {
    place_point(m, e, p, e.cand_slot[e.point_slot[p]]);
    point_constants(m, e, p);
  });
  body_lists(team, m, e);
  count_contacts(team, e);
}

STICTION_PHYSICS_END

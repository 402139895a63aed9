// Anchored stiction: the anchor z of a slot rotates with the bodies, shifts the slip velocity, and
// follows the slip.
//
// In models with torsional or rolling friction each slot has a second anchor: an angle about the normal and one
// about a tangent axis, which follow the angular velocity. It is stored nslot rows behind the first.
//
// reads   anchor, cvel0, mocap_twist, geom_surfacevel; point_vel, point_omega at the solution
// writes  point_anchor, point_shift, point_couple_shift, point_drift, point_law; anchor, friction_anchor
#pragma once

#include "physics/base/functions.h"
#include "physics/contact/activation.h"
#include "physics/law/friction.h"
#include "physics/law/row_law.h"
#include "physics/tree/pair_bodies.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kAnchorReach = 10;  // c

// Returns z rotated about n within the tangent plane, with its length kept; 0 if z has no tangential part.
template <class S>
STICTION_FN Vec3<S> spin_anchor(const Vec3<S>& z, const Vec3<S>& n, S angle) {
  const SinCos<S> a = sincos(angle);
  const Vec3<S> flat = z - dot(n, z) * n;
  const Vec3<S> turned = a.cos * flat + a.sin * cross(n, flat);
  const Vec3<S> tangent = turned - dot(n, turned) * n;
  const S t = norm(tangent);
  const Mask<S> any = t > S(0.0);
  const S scale = select(any, norm(z) / select(any, t, S(1.0)), S(0.0));
  return scale * tangent;
}

// z ← z + δt v_t, shortened to the length c ε τ at most
template <class S>
STICTION_FN Vec3<S> advance_anchor(const ModelView& m, const Vec3<S>& z, const Vec3<S>& slip,
                                   S eps) {
  const double dt = m.opt.timestep;
  const Vec3<S> next = z + S(dt) * slip;
  const S reach = S(kAnchorReach * kAnchorTime * dt) * eps, length = norm(next);
  const Mask<S> far = length > reach;
  return select(far, reach / select(far, length, S(1.0)), S(1.0)) * next;
}

// Rotates the anchor by δt times the mean normal spin of both bodies at v0; b_t = z / τ.
template <class S>
STICTION_FN void turn_anchor(const ModelView& m, EnvView<S>& e, int p, const PairBodies& b,
                             const Mask<S>& active) {
  const double dt = m.opt.timestep;
  const Vec3<S> n = load3(e.point_normal, p);
  const Vec3<S> spin = load6(e.cvel0, b.body1).a + load6(e.cvel0, b.body2).a;
  const Vec3<S> z = spin_anchor(load3(e.anchor, e.point_slot[p]), n, S(0.5 * dt) * dot(n, spin));
  const Vec3<S> kept = select<S>(active, z, zero3<S>());
  store3(e.point_anchor, p, kept);
  store3(e.point_shift, p, S(1 / (kAnchorTime * dt)) * kept);
  if (m.ncouple == 0) return;
  const Vec3<S> angle = load3(e.anchor, m.nslot + e.point_slot[p]);
  const S about = dot(n, angle);
  const Vec3<S> turned = about * n + spin_anchor(angle - about * n, n, S(0.5 * dt) * dot(n, spin));
  const Vec3<S> held = select<S>(active, turned, zero3<S>());
  store3(e.point_anchor, m.nslot + p, held);
  store3(e.point_couple_shift, p, S(1 / (kAnchorTime * dt)) * held);
}

// Returns angular and linear velocity of the surface of geom g relative to its body, at a point; r: the point - O of
// the body's tree.
template <class S>
STICTION_FN Spatial<S> surface_velocity(const ModelView& m, const EnvView<S>& e, int g,
                                        const Vec3<S>& r) {
  if (m.nsurface == 0) return zero6<S>();
  const int b = m.geom_bodyid[g];
  const Mat3<Wide<S>> body = load9(e.xmat, b), local = matrix(load4(e.geom_quat, g));
  const Mat3<S> axes = {narrow3<S>(body * local.x), narrow3<S>(body * local.y),
                        narrow3<S>(body * local.z)};
  const Vec3<S> c = narrow3<S>(load3(e.geom_xpos, g) - tree_origin(m, e, b));
  const Vec3<S> v = axes * load3(e.geom_surfacevel, 2 * g);
  const Vec3<S> w = axes * load3(e.geom_surfacevel, 2 * g + 1);
  return {w, v + cross(w, r - c)};
}

// Velocity of body 2 relative to body 1 at the point that is not in J v: mocap bodies carry them, surfaces slide.
// The law is a function of all of v_c, ℓ(J v + drift): its root moves by the normal part of the drift, its slip by
// the tangential part. Surface velocities have no normal part.
template <class S>
STICTION_FN void drift_point(const ModelView& m, EnvView<S>& e, int p, const PairBodies& b,
                             const Mask<S>& active) {
  const int pair = m.slot_pair[e.point_slot[p]];
  const Vec3<S> r1 = load3(e.point_r1, p), r2 = load3(e.point_r2, p), n = load3(e.point_normal, p);
  const Spatial<S> V1 = carrier_velocity(m, e, e.mocap_twist, b.body1),
                   V2 = carrier_velocity(m, e, e.mocap_twist, b.body2);
  const Spatial<S> u1 = surface_velocity(m, e, m.pair_geom1[pair], r1),
                   u2 = surface_velocity(m, e, m.pair_geom2[pair], r2);
  const Vec3<S> u = u2.l - u1.l;
  const Vec3<S> drift = velocity_at(V2, r2) - velocity_at(V1, r1) + tangential(n, dot(n, u), u);
  const Vec3<S> v = select<S>(active, drift, zero3<S>());
  const Vec3<S> omega = select<S>(active, V2.a - V1.a + (u2.a - u1.a), zero3<S>());
  store6(e.point_drift, p, Spatial<S>{omega, v});
  const bool anchored = m.opt.anchored && m.opt.contact_model != kSap;
  const S v_n = dot(n, v);
  e.point_law[4 * p] = e.point_law[4 * p] - v_n;
  const Vec3<S> shift = anchored ? load3(e.point_shift, p) : zero3<S>();
  store3(e.point_shift, p, shift + tangential(n, v_n, v));
  if (m.ncouple == 0) return;
  const Vec3<S> turn = m.opt.anchored ? load3(e.point_couple_shift, p) : zero3<S>();
  store3(e.point_couple_shift, p, turn + omega);
}
// Return v_c and ω at the solution.
template <class S>
STICTION_FN Vec3<S> contact_velocity(const ModelView& m, const EnvView<S>& e, int p) {
  const Vec3<S> v = load3(e.point_vel, p);
  return m.ndriftslot > 0 ? v + load6(e.point_drift, p).l : v;
}
template <class S>
STICTION_FN Vec3<S> contact_spin(const ModelView& m, const EnvView<S>& e, int p) {
  const Vec3<S> omega = load3(e.point_omega, p);
  return m.ndriftslot > 0 ? omega + load6(e.point_drift, p).a : omega;
}

// Returns the next angles about the normal and about the tangent axis, each limited to its own reach.
template <class S>
STICTION_FN Vec3<S> advance_turned(const ModelView& m, const EnvView<S>& e, int p) {
  const Vec3<S> n = load3(e.point_normal, p), omega = contact_spin(m, e, p);
  const Vec3<S> z = load3(e.point_anchor, m.nslot + p);
  const S* const law = e.point_couple_law + 5 * p;
  const S z_n = dot(n, z), omega_n = dot(n, omega), zero = S(0.0);
  const Vec3<S> about = advance_anchor(m, z_n * n, omega_n * n, law[2]);
  const Vec3<S> across = advance_anchor(m, z - z_n * n, omega - omega_n * n, law[3]);
  return select<S>(law[0] > zero, about, zero3<S>()) + select<S>(law[1] > zero, across, zero3<S>());
}

template <class S>
STICTION_FN void clear_anchor(EnvView<S>& e, int slot, const Mask<S>& moves) {
  store3(e.anchor, slot, select<S>(moves, zero3<S>(), load3(e.anchor, slot)));
}

// Clears the listed slots; only they can have an anchor. One thread keeps the list and adds the slots of all points.
template <class S>
STICTION_FN void clear_listed(const ModelView& m, EnvView<S>& e, const Mask<S>& moves) {
  int& count = e.nanchorslot[0];
  for (int i = 0; i < count; ++i)
    for (int slot = e.anchor_slot[i]; slot < m.nanchor; slot += m.nslot)
      clear_anchor(e, slot, moves);
  for (int p = 0; p < e.npoint[0]; ++p) {
    const int slot = e.point_slot[p];
    if (e.anchor_listed[slot] == 0) e.anchor_listed[slot] = 1, e.anchor_slot[count++] = slot;
  }
}

// Sets the anchors to 0 in the lanes `moves`.
template <class Team, class S>
STICTION_FN void clear_anchors(const Team& team, const ModelView& m, EnvView<S>& e,
                               const Mask<S>& moves) {
  if (m.nanchorlist > 0)
    team.once([&] { clear_listed(m, e, moves); });
  else
    team.for_each(m.nanchor, [&](int slot) { clear_anchor(e, slot, moves); });
}

// Computes the next anchors; 0 for slots without a loaded point. Lanes outside `moves` keep theirs.
template <class Team, class S>
STICTION_FN void advance_anchors(const Team& team, const ModelView& m, EnvView<S>& e,
                                 const Mask<S>& moves) {
  clear_anchors(team, m, e, moves);
  team.for_each(e.npoint[0], [&](int p) {
    const int slot = e.point_slot[p];
    const Vec3<S> n = load3(e.point_normal, p), v = contact_velocity(m, e, p);
    const Vec3<S> next =
        advance_anchor(m, load3(e.point_anchor, p), v - dot(n, v) * n, e.point_eps[p]);
    const Mask<S> follows = moves && e.point_n0[p] > S(0.0);
    store3(e.anchor, slot, select<S>(follows, next, load3(e.anchor, slot)));
    if (m.ncouple == 0) return;
    const int turned = m.nslot + slot;
    store3(e.anchor, turned, select<S>(follows, advance_turned(m, e, p), load3(e.anchor, turned)));
  });
}

// Computes the next displacements of dry friction; 0 without friction. Lanes outside `moves` keep theirs.
template <class Team, class S>
STICTION_FN void advance_friction_anchors(const Team& team, const ModelView& m, EnvView<S>& e,
                                          const Mask<S>& moves) {
  team.for_each(m.nv, [&](int i) {
    S& z = e.friction_anchor[i];
    const int row = m.coord_rowadr[i] + m.coord_limited[i];
    const S next =
        m.dof_rubs[i] != 0 ? advance_friction(m, load_bounded(e, row), z, e.v[i]) : S(0.0);
    z = select(moves, next, z);
  });
  team.for_each(m.ntendon, [&](int t) {
    S& z = e.friction_anchor[m.nv + t];
    const int row = m.tendon_rubrow[t];
    const S next =
        row >= 0 ? advance_friction(m, load_bounded(e, row), z, e.v[m.nv + m.nu + t]) : S(0.0);
    z = select(moves, next, z);
  });
}

STICTION_PHYSICS_END

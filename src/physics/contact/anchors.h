// Anchored stiction: the anchor z of a slot turns with the bodies, shifts the slip velocity, and
// follows the slip.
//
// reads   anchor, cvel0; point_vel, point_omega at the solution
// Where the model has torsional or rolling friction, another one turns: an angle about the normal and one
// across it, which follow the angular velocity. It is nslot rows behind that of the slot.
//
// writes  point_anchor, point_shift, point_couple_shift; anchor, friction_anchor
#pragma once

#include "physics/base/functions.h"
#include "physics/contact/activation.h"
#include "physics/law/friction.h"
#include "physics/law/row_law.h"
#include "physics/tree/pair_bodies.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kAnchorReach = 10;  // c

// z turned about n, in the tangent plane, length kept; 0 where nothing of it is tangent.
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

// z ← z + δt v_t, shortened to c ε τ
template <class S>
STICTION_FN Vec3<S> advance_anchor(const ModelView& m, const Vec3<S>& z, const Vec3<S>& slip,
                                   S eps) {
  const double dt = m.opt.timestep;
  const Vec3<S> next = z + S(dt) * slip;
  const S reach = S(kAnchorReach * kAnchorTime * dt) * eps, length = norm(next);
  const Mask<S> far = length > reach;
  return select(far, reach / select(far, length, S(1.0)), S(1.0)) * next;
}

// Turns by δt times the mean normal spin of both bodies at v0; b_t = z / τ.
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

// The next angles: those about and across the normal, each within its own reach.
template <class S>
STICTION_FN Vec3<S> advance_turned(const ModelView& m, const EnvView<S>& e, int p) {
  const Vec3<S> n = load3(e.point_normal, p), omega = load3(e.point_omega, p);
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

// Slots with an anchor, of which one thread keeps a list; those of points join it. The others have none.
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

// The anchors of lanes in `moves` become 0.
template <class Team, class S>
STICTION_FN void clear_anchors(const Team& team, const ModelView& m, EnvView<S>& e,
                               const Mask<S>& moves) {
  if (m.nanchorlist > 0)
    team.once([&] { clear_listed(m, e, moves); });
  else
    team.for_each(m.nanchor, [&](int slot) { clear_anchor(e, slot, moves); });
}

// The next anchors; 0 of slots without a loaded point. Lanes outside `moves` keep theirs.
template <class Team, class S>
STICTION_FN void advance_anchors(const Team& team, const ModelView& m, EnvView<S>& e,
                                 const Mask<S>& moves) {
  clear_anchors(team, m, e, moves);
  team.for_each(e.npoint[0], [&](int p) {
    const int slot = e.point_slot[p];
    const Vec3<S> n = load3(e.point_normal, p), v = load3(e.point_vel, p);
    const Vec3<S> next =
        advance_anchor(m, load3(e.point_anchor, p), v - dot(n, v) * n, e.point_eps[p]);
    const Mask<S> follows = moves && e.point_n0[p] > S(0.0);
    store3(e.anchor, slot, select<S>(follows, next, load3(e.anchor, slot)));
    if (m.ncouple == 0) return;
    const int turned = m.nslot + slot;
    store3(e.anchor, turned, select<S>(follows, advance_turned(m, e, p), load3(e.anchor, turned)));
  });
}

// The next displacements of dry friction; 0 of dofs and tendons without. Lanes outside `moves` keep theirs.
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

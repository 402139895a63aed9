// Rate of change of a spatial tendon's velocity at q̈ = 0, due to the changing direction of the tendon:
//
//   ṁ·v = Σ ((|u|² − (n·u)²)/|p2 − p1| + n·(a2 − a1))/divisor,   u = velocity of p2 against p1,
//
// over the segments between the sites p1, p2. A tendon with armature a has the momentum a m·v, so a ṁ·v is a
// part of its bias force.
//
// reads   xpos, xmat, cvel0, cacc, mocap_twist; placements of sites, wrap_coef
#pragma once

#include "physics/actuation/tendons.h"
#include "physics/tree/mocap.h"

STICTION_PHYSICS_BEGIN

// Velocity of a site, and its acceleration at q̈ = 0.
template <class S>
struct SiteMotion {
  Vec3<Wide<S>> pos;
  Vec3<S> velocity, acceleration;
};
template <class S>
STICTION_FN SiteMotion<S> site_motion(const ModelView& m, const EnvView<S>& e, int site) {
  const Vec3<Wide<S>> pos = site_position(m, e, site);
  const int b = m.site_bodyid[site], tree = m.body_treeid[b];
  if (tree < 0 && !is_carried(m, b)) return {pos, zero3<S>(), zero3<S>()};
  if (tree < 0) {
    const int k = m.body_carrier[b];
    const Spatial<S> V = load6(e.mocap_twist, k);
    const Vec3<S> u = velocity_at(V, narrow3<S>(pos - load3(e.xpos, m.mocap_body[k])));
    return {pos, u, cross(V.a, u - V.l)};
  }
  const Spatial<S> v = load6(e.cvel0, b);
  const Vec3<S> r = narrow3<S>(pos - load3(e.xpos, m.tree_origin[tree])),
                velocity = velocity_at(v, r);
  return {pos, velocity, velocity_at(load6(e.cacc, b), r) + cross(v.a, velocity)};
}

// Returns ṁ·v; 0 for tendons that wrap around a geom, which have no armature.
template <class S>
STICTION_RARE S tendon_bias(const ModelView& m, const EnvView<S>& e, int t) {
  S sum = S(0.0), share = S(1.0);
  const int end = m.tendon_adr[t] + m.tendon_num[t];
  for (int k = m.tendon_adr[t]; k < end; ++k) {
    const auto type = [&](int i) { return static_cast<WrapType>(m.wrap_type[i]); };
    if (type(k) == WrapType::pulley) share = S(1.0) / e.wrap_coef[k];
    if (type(k) == WrapType::sphere || type(k) == WrapType::cylinder) return S(0.0);
    if (type(k) != WrapType::site || k + 1 == end || type(k + 1) != WrapType::site) continue;
    const SiteMotion<S> p = site_motion(m, e, m.wrap_objid[k]),
                        q = site_motion(m, e, m.wrap_objid[k + 1]);
    const Vec3<S> d = narrow3<S>(q.pos - p.pos), u = q.velocity - p.velocity;
    const S length = norm(d), inverse = select(length > S(0.0), S(1.0) / length, S(0.0));
    const Vec3<S> n = inverse * d, across = u - dot(n, u) * n;
    sum = sum + share * (inverse * dot(across, across) + dot(n, q.acceleration - p.acceleration));
  }
  return sum;
}

STICTION_PHYSICS_END

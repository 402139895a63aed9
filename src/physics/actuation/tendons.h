// Lengths, moment arms and velocities of the tendons.
//
// tendons  in   qpos, qvel, xpos, xquat, xmat, cdof; placements of sites and geoms, wrap_coef
//          out  ten_length (wide), ten_velocity, moment of their coordinates; those of site_drives.h
//
//   fixed     l = Σ coef q_j                                m_j = coef
//   spatial   l = Σ |p2 − p1|/divisor + arcs on geoms       m_i = Σ n · (∂p2/∂q_i − ∂p1/∂q_i)/divisor,
//             n = (p2 − p1)/|p2 − p1|, over the straight segments between points of two bodies
//
// An arc contributes nothing to the moment arm: where the tendon touches a geom its direction is continuous, and
// both ends of the arc belong to the geom's body.
#pragma once

#include "physics/actuation/site_drives.h"
#include "physics/actuation/wrapping.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN Vec3<Wide<S>> site_position(const ModelView& m, const EnvView<S>& e, int site) {
  const int b = m.site_bodyid[site];
  return load3(e.xpos, b) + load9(e.xmat, b) * load3(e.site_pos, site);
}

// A point on the path of a tendon.
template <class S>
struct PathPoint {
  int body;
  Vec3<Wide<S>> pos;
};

// Adds the contribution of the straight segment from p to q to the moment arm of coordinate c, times `scale`. A dof
// that moves both bodies does not change the length.
template <class S>
STICTION_FN void add_straight(const ModelView& m, EnvView<S>& e, int c, const PathPoint<S>& p,
                              const PathPoint<S>& q, const S& scale) {
  const Vec3<S> n = narrow3<S>(unit(q.pos - p.pos));
  const auto offset = [&](const PathPoint<S>& x) {
    const int tree = m.body_treeid[x.body];
    if (tree < 0) return zero3<S>();
    return narrow3<S>(x.pos - load3(e.xpos, m.tree_origin[tree]));
  };
  const Vec3<S> r[2] = {offset(p), offset(q)};
  int dof1 = m.body_lastdof[p.body], dof2 = m.body_lastdof[q.body];
  while (dof1 != dof2) {
    const bool second = dof2 > dof1;
    const int i = second ? dof2 : dof1;
    const S rate = dot(n, velocity_at(load6(e.cdof, i), second ? r[1] : r[0]));
    int x = m.coord_momentadr[c];
    while (m.moment_dof[x] != i) ++x;
    e.moment[x] = second ? e.moment[x] + scale * rate : e.moment[x] - scale * rate;
    if (second)
      dof2 = m.dof_parentid[i];
    else
      dof1 = m.dof_parentid[i];
  }
}

// Follows the path from site wrap k to the next site, around the geom between them if any; returns the length.
template <class S>
STICTION_FN Wide<S> path_part(const ModelView& m, EnvView<S>& e, int c, int k, const S& scale) {
  using W = Wide<S>;
  const bool around = m.wrap_type[k + 1] != static_cast<int>(WrapType::site);
  const int site1 = m.wrap_objid[k], site2 = m.wrap_objid[around ? k + 2 : k + 1];
  const PathPoint<S> p = {m.site_bodyid[site1], site_position(m, e, site1)};
  const PathPoint<S> q = {m.site_bodyid[site2], site_position(m, e, site2)};
  const W straight = norm(q.pos - p.pos);
  if (!around) {
    add_straight(m, e, c, p, q, scale);
    return straight;
  }
  const int geom = m.wrap_objid[k + 1], body = m.geom_bodyid[geom], side = m.wrap_sideid[k + 1];
  const Vec3<W> centre = load3(e.xpos, body) + load9(e.xmat, body) * load3(e.geom_pos, geom);
  const Mat3<W> axes = matrix(load4(e.xquat, body) * load4(e.geom_quat, geom));
  const bool cylinder = m.wrap_type[k + 1] == static_cast<int>(WrapType::cylinder);
  const Wrap<W> wrap = wrap_string<W>(p.pos, q.pos, cylinder, centre, axes, e.geom_size[3 * geom],
                                      side >= 0, side >= 0 ? site_position(m, e, side) : centre);
  const Mask<S> wraps = narrow_mask<S>(wrap.wraps);
  const S zero = S(0.0), bent = select(wraps, scale, zero);
  add_straight(m, e, c, p, q, select(wraps, zero, scale));
  if (!any_lane(wraps)) return straight;
  const PathPoint<S> first = {body, select<W>(wrap.wraps, wrap.first, p.pos)};
  const PathPoint<S> second = {body, select<W>(wrap.wraps, wrap.second, q.pos)};
  add_straight(m, e, c, p, first, bent);
  add_straight(m, e, c, second, q, bent);
  const W length = norm(first.pos - p.pos) + wrap.arc + norm(q.pos - second.pos);
  return select(wrap.wraps, length, straight);
}

template <class S>
STICTION_RARE Wide<S> spatial_tendon(const ModelView& m, EnvView<S>& e, int t) {
  using W = Wide<S>;
  const int c = m.nv + m.nu + t, end = m.tendon_adr[t] + m.tendon_num[t];
  W length = W(0.0), share = W(1.0);  // share: 1/divisor of the pulleys
  for (int k = m.tendon_adr[t]; k < end - 1; ++k) {
    if (m.wrap_type[k] == static_cast<int>(WrapType::pulley))
      share = W(1.0) / widen(e.wrap_coef[k]);
    else if (m.wrap_type[k] == static_cast<int>(WrapType::site) &&
             m.wrap_type[k + 1] != static_cast<int>(WrapType::pulley))
      length = length + share * path_part(m, e, c, k, narrow<S>(share));
  }
  return length;
}

template <class S>
STICTION_FN Wide<S> fixed_tendon(const ModelView& m, EnvView<S>& e, int t) {
  Wide<S> length = Wide<S>(0.0);
  for (int k = m.tendon_adr[t]; k < m.tendon_adr[t] + m.tendon_num[t]; ++k) {
    S& arm = e.moment[m.wrap_moment[k]];
    arm = arm + e.wrap_coef[k];
    length = length + widen(e.wrap_coef[k]) * e.qpos[m.jnt_qposadr[m.wrap_objid[k]]];
  }
  return length;
}

// Returns the moment arm of a coordinate times the dof velocities v.
template <class S>
STICTION_FN S coordinate_velocity(const ModelView& m, const EnvView<S>& e, int c, const S* v) {
  S sum = S(0.0);
  STICTION_ROLLED
  for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x)
    sum = sum + e.moment[x] * v[m.moment_dof[x]];
  return sum;
}

template <Drives can, class Team, class S>
STICTION_FN void tendons_up_to(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.ntendon, [&](int t) {
    const int c = m.nv + m.nu + t;
    for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x) e.moment[x] = S(0.0);
    if constexpr (can >= Drives::strings)
      e.ten_length[t] = m.tendon_fixed[t] != 0 ? fixed_tendon(m, e, t) : spatial_tendon(m, e, t);
    else
      e.ten_length[t] = fixed_tendon(m, e, t);
    e.ten_velocity[t] = coordinate_velocity(m, e, c, e.qvel);
  });
  if constexpr (can == Drives::states) site_drives(team, m, e);
}

template <class Team, class S>
STICTION_FN void tendons(const Team& team, const ModelView& m, EnvView<S>& e) {
  tendons_up_to<Drives::states>(team, m, e);
}

STICTION_PHYSICS_END

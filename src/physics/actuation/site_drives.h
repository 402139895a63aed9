// Lengths and moment arms of the actuators whose moment arm depends on the pose: on sites, slider-cranks, and on ball
// and free joints in the axes of the parent.
//
// site_drives  in   qpos, xpos, xquat, xmat, cdof; placements of sites, actuator_gear
//              out  act_length and moment of these actuators
//
//   site            l = 0                                         wrench R gear on the site's body
//   with refsite    l = gear · (R_rᵀ (p − p_r), log(R_rᵀ R))      R_r gear on its body, the negative on the other
//   slider-crank    l = gear (a·v − √((a·v)² + r² − v·v))         ∂l/∂v on the crank, v = p − p_s, a the slider's axis
//   in the parent   l = gear · log q of a ball                    R(q)ᵀ gear
//   body            l = 0                                         adhesion.h
//
// Dofs that move both sites have a zero moment arm, as in MuJoCo.
#pragma once

#include "physics/base/functions.h"
#include "physics/tree/frames.h"

STICTION_PHYSICS_BEGIN

// On body 2 at r2: force, torque2; on body 1 at r1: -force, torque1. r1, r2 are relative to the origins of the trees.
template <class S>
struct Pull {
  int body1, body2;
  Vec3<S> r1, r2, force, torque1, torque2;
  S length;
};

template <class S>
STICTION_FN Vec3<S> from_origin(const ModelView& m, const EnvView<S>& e, const Frame<S>& f) {
  const int tree = m.body_treeid[f.body];
  if (tree < 0) return zero3<S>();
  return narrow3<S>(f.pos - load3(e.xpos, m.tree_origin[tree]));
}
template <class S>
STICTION_FN Frame<S> site_frame(const ModelView& m, const EnvView<S>& e, int site) {
  return frame_of(m, e, static_cast<int>(ObjectType::site), site);
}

template <class S>
STICTION_FN Pull<S> site_pull(const ModelView& m, const EnvView<S>& e, int a) {
  const int ref = m.actuator_refid[a];
  const Frame<S> f = site_frame(m, e, m.actuator_trnid[a]);
  const Frame<S> g = ref >= 0 ? site_frame(m, e, ref) : f;
  const Mat3<S> axes = narrow_axes<S>(g.quat);
  const Vec3<S> along = load3(e.actuator_gear, 2 * a), about = load3(e.actuator_gear, 2 * a + 1);
  const Vec3<S> torque = axes * about;
  const S zero = S(0.0);
  Pull<S> pull = {0,      f.body, zero3<S>(), from_origin(m, e, f), axes * along, zero * torque,
                  torque, zero};
  if (ref < 0) return pull;
  pull.body1 = g.body, pull.r1 = from_origin(m, e, g), pull.torque1 = -torque;
  pull.length = dot(along, narrow3<S>(transposed(matrix(g.quat), f.pos - g.pos))) +
                dot(about, narrow3<S>(log_quat(normalized(conjugate(g.quat) * f.quat))));
  return pull;
}

// Where the rod is too short to reach, the slider is at the foot of the perpendicular from the crank: l = a·v.
template <class S>
STICTION_FN Pull<S> slidercrank_pull(const ModelView& m, const EnvView<S>& e, int a) {
  using W = Wide<S>;
  const Frame<S> f = site_frame(m, e, m.actuator_trnid[a]);
  const Frame<S> g = site_frame(m, e, m.actuator_refid[a]);
  const Vec3<W> axis = matrix(g.quat).z, v = f.pos - g.pos;
  const W along = dot(axis, v), rod = W(m.actuator_cranklength[a]);
  const W square = along * along + rod * rod - dot(v, v);
  const Mask<W> reaches = square > W(0.0);
  const W root = vsqrt(select(reaches, square, W(1.0)));
  const W share = select(reaches, W(1.0) - along / root, W(1.0));
  const W inverse = select(reaches, W(1.0) / root, W(0.0));
  const S gear = e.actuator_gear[6 * a];
  const Vec3<S> torque = gear * narrow3<S>(share * cross(axis, v));
  return {g.body,
          f.body,
          from_origin(m, e, g),
          from_origin(m, e, f),
          gear * narrow3<S>(share * axis + inverse * v),
          torque,
          zero3<S>(),
          gear * narrow<S>(along - select(reaches, root, W(0.0)))};
}

// Writes m_i = force · (point velocity) + torque · ω per unit of dof i, for the dofs that move one body but not both.
template <class S>
STICTION_FN void pull_arm(const ModelView& m, EnvView<S>& e, int a, const Pull<S>& pull) {
  const int adr = m.coord_momentadr[m.nv + a], end = m.coord_momentadr[m.nv + a + 1];
  int dof1 = m.body_lastdof[pull.body1], dof2 = m.body_lastdof[pull.body2];
  while (dof1 != dof2) {
    const bool second = dof2 > dof1;
    const int i = second ? dof2 : dof1;
    const Spatial<S> axis = load6(e.cdof, i);
    const S pushed = dot(pull.force, velocity_at(axis, second ? pull.r2 : pull.r1));
    const S turned = dot(second ? pull.torque2 : pull.torque1, axis.a);
    for (int x = adr; x < end; ++x)
      if (m.moment_dof[x] == i) e.moment[x] = second ? turned + pushed : turned - pushed;
    if (second)
      dof2 = m.dof_parentid[i];
    else
      dof1 = m.dof_parentid[i];
  }
  e.act_length[a] = pull.length;
}

template <class S>
STICTION_FN void parent_axes(const ModelView& m, EnvView<S>& e, int a) {
  const int j = m.actuator_trnid[a], adr = m.coord_momentadr[m.nv + a];
  const bool free = static_cast<JointType>(m.jnt_type[j]) == JointType::free;
  const Quat<Wide<S>> q = normalized(load4(e.qpos + m.jnt_qposadr[j] + (free ? 3 : 0), 0));
  const Vec3<S> gear = load3(e.actuator_gear, 2 * a + (free ? 1 : 0));
  const Vec3<S> axis = transposed(narrow_axes<S>(q), gear);
  if (free) store3(e.moment + adr, 0, load3(e.actuator_gear, 2 * a));
  store3(e.moment + adr, free ? 1 : 0, axis);
  e.act_length[a] = free ? S(0.0) : dot(gear, narrow3<S>(log_quat(q)));
}

template <class Team, class S>
STICTION_FN void site_drives(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.nsitedrive == 0) return;
  team.for_each(m.nu, [&](int a) {
    switch (static_cast<Transmission>(m.actuator_trntype[a])) {
      case Transmission::joint:
      case Transmission::tendon: break;
      case Transmission::body: e.act_length[a] = S(0.0); break;
      case Transmission::jointinparent: parent_axes(m, e, a); break;
      case Transmission::slidercrank: pull_arm(m, e, a, slidercrank_pull(m, e, a)); break;
      case Transmission::site: pull_arm(m, e, a, site_pull(m, e, a)); break;
    }
  });
}

STICTION_PHYSICS_END

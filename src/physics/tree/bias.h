// Velocities of the bodies, and the bias force: the generalized force for which qacc = 0.
//
// reads   cdof, cinert, xoff, qvel, gravity, mocap_twist; xpos, mocap_xvel
// writes  bias: cvel0, cacc, cfrc, qfrc_bias; velocities: xvel
//
//   V_b = V_parent + Σ S_i v_i
//   C_b = C_parent + Σ V × S_i v_i    V before the joint; without gravity
//   f_b = I_b (C_b - (0, g)) + V_b ×* I_b V_b + Σ f_child
//   bias_i = S_i · f_b
#pragma once

#include "physics/tree/inertia.h"
#include "physics/tree/velocity.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

// Propagates the velocity v and the acceleration c through joint j, from parent to child. The axes of a
// free joint's rotation are fixed in a body that already translates: (0, v) × (ω, 0) = (0, v × ω).
template <class S>
STICTION_FN void joint_acceleration(const ModelView& m, const EnvView<S>& e, int j, Spatial<S>& v,
                                    Spatial<S>& c) {
  const auto add = [&](int dof, int n) {
    const Spatial<S> u = dof_motion(m, e, e.qvel, dof, n);
    c = c + cross_motion(v, u);
    v = v + u;
  };
  const int dof = m.jnt_dofadr[j];
  switch (static_cast<JointType>(m.jnt_type[j])) {
    case JointType::free: add(dof, 3), add(dof + 3, 3); break;
    case JointType::ball: add(dof, 3); break;
    case JointType::slide:
    case JointType::hinge: add(dof, 1); break;
  }
}

template <class S>
STICTION_FN void body_bias(const ModelView& m, EnvView<S>& e, int b) {
  const int parent = m.body_parentid[b];
  Spatial<S> v = parent_velocity(m, e, e.mocap_twist, e.cvel0, b), c = load6(e.cacc, parent);
  // a frame whose origin has constant velocity v: a = −ω × v
  if (m.nmocapstate > 0 && m.body_mocapid[b] >= 0) {
    const Spatial<S> twist = load6(e.mocap_twist, m.body_mocapid[b]);
    c.l = -cross(twist.a, twist.l);
  }
  for (int k = 0; k < m.body_jntnum[b]; ++k) joint_acceleration(m, e, m.body_jntadr[b] + k, v, c);
  store6(e.cvel0, b, v);
  store6(e.cacc, b, c);

  const Inertia<S> inertia = load_inertia(e.cinert, b);
  const Spatial<S> relative = {c.a, c.l - load3(e.gravity, 0)};
  store6(e.cfrc, b, inertia * relative + cross_force(v, inertia * v));
}

// Accumulates f_b += Σ f_child from the leaves to the root; bodies that cannot move accumulate nothing.
template <class Team, class S>
STICTION_FN void gather_forces(const Team& team, const ModelView& m, S* force) {
  for (int l = m.nlevel - 2; l > 0; --l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int i) {
      const int b = m.level_body[first + i];
      const int begin = m.child_adr[b], end = m.child_adr[b + 1];
      if (m.body_treeid[b] < 0 || begin == end) return;
      Spatial<S> f = load6(force, b);
      for (int c = begin; c < end; ++c) f = f + load6(force, m.child_body[c]);
      store6(force, b, f);
    });
  }
}

template <class Team, class S>
STICTION_FN void bias(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.once([&] {
    store6(e.cvel0, 0, zero6<S>());
    store6(e.cacc, 0, zero6<S>());
    store6(e.cfrc, 0, zero6<S>());
  });
  for (int l = 1; l < m.nlevel; ++l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first,
                  [&](int i) { body_bias(m, e, m.level_body[first + i]); });
  }
  gather_forces(team, m, e.cfrc);
  team.for_each(m.nv, [&](int i) {
    e.qfrc_bias[i] = dot(load6_aligned(e.cdof, i), load6(e.cfrc, m.dof_bodyid[i]));
  });
}

// Writes xvel: (ω, v_O + ω × (x - O)), the linear velocity being that of the frame's origin.
template <class Team, class S>
STICTION_FN void velocities(const Team& team, const ModelView& m, EnvView<S>& e) {
  body_velocities(team, m, e, e.mocap_xvel, e.qvel, e.xvel);
  team.for_each(m.nbody, [&](int b) {
    const Spatial<S> v = load6(e.xvel, b);
    Vec3<S> r = load3(e.xoff, b);
    if (is_carried(m, b) && m.body_treeid[b] < 0)
      r = narrow3<S>(load3(e.xpos, b) - tree_origin(m, e, b));
    store6(e.xvel, b, Spatial<S>{v.a, velocity_at(v, r)});
  });
}

STICTION_PHYSICS_END

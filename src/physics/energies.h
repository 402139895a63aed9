// Energies of the present state, from poses and velocities of the bodies.
//
//   T = ½ Σ (m v² + ω · I ω) + ½ Σ armature q̇²
//   U = −Σ m g · c + ½ Σ k |q ⊖ q_s|²           armature and springs of tendons with their lengths
#pragma once

#include "physics/functions.h"
#include "physics/sensor_subtree.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN Vec3<Wide<S>> widen3(const Vec3<S>& v) {
  return {widen(v.x), widen(v.y), widen(v.z)};
}

template <class S>
STICTION_FN S squared_deflection(const ModelView& m, const EnvView<S>& e, int j) {
  const int adr = m.jnt_qposadr[j];
  const Wide<S>*q = e.qpos + adr, *rest = e.qpos_spring + adr;
  switch (static_cast<JointType>(m.jnt_type[j])) {
    case JointType::free:
      return norm2(narrow3<S>(load3(q, 0) - load3(rest, 0))) +
             norm2(rotation_between<S>(rest + 3, q + 3));
    case JointType::ball: return norm2(rotation_between<S>(rest, q));
    case JointType::slide:
    case JointType::hinge: break;
  }
  const S d = narrow<S>(q[0] - rest[0]);
  return d * d;
}

// `all`: of bodies that never move, too.
template <class S>
STICTION_FN Wide<S> potential_energy(const ModelView& m, const EnvView<S>& e, bool all = false) {
  using W = Wide<S>;
  const Vec3<W> gravity = widen3(load3(e.gravity, 0));
  W u = W(0.0);
  for (int b = 1; b < m.nbody; ++b)
    if (all || m.body_treeid[b] >= 0) u = u - widen(e.body_mass[b]) * dot(gravity, body_com(e, b));
  for (int j = 0; j < m.njnt; ++j)
    if (any_lane(e.jnt_stiffness[j] != S(0.0)))
      u = u + widen(S(0.5) * e.jnt_stiffness[j] * squared_deflection(m, e, j));
  for (int t = 0; t < m.ntendon; ++t) {
    const W* const rest = e.tendon_lengthspring + 2 * t;
    const W x = e.ten_length[t] - clamp(e.ten_length[t], rest[0], rest[1]);
    u = u + W(0.5) * widen(e.tendon_stiffness[t]) * (x * x);
  }
  return u;
}

// Of xpos, xquat and xvel; the kinetic energy of quantities.h takes the spatial inertias of a step.
template <class S>
STICTION_FN Wide<S> motion_energy(const ModelView& m, const EnvView<S>& e) {
  using W = Wide<S>;
  W twice = W(0.0);
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_treeid[b] < 0) continue;
    const Vec3<S> v = point_velocity(e, b, body_com(e, b)), w = load6(e.xvel, b).a;
    twice = twice + widen(e.body_mass[b] * dot(v, v) + dot(w, inertia_times(e, b, w)));
  }
  for (int i = 0; i < m.nv; ++i) twice = twice + widen(e.dof_armature[i] * (e.qvel[i] * e.qvel[i]));
  for (int t = 0; t < m.ntendon; ++t)
    twice = twice + widen(e.tendon_armature[t] * (e.ten_velocity[t] * e.ten_velocity[t]));
  return W(0.5) * twice;
}

STICTION_PHYSICS_END

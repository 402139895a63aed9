// Energies of the current state, from poses and velocities of the bodies.
//
//   T = ½ Σ (m v² + ω · I ω) + ½ Σ armature q̇²
//   U = −Σ m g · c + ½ Σ k |q ⊖ q_s|²           tendons likewise: armature and springs, with their lengths;
//                                              polynomial springs: ∫ x c(x) dx
#pragma once

#include "physics/base/functions.h"
#include "physics/tree/springs.h"
#include "physics/tree/subtrees.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN S spring_energy(const ModelView& m, const EnvView<S>& e, int j) {
  const S stiffness = e.jnt_stiffness[j];
  const bool free = static_cast<JointType>(m.jnt_type[j]) == JointType::free;
  const Vec3<S> d = deflection(m, e, j, false);
  const double* const c = m.jnt_stiffnesspoly + 2 * j;
  if (is_curved(m, c)) {
    const S u = polynomial_energy(stiffness, c, stretch_of(m, j, d));
    return free ? u + polynomial_energy(stiffness, c, norm(deflection(m, e, j, true))) : u;
  }
  const S squared = has_one_dof(m, j) ? d.x * d.x : norm2(d);
  return S(0.5) * stiffness * (free ? squared + norm2(deflection(m, e, j, true)) : squared);
}

// `all`: include bodies that never move.
template <class S>
STICTION_FN Wide<S> potential_energy(const ModelView& m, const EnvView<S>& e, bool all = false) {
  using W = Wide<S>;
  const Vec3<W> gravity = widen3(load3(e.gravity, 0));
  W u = W(0.0);
  for (int b = 1; b < m.nbody; ++b)
    if (all || m.body_treeid[b] >= 0) u = u - widen(e.body_mass[b]) * dot(gravity, body_com(e, b));
  for (int j = 0; j < m.njnt; ++j)
    if (any_lane(e.jnt_stiffness[j] != S(0.0)) || is_curved(m, m.jnt_stiffnesspoly + 2 * j))
      u = u + widen(spring_energy(m, e, j));
  for (int t = 0; t < m.ntendon; ++t) {
    const W* const rest = e.tendon_lengthspring + 2 * t;
    const W x = e.ten_length[t] - clamp(e.ten_length[t], rest[0], rest[1]);
    const double* const c = m.tendon_stiffnesspoly + 2 * t;
    const W stiffness = widen(e.tendon_stiffness[t]);
    if (is_curved(m, c))
      u = u + polynomial_energy(stiffness, c, x);
    else
      u = u + W(0.5) * stiffness * (x * x);
  }
  return u;
}

// Kinetic energy from xpos, xquat and xvel; that of quantities.h uses the spatial inertias of a step.
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

// Springs and dampers of joints: force −x c(x), c(x) = k + c1 x + c2 x²; of dampers −v d(|v|). Where c and d restore or
// brake they are implicit, as coefficients of a linear force, so that a stiffening spring never overshoots.
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN S polynomial(const S& linear, const double* c, const S& x) {
  return linear + x * (S(c[0]) + S(c[1]) * x);
}
// Returns ∫ x c(x) dx from 0.
template <class S>
STICTION_FN S polynomial_energy(const S& linear, const double* c, const S& x) {
  return x * x * (S(0.5) * linear + x * (S(c[0] / 3) + S(0.25 * c[1]) * x));
}
STICTION_FN bool is_curved(const ModelView& m, const double* c) {
  return m.ncurved > 0 && (c[0] != 0 || c[1] != 0);
}

// Returns the rotation vector that takes q0 to q, in the axes of q0.
template <class S>
STICTION_FN Vec3<S> rotation_between(const Wide<S>* q0, const Wide<S>* q) {
  return narrow3<S>(log_quat(conjugate(normalized(load4(q0, 0))) * normalized(load4(q, 0))));
}

// Returns the deflection of joint j: with one dof its signed length, in x. `rotation`: rotational part of a free joint.
template <class S>
STICTION_FN Vec3<S> deflection(const ModelView& m, const EnvView<S>& e, int j, bool rotation) {
  const Wide<S>*q = e.qpos + m.jnt_qposadr[j], *rest = e.qpos_spring + m.jnt_qposadr[j];
  switch (static_cast<JointType>(m.jnt_type[j])) {
    case JointType::free:
      if (rotation) return rotation_between<S>(rest + 3, q + 3);
      return narrow3<S>(load3(q, 0) - load3(rest, 0));
    case JointType::ball: return rotation_between<S>(rest, q);
    case JointType::slide:
    case JointType::hinge: break;
  }
  return {narrow<S>(q[0] - rest[0]), S(0.0), S(0.0)};
}
STICTION_FN bool has_one_dof(const ModelView& m, int j) {
  const auto type = static_cast<JointType>(m.jnt_type[j]);
  return type == JointType::slide || type == JointType::hinge;
}
template <class S>
STICTION_FN S stretch_of(const ModelView& m, int j, const Vec3<S>& d) {
  return has_one_dof(m, j) ? d.x : norm(d);
}

// Returns c of joint j; `rotation`: of the rotational part of a free joint.
template <class S>
STICTION_FN S spring_coefficient(const ModelView& m, const EnvView<S>& e, int j, bool rotation) {
  const double* const c = m.jnt_stiffnesspoly + 2 * j;
  if (!is_curved(m, c)) return e.jnt_stiffness[j];
  return polynomial(e.jnt_stiffness[j], c, stretch_of(m, j, deflection(m, e, j, rotation)));
}
template <class S>
STICTION_FN S damper_coefficient(const ModelView& m, const EnvView<S>& e, int i) {
  const double* const c = m.dof_dampingpoly + 2 * i;
  if (!is_curved(m, c)) return e.dof_damping[i];
  return polynomial(e.dof_damping[i], c, vabs(e.qvel[i]));
}
// Returns δt D + δt² K of dof i.
template <class S>
STICTION_FN S implicit_resistance(const ModelView& m, const EnvView<S>& e, int i) {
  const int j = m.dof_jntid[i];
  const S dt = S(m.opt.timestep), zero = S(0.0);
  if (m.ncurved == 0) return dt * (e.dof_damping[i] + dt * e.jnt_stiffness[j]);
  const S k = spring_coefficient(m, e, j, i - m.jnt_dofadr[j] >= 3);
  return dt * (vmax(damper_coefficient(m, e, i), zero) + dt * vmax(k, zero));
}

// Returns armature + δt D + δt² K of the three rotational dofs, from `dof` on, of a ball or free joint.
template <class S>
STICTION_FN Vec3<S> rotor_inertia(const ModelView& m, const EnvView<S>& e, int j, int dof,
                                  bool free) {
  const S dt = S(m.opt.timestep);
  S stiffness = e.jnt_stiffness[j];
  Vec3<S> damping = load3(e.dof_damping + dof, 0);
  if (m.ncurved > 0) {
    const auto drag = [&](int i) { return vmax(damper_coefficient(m, e, i), S(0.0)); };
    stiffness = vmax(spring_coefficient(m, e, j, free), S(0.0));
    damping = {drag(dof), drag(dof + 1), drag(dof + 2)};
  }
  const S spring = dt * dt * stiffness;
  return load3(e.dof_armature + dof, 0) + dt * damping + Vec3<S>{spring, spring, spring};
}

STICTION_PHYSICS_END

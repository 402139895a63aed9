// Gravity compensation carried by the actuators, on joints with actuatorgravcomp; a part of actuation.h.
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

// Returns the lanes in which the feedback of the actuator is restoring.
template <class S>
STICTION_FN Mask<S> is_servo(const EnvView<S>& e, int a) {
  return e.act_law[3 * a + 1] < S(0.0) || e.act_law[3 * a + 2] < S(0.0);
}

// Returns the gravity compensated on dof i: S_i · Σ [c × f; f], f = −share m g at the centres of mass of the subtree.
template <class S>
STICTION_FN S compensated_gravity(const ModelView& m, const EnvView<S>& e, int i) {
  const Spatial<S> axis = load6(e.cdof, i);
  S total = S(0.0);
  for (int b = m.dof_bodyid[i]; b < m.body_end[m.dof_bodyid[i]]; ++b) {
    const S lifted = e.body_gravcomp[b] * e.body_mass[b];
    total = total - lifted * dot(load3(e.gravity, 0), velocity_at(axis, load3(e.xioff, b)));
  }
  return total;
}

// Where a servo alone drives the joint of dof i, the bounds of its row implement actuatorfrcrange.
template <class S>
STICTION_FN Mask<S> is_bounded_by_row(const ModelView& m, const EnvView<S>& e, int i) {
  Mask<S> servo = no_lanes<S>();
  for (int n = m.dof_momentadr[i]; n < m.dof_momentadr[i + 1]; ++n) {
    const int a = m.moment_coord[m.dof_moment[n]] - m.nv;
    if (a < m.nu && m.actuator_bounded[a] != 0) servo = servo || is_servo(e, a);
  }
  return servo;
}

// Returns f clamped to actuatorfrcrange of the joint of dof i.
template <class S>
STICTION_FN S within_range(const ModelView& m, const EnvView<S>& e, int i, S f) {
  const int j = m.dof_jntid[i];
  if (m.jnt_actfrclimited[j] == 0) return f;
  return select(is_bounded_by_row(m, e, i), f,
                clamp(f, e.jnt_actfrcrange[2 * j], e.jnt_actfrcrange[2 * j + 1]));
}

// Adds to f, the explicit actuators on the joint of dof i, the gravity that they compensate.
template <class S>
STICTION_FN S lifting_actuation(const ModelView& m, EnvView<S>& e, int i, S f) {
  const bool lifts = m.jnt_actgravcomp[m.dof_jntid[i]] != 0;
  e.qfrc_lift[i] = lifts ? compensated_gravity(m, e, i) : S(0.0);
  return within_range(m, e, i, f + e.qfrc_lift[i]);
}

STICTION_PHYSICS_END

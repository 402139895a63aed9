// Compensated gravity that is part of the actuators' force, on joints with actuatorgravcomp; a part of actuation.h.
#pragma once

#include "physics/vec.h"
#include "physics/views.h"

STICTION_PHYSICS_BEGIN

// Feedback that pulls back.
template <class S>
STICTION_FN Mask<S> is_servo(const EnvView<S>& e, int a) {
  return e.act_law[3 * a + 1] < S(0.0) || e.act_law[3 * a + 2] < S(0.0);
}

// Gravity that is compensated on dof i: S_i · Σ [c × f; f], f = −share m g at the centres of the subtree.
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

// f, explicit actuators on the joint of dof i, and the gravity that they compensate, within actuatorfrcrange. Where a
// servo acts the bounds of its row do that.
template <class S>
STICTION_FN S lifting_actuation(const ModelView& m, EnvView<S>& e, int i, S f) {
  e.qfrc_lift[i] = S(0.0);
  const int j = m.dof_jntid[i];
  const bool lifts = m.jnt_actgravcomp[j] != 0;
  if (lifts) e.qfrc_lift[i] = compensated_gravity(m, e, i);
  const S total = f + e.qfrc_lift[i];
  if (m.jnt_actfrclimited[j] == 0) return total;
  Mask<S> servo = no_lanes<S>();
  for (int n = m.dof_momentadr[i]; n < m.dof_momentadr[i + 1]; ++n) {
    const int a = m.moment_coord[m.dof_moment[n]] - m.nv;
    if (lifts && a < m.nu && m.actuator_bounded[a] != 0) servo = servo || is_servo(e, a);
  }
  return select(servo, total, clamp(total, e.jnt_actfrcrange[2 * j], e.jnt_actfrcrange[2 * j + 1]));
}

STICTION_PHYSICS_END

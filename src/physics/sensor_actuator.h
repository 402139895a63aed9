// Forces of single actuators.
#pragma once

#include "physics/actuation.h"

STICTION_PHYSICS_BEGIN

// Force of the last interval: (gain ctrl + bias) · (1, l, l') at its start, within forcerange; a
// servo's at its end, clamp(f0 − κ l').
template <class S>
STICTION_FN S force_of_actuator(const ModelView& m, const EnvView<S>& e, int a) {
  const Vec3<S> law = load3(e.act_law, a);
  S force = dot(law, Vec3<S>{S(1.0), e.act_length[a], e.act_velocity[a]});
  if (m.actuator_forcelimited[a])
    force = clamp(force, e.actuator_forcerange[2 * a], e.actuator_forcerange[2 * a + 1]);
  if (!m.actuator_mayservo[a]) return force;
  const S kappa = e.servo_kappa[a], end = actuator_velocity<S>(m, e, a, e.v);
  const S servo = clamp(e.servo_force0[a] - kappa * end, e.servo_lower[a], e.servo_upper[a]);
  return select(kappa > S(0.0), servo, force);
}

STICTION_PHYSICS_END

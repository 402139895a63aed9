// Forces of individual actuators.
#pragma once

#include "physics/actuation/actuation.h"
#include "physics/law/row_law.h"

STICTION_PHYSICS_BEGIN

// Returns the force of the last interval: (gain ctrl + bias) · (1, l, l') at its start, clamped to forcerange;
// that of a servo at the end of the interval, from the impulse of its row.
template <class S>
STICTION_FN S force_of_actuator(const ModelView& m, const EnvView<S>& e, int a) {
  const Vec3<S> law = load3(e.act_law, a);
  S force = dot(law, Vec3<S>{S(1.0), e.act_length[a], e.act_velocity[a]});
  if (m.actuator_forcelimited[a])
    force = clamp(force, e.actuator_forcerange[2 * a], e.actuator_forcerange[2 * a + 1]);
  force = tendon_share(m, e, a) * force;
  if (!m.actuator_mayservo[a]) return force;
  const BoundedLaw<S> row = load_bounded(e, m.coord_rowadr[m.nv + a]);
  const S impulse = row_law(row, actuator_velocity<S>(m, e, a, e.v)).impulse;
  return select(row.inv_R > S(0.0), S(m.opt.step_rate) * impulse, force);
}

STICTION_PHYSICS_END

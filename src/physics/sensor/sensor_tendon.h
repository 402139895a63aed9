// Limits of tendons, and the actuators that pull them.
#pragma once

#include "physics/sensor/sensor_actuator.h"
#include "physics/solver/rows.h"

STICTION_PHYSICS_BEGIN

// How far a tendon is beyond its limit, and the rate at which that gap opens; both 0 within the range.
template <class S>
struct LimitReading {
  S gap, rate;
};
template <class S>
STICTION_FN LimitReading<S> tendon_limit(const ModelView& m, const EnvView<S>& e, int t) {
  const S zero = S(0.0), v = e.ten_velocity[t];
  if (m.tendon_limitrow[t] < 0) return {zero, zero};
  const Gaps<S> gaps = tendon_gaps(e, t);
  const Mask<S> below = gaps.below < zero, above = !below && gaps.above < zero;
  return {select(below, gaps.below, select(above, gaps.above, zero)),
          select(below, v, select(above, -v, zero))};
}

// Returns the force of the limit in the last interval, positive at either limit.
template <class S>
STICTION_FN S tendon_limit_force(const ModelView& m, const EnvView<S>& e, int t) {
  const int row = m.tendon_limitrow[t], c = m.nv + m.nu + t;
  if (row < 0) return S(0.0);
  return S(m.opt.step_rate) * row_load(load_limits(e, row), coordinate_velocity(m, e, c, e.v));
}

// Returns the sum of the forces of the actuators on tendon t, before their gears.
template <class S>
STICTION_FN S actuation_of_tendon(const ModelView& m, const EnvView<S>& e, int t) {
  S sum = S(0.0);
  for (int a = 0; a < m.nu; ++a)
    if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::tendon &&
        m.actuator_trnid[a] == t)
      sum = sum + force_of_actuator(m, e, a);
  return sum;
}

STICTION_PHYSICS_END

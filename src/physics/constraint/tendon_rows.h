// Rows of the tendons: limits, the spring with its dead band, drag, dry friction. Spring and damper are implicit and
// armature is inertia of the tendon's length, as for joints; being rows, they couple the dofs that the tendon couples
// and leave A unchanged.
//
//   limits        as for joints (limits.h)
//   spring        −k (l_0 + δt v − l_lower) below the band, likewise above:  a row of limits with R = 1/(δt² k)
//   drag          −d v and −a (v + δt ṁ·v_0 − v_0)/δt, d damping, a armature (tendon_bias.h):
//                 1/R = δt d + a, v̂ = a (v_0 − δt ṁ·v_0) R
//   dry friction  as for joints, R = σ w
#pragma once

#include "physics/actuation/tendon_bias.h"
#include "physics/constraint/limits.h"
#include "physics/constraint/servos.h"
#include "physics/tree/springs.h"

STICTION_PHYSICS_BEGIN

// Returns c(x) at the start of the step where it is restoring or braking, else 0 (springs.h).
template <class S>
STICTION_FN S tendon_stiffness(const ModelView& m, const EnvView<S>& e, int t) {
  const double* const c = m.tendon_stiffnesspoly + 2 * t;
  if (!is_curved(m, c)) return e.tendon_stiffness[t];
  const Wide<S>*const rest = e.tendon_lengthspring + 2 * t, length = e.ten_length[t];
  const S x = narrow<S>(length - clamp(length, rest[0], rest[1]));
  return vmax(polynomial(e.tendon_stiffness[t], c, x), S(0.0));
}
template <class S>
STICTION_FN S tendon_damping(const ModelView& m, const EnvView<S>& e, int t) {
  const double* const c = m.tendon_dampingpoly + 2 * t;
  if (!is_curved(m, c)) return e.tendon_damping[t];
  return vmax(polynomial(e.tendon_damping[t], c, vabs(e.ten_velocity[t])), S(0.0));
}

template <class S>
STICTION_FN LimitLaw<S> tendon_spring(const ModelView& m, const EnvView<S>& e, int t) {
  const double dt = m.opt.timestep;
  const Wide<S> length = e.ten_length[t], rate = Wide<S>(1 / dt);
  return {narrow<S>(rate * (e.tendon_lengthspring[2 * t] - length)),
          S(dt * dt) * tendon_stiffness(m, e, t),
          narrow<S>(rate * (length - e.tendon_lengthspring[2 * t + 1]))};
}

template <Drives can, class S>
STICTION_FN BoundedLaw<S> tendon_drag(const ModelView& m, const EnvView<S>& e, int t) {
  const S inf = S(std::numeric_limits<double>::infinity()), armature = e.tendon_armature[t];
  const S inv_R = S(m.opt.timestep) * tendon_damping(m, e, t) + armature;
  const Mask<S> drags = inv_R > S(0.0);
  S rate = e.ten_velocity[t];
  if constexpr (can >= Drives::strings)
    if (m.tendon_fixed[t] == 0 && any_lane(armature > S(0.0)))
      rate = rate - S(m.opt.timestep) * tendon_bias(m, e, t);
  const S v_hat = armature * rate / select(drags, inv_R, S(1.0));
  return {v_hat, inv_R, -inf, inf};
}

template <class S>
STICTION_FN Gaps<S> tendon_gaps(const EnvView<S>& e, int t) {
  const Wide<S> length = e.ten_length[t], margin = e.tendon_margin[t];
  return {narrow<S>(length - e.tendon_range[2 * t] - margin),
          narrow<S>(e.tendon_range[2 * t + 1] - margin - length)};
}

// `impulse(i)`: impulse of all other forces on dof i in this step.
template <class S, class P>
STICTION_FN LimitLaw<S> tendon_limits(const ModelView& m, const EnvView<S>& e, int t,
                                      const P& impulse) {
  const S depth = S(kLimitDepth) * narrow<S>(e.tendon_range[2 * t + 1] - e.tendon_range[2 * t]);
  return length_limits(m, e, m.nv + m.nu + t, tendon_gaps(e, t), e.tendon_solref + 2 * t, depth,
                       e.ten_velocity[t], impulse);
}

template <class S>
STICTION_FN BoundedLaw<S> tendon_friction(const ModelView& m, const EnvView<S>& e, int t) {
  return friction_law(m, e, m.nv + t, e.tendon_frictionloss[t],
                      moment_delassus(m, e, m.nv + m.nu + t));
}

STICTION_PHYSICS_END

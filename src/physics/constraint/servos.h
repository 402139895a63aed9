// Rows of the servos: actuators with restoring feedback. Their coordinate is the actuator's length.
//   ũ(v) = −Kp (l0 + δt v − l_d) − Kd (v − v_d)
// is implicit, and softened together with its set points; the rest of the force is explicit.
#pragma once

#include "physics/law/row_law.h"
#include "physics/tree/delassus.h"

STICTION_PHYSICS_BEGIN

// Returns Σ inv_diag m_i p_i over the moment arm m of coordinate c; p(x, i): the factor of its entry x, on dof i.
template <class S, class P>
STICTION_FN S moment_product(const ModelView& m, const EnvView<S>& e, int c, const P& p) {
  return inverse_product<S>(
      m, e, m.coord_momentadr[c], m.coord_momentadr[c + 1], m.moment_dof,
      [&](int x, int) { return e.moment[x]; }, p);
}
// Returns w = Σ inv_diag m².
template <class S>
STICTION_FN S moment_delassus(const ModelView& m, const EnvView<S>& e, int c) {
  return moment_product<S>(m, e, c, [&](int x, int) { return e.moment[x]; });
}

// Bounds of the actuator's own force: forcerange, and actuatorfrcrange of a joint or tendon that it alone drives.
// The range of a tendon bounds the force before the gear; that of a joint the force plus the gravity compensation.
template <class S>
struct ForceRange {
  S lower, upper;
};
template <Drives can, class S>
STICTION_FN ForceRange<S> servo_bounds(const ModelView& m, const EnvView<S>& e, int a) {
  const S inf = S(std::numeric_limits<double>::infinity());
  ForceRange<S> force = {-inf, inf};
  if (m.actuator_forcelimited[a] != 0)
    force = {e.actuator_forcerange[2 * a], e.actuator_forcerange[2 * a + 1]};
  if (m.actuator_bounded[a] == 0) return force;
  const int j = m.actuator_trnid[a];
  if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::tendon) {
    const S lo = e.tendon_actfrcrange[2 * j], hi = e.tendon_actfrcrange[2 * j + 1];
    return {clamp(force.lower, lo, hi), clamp(force.upper, lo, hi)};
  }
  const S gear = e.actuator_gear[6 * a];
  const Mask<S> geared = gear != S(0.0);
  const S inv = S(1.0) / select(geared, gear, S(1.0));
  S x = inv * e.jnt_actfrcrange[2 * j], y = inv * e.jnt_actfrcrange[2 * j + 1];
  if constexpr (can == Drives::states)
    if (m.nliftdof > 0) {
      const S lift = inv * e.qfrc_lift[m.jnt_dofadr[j]];
      x = x - lift, y = y - lift;
    }
  const S lo = vmin(x, y), hi = vmax(x, y);
  return {select(geared, clamp(force.lower, lo, hi), force.lower),
          select(geared, clamp(force.upper, lo, hi), force.upper)};
}

// Returns the factor that softens a servo to 1/(δt κ) >= β²/4π² w; 1 if it is soft enough.
template <class S>
STICTION_FN S servo_softening(S dt, S kappa, S w) {
  const S stiffness = dt * kappa * (S(kRowNearRigid) * w);
  return select(stiffness > S(1.0), S(1.0) / stiffness, S(1.0));
}

// f = f_0 − κ v. κ is at least a negligible value, δt κ w = ε², so that f_0/κ is finite.
template <Drives can, class S>
STICTION_FN BoundedLaw<S> servo_of(const ModelView& m, const EnvView<S>& e, int a) {
  const S dt = S(m.opt.timestep), zero = S(0.0), one = S(1.0);
  const S *law = e.act_law + 3 * a, length = e.act_length[a], velocity = e.act_velocity[a];
  const S kp = vmax(-law[1], zero), kd = vmax(-law[2], zero);
  const S w = moment_delassus(m, e, m.nv + a);  // 0 if the actuator moves nothing
  const Mask<S> servo = kp + kd > zero && w > zero;
  const S soft = servo_softening(dt, dt * kp + kd, w);
  const S explicit_part = vmax(law[1], zero) * length + vmax(law[2], zero) * velocity;
  const S force0 = soft * law[0] + explicit_part - (soft * kp) * length;
  const S least = S(epsilon<S>() * epsilon<S>()) / (dt * select(servo, w, one));
  const S kappa = vmax(soft * (dt * kp + kd), least);
  const ForceRange<S> force = servo_bounds<can>(m, e, a);
  const auto if_servo = [&](S x) { return select(servo, x, zero); };
  return {if_servo(force0 / kappa), if_servo(dt * kappa), if_servo(dt * force.lower),
          if_servo(dt * force.upper)};
}

STICTION_PHYSICS_END

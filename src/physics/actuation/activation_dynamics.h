// Activations of the stateful actuators at the end of the step.
//
// activation_dynamics  in   act, ctrl; actuator_ctrlrange, actuator_dynprm, actuator_actrange
//                      out  act_next
//
//   integrator    ȧ = u                        a + δt u
//   filter        ȧ = (u − a)/τ                a + δt ȧ
//   filterexact   the same                     a + (1 − exp(−δt/τ)) (u − a)
//   muscle        ȧ = (u − a)/τ(u − a, a)      a + δt ȧ,  u in [0, 1]
//
// then clamped to actrange. The force of a step uses `act`; that of an actuator with actearly uses `act_next`.
#pragma once

#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN S finite_or_zero(const S& x) {
  return select(is_finite(x), x, S(0.0));
}

// Returns the control clamped to ctrlrange; a control that is not finite counts as zero.
template <class S>
STICTION_FN S clamped_control(const ModelView& m, const EnvView<S>& e, int a) {
  const S u = finite_or_zero(e.ctrl[a]);
  if (m.actuator_ctrllimited[a] == 0) return u;
  return clamp(u, e.actuator_ctrlrange[2 * a], e.actuator_ctrlrange[2 * a + 1]);
}

// Returns 1 − exp(−x), x >= 0, to a few ulp. With E(x) = exp(−x) − 1 the recurrence E(2x) = E(x) (2 + E(x)) loses no
// digits; it starts at x/256. Beyond x = 40 the result is 1.
template <class W>
STICTION_FN W one_minus_exp(const W& x) {
  constexpr int kDoublings = 8, kTerms = 11;
  const W r = -vmin(x, W(40.0)) / W(256.0);
  W E = W(0.0);
  STICTION_ROLLED
  for (int n = kTerms; n > 0; --n) E = r / W(n) * (W(1.0) + E);
  STICTION_ROLLED
  for (int k = 0; k < kDoublings; ++k) E = E * (W(2.0) + E);
  return -E;
}

// A quintic step from 0 to 1 with zero slope and curvature at both ends.
template <class W>
STICTION_FN W smooth_step(const W& at) {
  const W x = clamp(at, W(0.0), W(1.0));
  return x * x * x * (W(10.0) + x * (W(6.0) * x - W(15.0)));
}

// Returns (u − a)/τ: activating an active muscle takes longer, and so does deactivating an inactive one; between
// activation and deactivation τ changes over the width p[2].
template <class S>
STICTION_FN Wide<S> muscle_rate(const S* p, const Wide<S>& control, const Wide<S>& act) {
  using W = Wide<S>;
  const W zero = W(0.0), one = W(1.0), u = clamp(control, zero, one);
  const W h = W(0.5) + W(1.5) * clamp(act, zero, one), width = widen(p[2]), change = u - act;
  const W activation = widen(p[0]) * h, deactivation = widen(p[1]) / h;
  const Mask<W> smooth = width > zero;
  const W sharp = select(change > zero, one, zero);
  const W share = select(smooth, smooth_step(change / select(smooth, width, one) + W(0.5)), sharp);
  return change / (deactivation + (activation - deactivation) * share);
}

template <class S>
STICTION_FN Wide<S> next_activation(const ModelView& m, const EnvView<S>& e, int a) {
  using W = Wide<S>;
  const W act = e.act[m.actuator_actadr[a]], u = widen(clamped_control(m, e, a));
  const W dt = W(m.opt.timestep);
  const S* const p = e.actuator_dynprm + 3 * a;
  W next = act;
  switch (static_cast<ActuatorDynamics>(m.actuator_dyntype[a])) {
    case ActuatorDynamics::none: break;
    case ActuatorDynamics::integrator: next = act + dt * u; break;
    case ActuatorDynamics::filter: next = act + dt * ((u - act) / widen(p[0])); break;
    case ActuatorDynamics::filterexact: {
      const W tau = widen(p[0]);  // 0: no filter, act = u
      const Mask<W> filters = tau > W(0.0);
      const W share = one_minus_exp(dt / select(filters, tau, W(1.0)));
      next = select(filters, act + share * (u - act), u);
      break;
    }
    case ActuatorDynamics::muscle: next = act + dt * muscle_rate(p, u, act); break;
  }
  if (m.actuator_actlimited[a] == 0) return next;
  return clamp(next, widen(e.actuator_actrange[2 * a]), widen(e.actuator_actrange[2 * a + 1]));
}

template <class Team, class S>
STICTION_FN void activation_dynamics(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.na == 0) return;
  team.for_each(m.nu, [&](int a) {
    if (m.actuator_actadr[a] >= 0) e.act_next[m.actuator_actadr[a]] = next_activation(m, e, a);
  });
}

STICTION_PHYSICS_END

#include "reference/actuation/muscle.h"

#include <algorithm>
#include <cmath>

namespace stiction::reference::inline STICTION_REAL {
namespace {

// The value of a function and its derivative.
struct Curve {
  Real value = 0, slope = 0;
};

struct Muscle {
  double range0, range1, force, scale, lmin, lmax, vmax, fpmax, fvmax;
};

// A bump of four parabolas: 0 at lmin and lmax, 1 at 1.
Curve active_length(const Muscle& p, Real L) {
  const double a = 0.5 * (p.lmin + 1), b = 0.5 * (1 + p.lmax);
  if (L < p.lmin || L > p.lmax) return {};
  if (L <= a) {
    const double w = a - p.lmin;
    return {0.5 * (L - p.lmin) * (L - p.lmin) / (w * w), (L - p.lmin) / (w * w)};
  }
  if (L <= b) {
    const double w = L <= 1 ? 1 - a : b - 1;
    return {1 - 0.5 * (L - 1) * (L - 1) / (w * w), (1 - L) / (w * w)};
  }
  const double w = p.lmax - b;
  return {0.5 * (p.lmax - L) * (p.lmax - L) / (w * w), (L - p.lmax) / (w * w)};
}

// 0 when it shortens at its maximum speed, 1 at rest, fvmax when it is stretched.
Curve active_velocity(const Muscle& p, Real V) {
  const double y = p.fvmax - 1;
  if (V <= -1) return {};
  if (V <= 0) return {(V + 1) * (V + 1), 2 * (V + 1)};
  if (V <= y) return {p.fvmax - (y - V) * (y - V) / y, 2 * (y - V) / y};
  return {p.fvmax, 0};
}

// 0 up to the optimal length, then a parabola that continues as a straight line from fpmax/2.
Curve passive_length(const Muscle& p, Real L) {
  const double w = 0.5 * (p.lmax - 1);
  if (L <= 1) return {};
  const Real x = (L - 1) / w;
  if (x <= 1) return {0.5 * p.fpmax * x * x, p.fpmax * x / w};
  return {p.fpmax * (x - 0.5), p.fpmax / w};
}

struct Normalized {
  Muscle p;
  double length0;
  Real L, V;
};

Normalized normalized(const Model& m, int a, int adr, Real length, Real velocity) {
  const double* n = &m.actuator_muscle[at(18 * a + adr)];
  const Muscle p{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]};
  const double low = m.actuator_lengthrange[at(2 * a)],
               high = m.actuator_lengthrange[at(2 * a + 1)];
  const double length0 = (high - low) / (p.range1 - p.range0);
  return {p, length0, p.range0 + (length - low) / length0, velocity / (length0 * p.vmax)};
}

Vec3 tangent(Real force, Real by_length, Real by_velocity, Real length, Real velocity) {
  return {force - by_length * length - by_velocity * velocity, by_length, by_velocity};
}

// A quintic step from 0 to 1 with zero slope and curvature at both ends.
Real sigmoid(Real x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return x * x * x * (10 + x * (6 * x - 15));
}

Real muscle_rate(const double* prm, Real ctrl, double act) {
  const Real u = std::clamp<Real>(ctrl, 0, 1);
  const double h = 0.5 + 1.5 * std::clamp(act, 0.0, 1.0);
  const double activation = prm[0] * h, deactivation = prm[1] / h, width = prm[2];
  const Real change = u - act;
  const Real share = width > 0 ? sigmoid(change / width + 0.5) : Real(change > 0 ? 1 : 0);
  return change / (deactivation + (activation - deactivation) * share);
}

Real clamped_control(const Model& m, std::span<const Real> ctrl, int a) {
  const Real u = ctrl.empty() ? Real(0) : ctrl[at(a)];
  if (m.actuator_ctrllimited[at(a)] == 0) return u;
  return std::clamp<Real>(u, m.actuator_ctrlrange[at(2 * a)], m.actuator_ctrlrange[at(2 * a + 1)]);
}

}  // namespace

Vec3 muscle_gain(const Model& m, int a, Real length, Real velocity) {
  const auto [p, length0, L, V] = normalized(m, a, 0, length, velocity);
  const Curve l = active_length(p, L), v = active_velocity(p, V);
  return tangent(-p.force * l.value * v.value, -p.force * l.slope * v.value / length0,
                 -p.force * l.value * v.slope / (length0 * p.vmax), length, velocity);
}

Vec3 muscle_bias(const Model& m, int a, Real length, Real velocity) {
  const auto [p, length0, L, V] = normalized(m, a, 9, length, velocity);
  const Curve l = passive_length(p, L);
  return tangent(-p.force * l.value, -p.force * l.slope / length0, 0, length, velocity);
}

std::vector<Real> activation_rates(const Model& m, std::span<const Real> ctrl,
                                   std::span<const double> act) {
  std::vector<Real> rates(at(m.na));
  for (int a = 0; a < m.nu; ++a) {
    const int i = m.actuator_actadr[at(a)];
    if (i < 0) continue;
    const double now = act.empty() ? 0 : act[at(i)], *prm = &m.actuator_dynprm[at(3 * a)];
    const Real u = clamped_control(m, ctrl, a);
    switch (m.actuator_dyntype[at(a)]) {
      case ActuatorDynamics::none: break;
      case ActuatorDynamics::integrator: rates[at(i)] = u; break;
      case ActuatorDynamics::filter:
      case ActuatorDynamics::filterexact: rates[at(i)] = (u - now) / std::max(1e-15, prm[0]); break;
      case ActuatorDynamics::muscle: rates[at(i)] = muscle_rate(prm, u, now); break;
    }
  }
  return rates;
}

std::vector<Real> next_activations(const Model& m, std::span<const Real> ctrl,
                                   std::span<const double> act) {
  std::vector<Real> next = activation_rates(m, ctrl, act);
  for (int a = 0; a < m.nu; ++a) {
    const int i = m.actuator_actadr[at(a)];
    if (i < 0) continue;
    // ȧ of a filter decays as exp(−t/τ)
    const double tau = std::max(1e-15, m.actuator_dynprm[at(3 * a)]);
    const double time = m.actuator_dyntype[at(a)] == ActuatorDynamics::filterexact
                            ? -tau * std::expm1(-m.timestep / tau)
                            : m.timestep;
    Real& x = next[at(i)];
    x = (act.empty() ? 0 : act[at(i)]) + time * x;
    if (m.actuator_actlimited[at(a)] != 0)
      x = std::clamp<Real>(x, m.actuator_actrange[at(2 * a)], m.actuator_actrange[at(2 * a + 1)]);
  }
  return next;
}

std::vector<Real> actuator_inputs(const Model& m, std::span<const Real> ctrl,
                                  std::span<const double> act) {
  const std::vector<Real> next = next_activations(m, ctrl, act);
  std::vector<Real> inputs;
  for (int a = 0; a < m.nu; ++a) {
    const int i = m.actuator_actadr[at(a)];
    if (i < 0)
      inputs.push_back(clamped_control(m, ctrl, a));
    else if (m.actuator_actearly[at(a)] != 0)
      inputs.push_back(next[at(i)]);
    else
      inputs.push_back(act.empty() ? 0 : act[at(i)]);
  }
  return inputs;
}

}  // namespace stiction::reference::inline STICTION_REAL

#include "reference/law/row_laws.h"

#include <algorithm>
#include <numbers>

namespace stiction::reference::inline STICTION_REAL {

double near_rigid_factor(double beta) {
  return beta * beta / (4 * std::numbers::pi * std::numbers::pi);
}

Scalar LimitLaw::at(Real v) const {
  const Real y = (v_hat - v) / R;
  if (!(y > 0)) return {};
  return {0.5 * R * y * y, y, 1 / R};
}

LimitLaw limit_law(double dt, Real w, Real g0) {
  return {near_rigid_factor(kRowNearRigid) * w, -g0 / (2 * dt)};
}

Recovery recovery(double dt, const std::array<double, 2>& solref) {
  const auto [first, second] = solref;
  if (first <= 0) return {std::min(-first, 1 / (4 * dt * dt)), -second};
  const double T = std::max(first * second, 2 * dt);
  return {1 / (T * T), 2 * second / T};
}

Real return_speed(const Recovery& r, double dt, Real depth, Real u0) {
  return (u0 + dt * r.k * depth) / (1 + dt * r.b + dt * dt * r.k);
}

JointLimits solref_limits(double dt, Real w, const Recovery& back, double depth, Real lower,
                          Real upper, Real v0, Real v) {
  const auto target = [&](Real g, Real returning) -> Real {
    if (!(g < 0)) return -g / dt;
    return std::min<Real>(return_speed(back, dt, -g, std::max<Real>(returning, 0)), -g / dt);
  };
  const Real below = target(lower, v0), above = target(upper, -v0);
  const Real demand = std::max({below - v, above + v, Real(0)});
  const Real yield = return_speed(back, dt, depth, 0);
  const Real share = yield > 0 ? Real(yield / (yield / kLimitYield + demand)) : Real(0);
  const Real R = w * std::max<Real>(share, kLimitRigid);
  return {{R, below}, {R, above}};
}

Scalar ServoLaw::at(Real v) const {
  const Real u = force0 - kappa * v;
  if (u > upper) return {dt / kappa * (upper * u - 0.5 * upper * upper), dt * upper, 0};
  if (u < lower) return {dt / kappa * (lower * u - 0.5 * lower * lower), dt * lower, 0};
  return {dt / kappa * 0.5 * u * u, dt * u, dt * kappa};
}

ServoGains near_rigid_gains(ServoGains gains, double dt, Real w) {
  const Real R_nr = near_rigid_factor(kRowNearRigid) * w;
  const Real kappa = dt * gains.kp + gains.kd;
  if (!(dt * kappa * R_nr > 1)) return gains;
  const Real scale = 1 / (dt * kappa * R_nr);
  return {scale * gains.kp, scale * gains.kd};
}

Scalar DryFrictionLaw::at(Real v) const {
  const Real u = v - v_hat, y = -u / R;
  if (y > bound) return {-bound * u - 0.5 * R * bound * bound, bound, 0};
  if (y < -bound) return {bound * u - 0.5 * R * bound * bound, -bound, 0};
  return {0.5 * u * u / R, y, 1 / R};
}

Real advance_friction(const DryFrictionLaw& law, double dt, Real z, Real v) {
  const Real reach = kAnchorTime * dt * law.R * law.bound;
  return std::clamp<Real>(z + dt * v, -reach, reach);
}

}  // namespace stiction::reference::inline STICTION_REAL

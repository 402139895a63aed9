#include "reference/law/row_laws.h"

#include <algorithm>
#include <limits>
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

double recovery_time(double dt, const std::array<double, 2>& solref) {
  if (solref[0] > 0) return std::max(solref[0], 2 * dt);
  const double k = -solref[0], b = -solref[1];
  return k > 0 ? std::max(b / k, 2 * dt) : std::numeric_limits<double>::infinity();
}

JointLimits solref_limits(double dt, Real w, double T, double depth, Real lower, Real upper,
                          Real v) {
  const auto target = [&](Real g) { return g < 0 ? -g / T : -g / dt; };
  const Real demand = std::max({target(lower) - v, target(upper) + v, Real(0)});
  const Real share = demand > 0 ? std::min<Real>(kLimitYield, depth / T / demand) : kLimitYield;
  const Real R = w * std::max<Real>(share, near_rigid_factor(kRowNearRigid));
  return {{R, target(lower)}, {R, target(upper)}};
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

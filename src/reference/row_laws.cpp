#include "reference/row_laws.h"

#include <numbers>

namespace stiction::reference {

double near_rigid_factor(double beta) {
  return beta * beta / (4 * std::numbers::pi * std::numbers::pi);
}

Scalar LimitLaw::at(double v) const {
  const double y = (v_hat - v) / R;
  if (!(y > 0)) return {};
  return {0.5 * R * y * y, y, 1 / R};
}

LimitLaw limit_law(double dt, double w, double g0) {
  return {near_rigid_factor(kRowNearRigid) * w, -g0 / (2 * dt)};
}

Scalar ServoLaw::at(double v) const {
  const double u = force0 - kappa * v;
  if (u > upper) return {dt / kappa * (upper * u - 0.5 * upper * upper), dt * upper, 0};
  if (u < lower) return {dt / kappa * (lower * u - 0.5 * lower * lower), dt * lower, 0};
  return {dt / kappa * 0.5 * u * u, dt * u, dt * kappa};
}

ServoGains near_rigid_gains(ServoGains gains, double dt, double w) {
  const double R_nr = near_rigid_factor(kRowNearRigid) * w;
  const double kappa = dt * gains.kp + gains.kd;
  if (!(dt * kappa * R_nr > 1)) return gains;
  const double scale = 1 / (dt * kappa * R_nr);
  return {scale * gains.kp, scale * gains.kd};
}

Scalar DryFrictionLaw::at(double v) const {
  const double y = -v / R;
  if (y > bound) return {-bound * v - 0.5 * R * bound * bound, bound, 0};
  if (y < -bound) return {bound * v - 0.5 * R * bound * bound, -bound, 0};
  return {0.5 * v * v / R, y, 1 / R};
}

}  // namespace stiction::reference

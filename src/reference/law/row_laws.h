// Convex potentials of rows with one constraint velocity: joint limits, servos, dry friction.
// γ = −ℓ', G = ℓ''; impulses over one step. Formulas: docs/method.md, "rows".
#pragma once

#include <array>
#include <variant>

#include "reference/law/contact_law.h"

namespace stiction::reference::inline STICTION_REAL {

// β of every row that is not a contact, and its near-rigid factor β²/4π².
inline constexpr double kRowNearRigid = 0.1;
double near_rigid_factor(double beta);

// Unilateral compliant row on g >= 0 with g' = v: γ = ((v̂ − v)/R)₊, ℓ = ½ R γ²
struct LimitLaw {
  Real R, v_hat;
  Scalar at(Real v) const;
};
// The joint limit with gap g0: near-rigid R = β²/4π² w, v̂ = −g0/(2 δt)
LimitLaw limit_law(double dt, Real w, Real g0);

// The damped oscillator ü = −b u̇ − k u by which a violated constraint recovers; solref: (τ, ζ) with T = ζ τ,
// k = 1/T², b = 2 ζ/T, or (−k, −b). T, or 1/√k, is at least 2 δt.
struct Recovery {
  double k, b;
};
Recovery recovery(double dt, const std::array<double, 2>& solref);
// Returns the speed after one implicit step from rest at `depth`, or from a return at u0 >= 0:
//   û = (u0 + δt k depth)/(1 + δt b + δt² k)
Real return_speed(const Recovery& r, double dt, Real depth, Real u0);

// Both limits of a joint with the gaps `lower` and `upper`, which moves at v0 and would move at v without limits:
// v̂ = −g/δt while g >= 0, else û of the depth −g, at most −g/δt. R yields by a fraction of the velocity change
// that the limits demand, and under a constant force by no more than `depth`; w/R = 1/0.02 +
// demand/û(depth, 0), at most 1/kLimitRigid.
inline constexpr double kLimitYield = 0.02, kLimitDepth = 0.01, kLimitRigid = 1.0 / 16384;
struct JointLimits {
  LimitLaw lower, upper;
};
JointLimits solref_limits(double dt, Real w, const Recovery& back, double depth, Real lower,
                          Real upper, Real v0, Real v);

// Implicit servo: force ũ(v) = force0 − κ v clamped to [lower, upper]; γ = δt clamp(ũ),
// ℓ = (δt/κ) C(ũ) with C' = clamp
struct ServoLaw {
  double dt;
  Real force0, kappa;
  Real lower, upper;
  Scalar at(Real v) const;
};
// Stiffness and damping of a servo, softened to 1/(δt κ) >= β²/4π² w with Kd/Kp unchanged.
struct ServoGains {
  Real kp, kd;
};
ServoGains near_rigid_gains(ServoGains gains, double dt, Real w);

// Joint dry friction, Huber: R = σ w, γ = clamp((v̂ − v)/R, ±δt τ_c); v̂ = −z/τ for anchored friction,
// for which z ← z + δt v, limited to τ R δt τ_c, at which the whole friction is used.
struct DryFrictionLaw {
  Real R, bound, v_hat = 0;
  Scalar at(Real v) const;
};

inline constexpr double kAnchorTime = 5;  // τ / δt of anchored stiction and dry friction
Real advance_friction(const DryFrictionLaw& law, double dt, Real z, Real v);

using RowLaw = std::variant<LimitLaw, ServoLaw, DryFrictionLaw>;
inline Scalar evaluate(const RowLaw& law, Real v) {
  return std::visit([v](const auto& l) { return l.at(v); }, law);
}

}  // namespace stiction::reference::inline STICTION_REAL

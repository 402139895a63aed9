// Convex contact potentials ℓ(v_c), with γ = −∂ℓ/∂v_c and G = ∂²ℓ/∂v_c², in the contact frame
// (t1, t2, n). Lagged and Similar: "Irrotational Contact Fields"; SAP: "An Unconstrained Convex
// Formulation of Compliant Contact". All quantities are impulses over one step.
#pragma once

#include "reference/law/normal_law.h"
#include "stiction/options.h"

namespace stiction::reference::inline STICTION_REAL {

// ‖x‖_s = |x|²/(den + ε), t_s = x/den, den = sqrt(|x|² + ε²)
struct SoftNorm {
  Real value, den;
  Vec2 direction;
};
SoftNorm soft_norm(const Vec2& x, Real eps);
// ∇²‖x‖_s = (I − t_s t_sᵀ)/den
Mat2 soft_curvature(const SoftNorm& s);

// The law of one contact point, with all constants of the step.
struct ContactLaw {
  ContactModel model = ContactModel::lagged;
  Real mu = 0;                // the larger coefficient of friction
  Vec2 along = Vec2::Ones();  // diag(μ1, μ2)/μ of anisotropic friction
  NormalImpulse normal;       // lagged, similar
  Real n0 = 0;                // lagged normal impulse
  Real eps = 0;               // ε_s, soft-norm speed
  Vec2 shift = Vec2::Zero();  // b_t of anchored stiction
  Real R_t = 0, R_n = 0;      // SAP regularization
  Real v_hat = 0;             // SAP target velocity
};

struct ContactEvaluation {
  Real cost = 0;
  Vec3 impulse = Vec3::Zero();
  Mat3 hessian = Mat3::Zero();
};
ContactEvaluation evaluate(const ContactLaw& law, const Vec3& v_c);

// n0 = δt (f_e0)₊ (1 − d v_n0)₊ at the start of the step
Real lagged_impulse(double dt, Real d, Real f_e0, Real v_n0);

// Regularization of SAP: R_n = max(β²/4π² w, 1/(δt (δt + τ) k)), R_t = σ w, v̂ = −φ0/(δt + τ)
void set_sap(ContactLaw& law, double dt, Real k, double tau, double beta, double sigma, Real w,
             Real phi0);

}  // namespace stiction::reference::inline STICTION_REAL

// Convex contact potentials ℓ(v_c), with γ = −∂ℓ/∂v_c and G = ∂²ℓ/∂v_c², in the contact frame
// (t1, t2, n). Lagged and Similar: "Irrotational Contact Fields"; SAP: "An Unconstrained Convex
// Formulation of Compliant Contact". All quantities are impulses over one step.
#pragma once

#include "math.h"
#include "stiction/options.h"

namespace stiction::reference {

// ‖x‖_s = |x|²/(den + ε), t_s = x/den, den = sqrt(|x|² + ε²)
struct SoftNorm {
  double value, den;
  Vec2 direction;
};
SoftNorm soft_norm(const Vec2& x, double eps);

// Potential, impulse and curvature of a scalar law: γ = −ℓ', −γ' = ℓ''.
struct Scalar {
  double cost = 0, impulse = 0, hessian = 0;
};

// Hunt–Crossley normal impulse n(v) = δt (f_e0 − δt k v)₊ (1 − d v)₊ in the shifted form: with
// u = v̂ − v every term of cost, impulse and hessian is non-negative, and all vanish for u <= 0.
class HuntCrossley {
 public:
  HuntCrossley() = default;
  // k N/m, d s/m, f_e0 = −k φ0 in N (negative while separated)
  HuntCrossley(double dt, double k, double d, double f_e0);
  Scalar at(double v_n) const;

 private:
  double dt_ = 0, d_ = 0;
  double a_ = 0;          // δt k
  double v_hat_ = 0;      // the smaller root
  double F_ = 0, D_ = 0;  // f_e0 − a v̂ and 1 − d v̂; one of them is zero
  enum class Kind { product, constant, none } kind_ = Kind::none;
};

// What one contact point contributes; all constants of the step are in here.
struct ContactLaw {
  ContactModel model = ContactModel::lagged;
  double mu = 0;
  HuntCrossley normal;        // lagged, similar
  double n0 = 0;              // lagged normal impulse
  double eps = 0;             // ε_s, soft-norm speed
  Vec2 shift = Vec2::Zero();  // b_t of anchored stiction
  double R_t = 0, R_n = 0;    // SAP regularization
  double v_hat = 0;           // SAP target velocity
};

struct ContactEvaluation {
  double cost = 0;
  Vec3 impulse = Vec3::Zero();
  Mat3 hessian = Mat3::Zero();
};
ContactEvaluation evaluate(const ContactLaw& law, const Vec3& v_c);

// The stiffness k of a pair as its Hunt–Crossley law has it: the curvature at the root,
// δt k |δt + d φ0|, is at most kStiffest/w, so that A stays visible beside Jᵀ G J.
inline constexpr double kStiffest = 0x1p45;  // 2^-7 of the digits of a double
double resolved_stiffness(double k, double d, double dt, double gap, double w);

// n0 = δt (f_e0)₊ (1 − d v_n0)₊ at the start of the step
double lagged_impulse(double dt, double d, double f_e0, double v_n0);

// Regularization of SAP: R_n = max(β²/4π² w, 1/(δt (δt + τ) k)), R_t = σ w, v̂ = −φ0/(δt + τ)
void set_sap(ContactLaw& law, double dt, double k, double tau, double beta, double sigma, double w,
             double phi0);

}  // namespace stiction::reference

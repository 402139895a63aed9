#include "reference/law/contact_law.h"

#include <algorithm>
#include <numbers>

namespace stiction::reference::inline STICTION_REAL {
namespace {

Real positive_part(Real x) {
  return x > 0 ? x : Real(0);
}

// ℓ = −N(v_n) + μ n0 ‖v_t + b_t‖_s
ContactEvaluation lagged(const ContactLaw& law, const Vec3& v) {
  const Scalar n = evaluate(law.normal, v.z());
  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);
  const Real bound = law.mu * law.n0;
  ContactEvaluation e;
  e.cost = n.cost + bound * s.value;
  e.impulse << -bound * s.direction, n.impulse;
  e.hessian.topLeftCorner<2, 2>() = bound * soft_curvature(s);
  e.hessian(2, 2) = n.hessian;
  return e;
}

// ℓ = −N(z), z = v_n − μ ‖v_t + b_t‖_s
ContactEvaluation similar(const ContactLaw& law, const Vec3& v) {
  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);
  const Real mu = law.mu;
  const Scalar n = evaluate(law.normal, v.z() - mu * s.value);
  const Vec2& t = s.direction;
  ContactEvaluation e;
  e.cost = n.cost;
  e.impulse << -mu * n.impulse * t, n.impulse;
  e.hessian.topLeftCorner<2, 2>() =
      mu * mu * n.hessian * t * t.transpose() + mu * n.impulse * soft_curvature(s);
  e.hessian.topRightCorner<2, 1>() = -mu * n.hessian * t;
  e.hessian.bottomLeftCorner<1, 2>() = -mu * n.hessian * t.transpose();
  e.hessian(2, 2) = n.hessian;
  return e;
}

// ℓ = ½ γᵀ R γ, γ = projection of y = R⁻¹ (v̂ − v_c) on the friction cone in the norm of R
ContactEvaluation sap(const ContactLaw& law, const Vec3& v) {
  const Real mu = law.mu;
  const Real y_n = (law.v_hat - v.z()) / law.R_n;
  ContactEvaluation e;
  if (value(mu) == 0) {
    if (y_n > 0) {
      e.cost = 0.5 * law.R_n * y_n * y_n;
      e.impulse.z() = y_n;
      e.hessian(2, 2) = 1 / law.R_n;
    }
    return e;
  }

  const Vec2 y_t = -v.head<2>() / law.R_t;
  const Real y_r = y_t.norm();
  const Real mu_hat = mu * law.R_t / law.R_n;
  if (y_n <= -mu_hat * y_r) return e;  // separation

  if (y_r <= mu * y_n) {  // stiction
    e.impulse << y_t, y_n;
    e.hessian.diagonal() << 1 / law.R_t, 1 / law.R_t, 1 / law.R_n;
  } else {  // sliding: γ_n = (y_n + μ̂ y_r)/(1 + μ̃²), γ_t = μ γ_n t
    const Real scale = 1 / (1 + mu * mu_hat);
    const Vec2 t = y_t / y_r;
    const Real gamma_n = scale * (y_n + mu_hat * y_r);
    e.impulse << mu * gamma_n * t, gamma_n;
    const Mat2 along = t * t.transpose();
    const Mat2 across = Mat2::Identity() - along;
    e.hessian.topLeftCorner<2, 2>() =
        mu / law.R_t * (gamma_n / y_r * across + mu_hat * scale * along);
    e.hessian.topRightCorner<2, 1>() = mu * scale / law.R_n * t;
    e.hessian.bottomLeftCorner<1, 2>() = mu * scale / law.R_n * t.transpose();
    e.hessian(2, 2) = scale / law.R_n;
  }
  const Vec3 R(law.R_t, law.R_t, law.R_n);
  e.cost = 0.5 * e.impulse.dot(R.cwiseProduct(e.impulse));
  return e;
}

ContactEvaluation isotropic(const ContactLaw& law, const Vec3& v) {
  switch (law.model) {
    case ContactModel::lagged: return lagged(law, v);
    case ContactModel::similar: return similar(law, v);
    case ContactModel::sap: break;
  }
  return sap(law, v);
}

}  // namespace

SoftNorm soft_norm(const Vec2& x, Real eps) {
  const Real den = sqrt(x.squaredNorm() + eps * eps);
  return {x.squaredNorm() / (den + eps), den, x / den};
}

Mat2 soft_curvature(const SoftNorm& s) {
  return (Mat2::Identity() - s.direction * s.direction.transpose()) / s.den;
}

ContactEvaluation evaluate(const ContactLaw& law, const Vec3& v_c) {
  if (law.along == Vec2::Ones()) return isotropic(law, v_c);
  // appendix B: ℓ(v) = ℓ̃(S v), so γ = S γ̃ and G = S G̃ S, S = diag(μ1, μ2, μ)/μ
  const Vec3 S(law.along.x(), law.along.y(), 1);
  ContactEvaluation e = isotropic(law, S.cwiseProduct(v_c));
  e.impulse = S.cwiseProduct(e.impulse);
  e.hessian = S.asDiagonal() * e.hessian * S.asDiagonal();
  return e;
}

Real lagged_impulse(double dt, Real d, Real f_e0, Real v_n0) {
  return dt * positive_part(f_e0) * positive_part(1 - d * v_n0);
}

void set_sap(ContactLaw& law, double dt, Real k, double tau, double beta, double sigma, Real w,
             Real phi0) {
  const Real near_rigid = beta * beta / (4 * std::numbers::pi * std::numbers::pi) * w;
  law.R_n = std::max<Real>(near_rigid, 1 / (dt * (dt + tau) * k));
  law.R_t = sigma * w;
  law.v_hat = -phi0 / (dt + tau);
}

}  // namespace stiction::reference::inline STICTION_REAL

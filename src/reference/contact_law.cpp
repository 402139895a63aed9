#include "reference/contact_law.h"

#include <algorithm>
#include <numbers>

namespace stiction::reference {
namespace {

double positive_part(double x) {
  return x > 0 ? x : 0;
}

// ∇²‖x‖_s = (I − t_s t_sᵀ)/den
Eigen::Matrix2d soft_curvature(const SoftNorm& s) {
  return (Eigen::Matrix2d::Identity() - s.direction * s.direction.transpose()) / s.den;
}

// ℓ = −N(v_n) + μ n0 ‖v_t + b_t‖_s
ContactEvaluation lagged(const ContactLaw& law, const Vec3& v) {
  const Scalar n = law.normal.at(v.z());
  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);
  const double bound = law.mu * law.n0;
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
  const double mu = law.mu;
  const Scalar n = law.normal.at(v.z() - mu * s.value);
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
  const double mu = law.mu;
  const double y_n = (law.v_hat - v.z()) / law.R_n;
  ContactEvaluation e;
  if (mu == 0) {
    if (y_n > 0) {
      e.cost = 0.5 * law.R_n * y_n * y_n;
      e.impulse.z() = y_n;
      e.hessian(2, 2) = 1 / law.R_n;
    }
    return e;
  }

  const Vec2 y_t = -v.head<2>() / law.R_t;
  const double y_r = y_t.norm();
  const double mu_hat = mu * law.R_t / law.R_n;
  if (y_n <= -mu_hat * y_r) return e;  // separation

  if (y_r <= mu * y_n) {  // stiction
    e.impulse << y_t, y_n;
    e.hessian.diagonal() << 1 / law.R_t, 1 / law.R_t, 1 / law.R_n;
  } else {  // sliding: γ_n = (y_n + μ̂ y_r)/(1 + μ̃²), γ_t = μ γ_n t
    const double scale = 1 / (1 + mu * mu_hat);
    const Vec2 t = y_t / y_r;
    const double gamma_n = scale * (y_n + mu_hat * y_r);
    e.impulse << mu * gamma_n * t, gamma_n;
    const Eigen::Matrix2d along = t * t.transpose();
    const Eigen::Matrix2d across = Eigen::Matrix2d::Identity() - along;
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

}  // namespace

SoftNorm soft_norm(const Vec2& x, double eps) {
  const double den = std::sqrt(x.squaredNorm() + eps * eps);
  return {x.squaredNorm() / (den + eps), den, x / den};
}

HuntCrossley::HuntCrossley(double dt, double k, double d, double f_e0)
    : dt_(dt), d_(d), a_(dt * k) {
  if (a_ == 0 && f_e0 <= 0) return;
  kind_ = Kind::product;
  if (a_ == 0 && d == 0) {  // constant force
    kind_ = Kind::constant;
    F_ = f_e0;
  } else if (d * f_e0 <= a_) {  // the elastic root comes first
    v_hat_ = f_e0 / a_;
    D_ = 1 - d * v_hat_;
  } else {  // the dissipation root comes first
    v_hat_ = 1 / d;
    F_ = f_e0 - a_ / d;
  }
}

Scalar HuntCrossley::at(double v_n) const {
  if (kind_ == Kind::constant) return {-dt_ * F_ * v_n, dt_ * F_, 0};
  const double u = v_hat_ - v_n;
  if (kind_ == Kind::none || !(u > 0)) return {};
  const double b = F_ * d_ + a_ * D_;
  return {dt_ * u * u * (b / 2 + a_ * d_ * u / 3), dt_ * (F_ + a_ * u) * (D_ + d_ * u),
          dt_ * (b + 2 * a_ * d_ * u)};
}

ContactEvaluation evaluate(const ContactLaw& law, const Vec3& v_c) {
  switch (law.model) {
    case ContactModel::lagged: return lagged(law, v_c);
    case ContactModel::similar: return similar(law, v_c);
    case ContactModel::sap: break;
  }
  return sap(law, v_c);
}

double lagged_impulse(double dt, double d, double f_e0, double v_n0) {
  return dt * positive_part(f_e0) * positive_part(1 - d * v_n0);
}

void set_sap(ContactLaw& law, double dt, double k, double tau, double beta, double sigma, double w,
             double phi0) {
  const double near_rigid = beta * beta / (4 * std::numbers::pi * std::numbers::pi) * w;
  law.R_n = std::max(near_rigid, 1 / (dt * (dt + tau) * k));
  law.R_t = sigma * w;
  law.v_hat = -phi0 / (dt + tau);
}

double resolved_stiffness(double k, double d, double dt, double gap, double w) {
  return std::min(k, kStiffest / (w * dt * (dt + d * std::abs(gap))));
}

}  // namespace stiction::reference

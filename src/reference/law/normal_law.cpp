#include "reference/law/normal_law.h"

#include <algorithm>

namespace stiction::reference::inline STICTION_REAL {

HuntCrossley::HuntCrossley(double dt, Real k, Real d, Real f_e0, Real shift)
    : dt_(dt), d_(d), a_(dt * k) {
  if (a_ == 0 && f_e0 <= 0) return;
  kind_ = Kind::product;
  if (a_ == 0 && d == 0) {  // constant force
    kind_ = Kind::constant;
    F_ = f_e0;
  } else if (d * f_e0 <= a_) {  // the elastic root is the smaller one
    v_hat_ = f_e0 / a_;
    D_ = 1 - d * v_hat_;
  } else {  // the dissipation root is the smaller one
    v_hat_ = 1 / d;
    F_ = f_e0 - a_ / d;
  }
  v_hat_ += shift;
}

Scalar HuntCrossley::at(Real v_n) const {
  if (kind_ == Kind::constant) return {-dt_ * F_ * v_n, dt_ * F_, 0};
  const Real u = v_hat_ - v_n;
  if (kind_ == Kind::none || !(u > 0)) return {};
  const Real b = F_ * d_ + a_ * D_;
  return {dt_ * u * u * (b / 2 + a_ * d_ * u / 3), dt_ * (F_ + a_ * u) * (D_ + d_ * u),
          dt_ * (b + 2 * a_ * d_ * u)};
}

Real resolved_stiffness(Real k, Real d, double dt, Real gap, Real w) {
  return std::min<Real>(k, kStiffest / (w * dt * (dt + d * abs(gap))));
}

Scalar LogBarrier::at(const Real& phi) const {
  return {-kappa * log(phi), kappa / phi, kappa / (phi * phi)};
}

Scalar IpcBarrier::at(const Real& phi) const {
  const Real s = phi / distance, u = 1 - s;
  if (!(u > 0)) return {};
  return {-kappa * distance * distance * u * u * log(s),
          kappa * distance * u * (u / s - 2 * log(s)), kappa * ((4 + u / s) * u / s - 2 * log(s))};
}

namespace {

// Near contact both barriers have b'' = κ̂/φ² with this κ̂.
double near_contact(const LogBarrier& b) {
  return b.kappa;
}
double near_contact(const IpcBarrier& b) {
  return b.kappa * b.distance * b.distance;
}

}  // namespace

// δt² b'' = kStiffest/w at `resolved`
template <class Barrier>
BarrierLaw<Barrier>::BarrierLaw(double dt, const Barrier& b, const Real& phi0, const Real& w)
    : dt_(dt), b_(b), phi0_(phi0), resolved_(dt * sqrt(near_contact(b) * w / kStiffest)) {}

template <class Barrier>
Scalar BarrierLaw<Barrier>::at(const Real& v_n) const {
  const Real phi = phi0_ + dt_ * v_n;
  const Scalar b = b_.at(std::max(phi, resolved_));
  const Real x = std::min(phi - resolved_, Real(0));
  return {b.cost + x * (0.5 * b.hessian * x - b.impulse), dt_ * (b.impulse - b.hessian * x),
          dt_ * dt_ * b.hessian};
}

template class BarrierLaw<LogBarrier>;
template class BarrierLaw<IpcBarrier>;

}  // namespace stiction::reference::inline STICTION_REAL

// Normal laws of a contact point: the impulse n(v_n) over one step, implicit in the gap φ0 + δt v_n, as
// −ℓ' of a convex potential ℓ. "Irrotational Contact Fields", (16) and section IX.
#pragma once

#include <variant>

#include "reference/base/real.h"

namespace stiction::reference::inline STICTION_REAL {

// Potential, impulse and curvature of a scalar law: γ = −ℓ', −γ' = ℓ''.
struct Scalar {
  Real cost = 0, impulse = 0, hessian = 0;
};

// Hunt–Crossley normal impulse n(v) = δt (f_e0 − δt k v)₊ (1 − d v)₊ in the shifted form: with
// u = v̂ − v every term of cost, impulse and hessian is non-negative, and all vanish for u <= 0.
class HuntCrossley {
 public:
  HuntCrossley() = default;
  // k N/m, d s/m, f_e0 = −k φ0 in N (negative while separated); shift of the velocity: n(v − shift)
  HuntCrossley(double dt, Real k, Real d, Real f_e0, Real shift = 0);
  Scalar at(Real v_n) const;

 private:
  double dt_ = 0;
  Real d_ = 0, a_ = 0;  // a: δt k
  Real v_hat_ = 0;      // the smaller root
  Real F_ = 0, D_ = 0;  // f_e0 − a v̂ and 1 − d v̂; one of them is zero
  enum class Kind { product, constant, none } kind_ = Kind::none;
};

// Limits the stiffness k of a pair for its Hunt–Crossley law: the curvature at the root,
// δt k |δt + d φ0|, is at most kStiffest/w, so that A is not lost in round-off beside Jᵀ G J.
inline constexpr double kStiffest = 0x1p45;  // leaves 2^-7 of the digits of a double
Real resolved_stiffness(Real k, Real d, double dt, Real gap, Real w);

// Barriers: potentials b of the gap φ > 0, with force f = −b' and stiffness b''. Below 0 they are infinite.
// b = −κ ln φ, f = κ/φ; κ in J
struct LogBarrier {
  double kappa;
  Scalar at(const Real& phi) const;
};
// b = −κ (d̂ − φ)₊² ln(φ/d̂): acts below the distance d̂ only; κ in N/m
struct IpcBarrier {
  double kappa, distance;
  Scalar at(const Real& phi) const;
};

// n(v) = δt f(φ0 + δt v). Below `resolved` the potential continues as its parabola there: the stiffest
// law that double precision resolves, so that ℓ is finite everywhere.
template <class Barrier>
class BarrierLaw {
 public:
  // w: Delassus scale of the point, 1/kg
  BarrierLaw(double dt, const Barrier& b, const Real& phi0, const Real& w);
  Scalar at(const Real& v_n) const;

 private:
  double dt_;
  Barrier b_;
  Real phi0_, resolved_;
};

using NormalImpulse = std::variant<HuntCrossley, BarrierLaw<LogBarrier>, BarrierLaw<IpcBarrier>>;
inline Scalar evaluate(const NormalImpulse& law, const Real& v_n) {
  return std::visit([&](const auto& l) { return l.at(v_n); }, law);
}

}  // namespace stiction::reference::inline STICTION_REAL

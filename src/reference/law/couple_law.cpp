#include "reference/law/couple_law.h"

#include <algorithm>

namespace stiction::reference::inline STICTION_REAL {

ContactEvaluation evaluate(const CoupleLaw& law, const Vec3& omega) {
  const Vec3 x = omega + law.shift;
  ContactEvaluation e;
  if (law.torsion > 0) {
    const Real bound = law.torsion * law.n0, eps = law.eps_torsion, den = hypot(x.z(), eps);
    e.cost += bound * (x.z() * x.z() / (den + eps));
    e.impulse.z() = -bound * (x.z() / den);
    e.hessian(2, 2) = bound * (eps / den) * (eps / den) / den;
  }
  if (law.rolling > 0) {
    const Real bound = law.rolling * law.n0;
    const SoftNorm s = soft_norm(x.head<2>(), law.eps_rolling);
    e.cost += bound * s.value;
    e.impulse.head<2>() = -bound * s.direction;
    e.hessian.topLeftCorner<2, 2>() = bound * soft_curvature(s);
  }
  return e;
}

Real turning_scale(double v_s, double sigma, Real w, Real mu, double coefficient, Real n0) {
  constexpr double kLeastFriction = 1e-5;
  if (!(coefficient > 0)) return v_s;
  const Real patch = std::max<Real>(mu, kLeastFriction) / coefficient;
  return std::max<Real>(v_s * patch, sigma * w * coefficient * n0);
}

}  // namespace stiction::reference::inline STICTION_REAL

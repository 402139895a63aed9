// Torsional and rolling friction of a point, Lagged: a convex potential of the angular velocity ω of geom2's body
// relative to geom1's, in the contact frame (t1, t2, n),
//   ℓ = μ_t n0 ‖ω_n‖_s + μ_r n0 ‖ω_t‖_s
// with soft norms of their own. The impulse is a couple, N m s.
#pragma once

#include "reference/law/contact_law.h"

namespace stiction::reference::inline STICTION_REAL {

struct CoupleLaw {
  double torsion = 0, rolling = 0;        // μ_t, μ_r, m
  Real n0 = 0;                            // lagged normal impulse
  Real eps_torsion = 0, eps_rolling = 0;  // ε_t, ε_r, rad/s
  Vec3 shift = Vec3::Zero();              // shift of ω by anchored stiction
};
ContactEvaluation evaluate(const CoupleLaw& law, const Vec3& omega);

// ε = max(v_s μ/μ_t, σ w_ω μ_t n0), likewise for μ_r: a contact patch of radius μ_t/μ that rotates at ε slips at v_s at
// its rim. MuJoCo's least μ replaces a μ of 0.
Real turning_scale(double v_s, double sigma, Real w, Real mu, double coefficient, Real n0);

}  // namespace stiction::reference::inline STICTION_REAL

// Curvatures of the lagged law that Newton's method uses in place of ∂²ℓ/∂v_c² far from the solution: for friction
// with a dual variable, for the normal impulse with a chord. At the solution both are exact. docs/method.md, 4.
#pragma once

#include "physics/law/contact_law.h"

STICTION_PHYSICS_BEGIN

// Friction μ n0 t, t = x/den, with a dual z in the tangent plane that replaces one of the two factors t (Chan, Golub
// and Mulet, "A nonlinear primal-dual method for total variation-based image restoration"):
//   G_t = drag (I − n nᵀ − ½ (z tᵀ + t zᵀ))
// Its eigenvalues drag (1 − ½ (z·t ± |z| |t|)) are positive for |z| < 1; z = t is ∂²ℓ/∂v_c², z = 0 bounds it.
template <class S>
STICTION_FN Sym3<S> dual_curvature(S normal, S drag, const Vec3<S>& n, const Vec3<S>& t,
                                   const Vec3<S>& z) {
  const S k = normal - drag;
  const Vec3<S> u = k * n, q = (S(-0.5) * drag) * z, d = (-drag) * z;
  return {drag + u.x * n.x + d.x * t.x,        drag + u.y * n.y + d.y * t.y,
          drag + u.z * n.z + d.z * t.z,        u.x * n.y + (q.x * t.y + q.y * t.x),
          u.x * n.z + (q.x * t.z + q.z * t.x), u.y * n.z + (q.y * t.z + q.z * t.y)};
}

// z ← min(1 − 1e-7, 2/(1 + |z|²)) z: less than 1, and small again after a step that went far beyond.
inline constexpr double kLargestDual = 1 - 1e-7;
template <class S>
STICTION_FN Vec3<S> bounded_dual(const Vec3<S>& z) {
  return vmin(S(2.0) / (S(1.0) + norm2(z)), S(kLargestDual)) * z;
}
// Returns the dual after the step d_t of x: Newton's step for den z = x, which is linear in z. r = 1/den
template <class S>
STICTION_FN Vec3<S> next_dual(S r, const Vec3<S>& t, const Vec3<S>& z, const Vec3<S>& d_t) {
  return bounded_dual(t + r * (d_t - dot(t, d_t) * z));
}

// γ(u) = f1 u + f2 u² of Hunt–Crossley, u = −v_n > 0.
template <class S>
struct Closing {
  S f1, f2;
};
template <class S>
STICTION_FN Closing<S> closing_law(const SlipLaw<S>& c) {
  return {c.dt * (c.c2 * c.d + c.c1 * c.c3), c.dt * c.c1 * c.d};
}

// Returns the slope of the chord of γ from u to the point with impulse λ, (γ(u) − λ)/(u − u_λ): one step of a point
// alone then ends at the solution, whereas the tangent goes half of the way to the double root.
template <class S>
STICTION_FN S chord_curvature(const SlipLaw<S>& c, S v_n, S lambda) {
  const Closing<S> law = closing_law(c);
  const S zero = S(0.0), u = -v_n;
  const S root = law.f1 + vsqrt(law.f1 * law.f1 + S(4.0) * (law.f2 * lambda));
  const S there = S(2.0) * lambda / select(root > zero, root, S(1.0));
  const S closing = law.f1 + law.f2 * (vmax(u, zero) + there);
  const S opens = lambda / select(u < zero, there - u, S(1.0));
  return select(u < zero, select(lambda > zero, opens, zero), closing);
}

// Returns the slope of the chord from u to u*, where the point alone would come to rest: (u − u*)/w = γ(u*).
template <class S>
STICTION_FN S landing_curvature(const SlipLaw<S>& c, S v_n, S w) {
  const Closing<S> law = closing_law(c);
  const S u = vmax(-v_n, S(0.0)), b = S(1.0) + w * law.f1;
  const S rest = S(2.0) * u / (b + vsqrt(b * b + S(4.0) * (w * (law.f2 * u))));
  return select(u > S(0.0), law.f1 + law.f2 * (u + rest), S(0.0));
}

STICTION_PHYSICS_END

// Convex contact laws in world axes: impulse γ = −∂ℓ/∂v_c on body 2 and curvature G = ∂²ℓ/∂v_c² of
// one point. Lagged and Similar: "Irrotational Contact Fields"; SAP: "An Unconstrained Convex
// Formulation of Compliant Contact". v_n = n·v_c, v_t = v_c − v_n n; all impulses over one step.
#pragma once

#include "physics/vec.h"
#include "physics/views.h"

STICTION_PHYSICS_BEGIN

// Impulse and curvature of a scalar law: γ = −ℓ', −γ' = ℓ''.
template <class S>
struct RowValue {
  S impulse, hess;
};
template <class S>
struct ContactValue {
  Vec3<S> impulse;
  Sym3<S> hess;
};

// The constants of one point.
template <class S>
struct ContactLaw {
  Vec3<S> normal, shift;  // shift: b_t of anchored stiction
  S mu, n0, eps;          // lagged impulse, soft-norm speed
  S c0, c1, c2, c3, d;    // point_law, point_d
  S dt;
};

// Σ of a diagonal in the tangent plane and two outer products:
// a (I − n nᵀ) + b n nᵀ − c t tᵀ
template <class S>
STICTION_FN Sym3<S> curvature(S a, S b, const Vec3<S>& n, S c, const Vec3<S>& t) {
  const S k = b - a;
  const Vec3<S> u = k * n, w = c * t;
  return {a + u.x * n.x - w.x * t.x, a + u.y * n.y - w.y * t.y, a + u.z * n.z - w.z * t.z,
          u.x * n.y - w.x * t.y,     u.x * n.z - w.x * t.z,     u.y * n.z - w.y * t.z};
}
// s u uᵀ
template <class S>
STICTION_FN Sym3<S> outer(S s, const Vec3<S>& u) {
  const Vec3<S> w = s * u;
  return {w.x * u.x, w.y * u.y, w.z * u.z, w.x * u.y, w.x * u.z, w.y * u.z};
}
template <class S>
STICTION_FN Sym3<S> operator+(const Sym3<S>& a, const Sym3<S>& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

// Hunt–Crossley with u = v̂ − v_n: γ = δt (F + a u)(D + d u), ℓ'' = δt (F d + a D + 2 a d u) for
// u > 0, else 0; a = δt k.
template <class S>
STICTION_FN RowValue<S> hunt_crossley(const ContactLaw<S>& c, S v_n) {
  const S u = vmax(c.c0 - v_n, S(0.0)), a = c.c1, F = c.c2, D = c.c3;
  const Mask<S> closing = u > S(0.0);
  const S impulse = c.dt * ((F + a * u) * (D + c.d * u));
  const S hess = c.dt * (F * c.d + a * D + S(2.0) * (a * c.d * u));
  return {select(closing, impulse, S(0.0)), select(closing, hess, S(0.0))};
}

// ℓ = −N(v_n) + μ n0 ‖x‖_s, x = v_t + b_t, ‖x‖_s' = t = x/den, den = sqrt(|x|² + ε²)
template <class S>
STICTION_FN ContactValue<S> lagged(const ContactLaw<S>& c, const Vec3<S>& v) {
  const S v_n = dot(c.normal, v);
  const Vec3<S> x = (v - v_n * c.normal) + c.shift;
  const S r = S(1.0) / vsqrt(norm2(x) + c.eps * c.eps);
  const Vec3<S> t = r * x;
  const RowValue<S> n = hunt_crossley(c, v_n);
  const S bound = c.mu * c.n0, across = bound * r;
  return {n.impulse * c.normal - bound * t, curvature(across, n.hess, c.normal, across, t)};
}

// ℓ = −N(z), z = v_n − μ ‖x‖_s, ‖x‖_s = |x|²/(den + ε)
template <class S>
STICTION_FN ContactValue<S> similar(const ContactLaw<S>& c, const Vec3<S>& v) {
  const S v_n = dot(c.normal, v);
  const Vec3<S> x = (v - v_n * c.normal) + c.shift;
  const S x2 = norm2(x), den = vsqrt(x2 + c.eps * c.eps), r = S(1.0) / den;
  const Vec3<S> t = r * x;
  const RowValue<S> n = hunt_crossley(c, v_n - c.mu * (x2 / (den + c.eps)));
  const Vec3<S> dz = c.normal - c.mu * t;
  const S across = c.mu * n.impulse * r;
  return {n.impulse * dz, outer(n.hess, dz) + curvature(across, S(0.0), c.normal, across, t)};
}

// ℓ = ½ γᵀ R γ, γ = projection of y = R⁻¹ (v̂ − v_c) on the friction cone in the norm of R
template <class S>
STICTION_FN ContactValue<S> sap(const ContactLaw<S>& c, const Vec3<S>& v) {
  const S inv_n = c.c1, inv_t = c.c2, zero = S(0.0);
  const S v_n = dot(c.normal, v), y_n = inv_n * (c.c0 - v_n);
  const Vec3<S> y_t = -(inv_t * (v - v_n * c.normal));
  const S y_r = norm(y_t);
  const Vec3<S> t = (S(1.0) / select(y_r > zero, y_r, S(1.0))) * y_t;
  const S mu_hat = c.mu * inv_n / select(inv_t > zero, inv_t, S(1.0));
  const Mask<S> sticks = y_r <= c.mu * y_n && c.mu > zero;
  const Mask<S> acts = y_n + mu_hat * y_r > zero;

  // sliding: γ_n = (y_n + μ̂ y_r)/(1 + μ μ̂), γ_t = μ γ_n t
  const S scale = S(1.0) / (S(1.0) + c.mu * mu_hat);
  const S slide_n = scale * (y_n + mu_hat * y_r);
  const S n = select(acts, select(sticks, y_n, slide_n), zero);
  const Vec3<S> tangent = select<S>(sticks, y_t, (c.mu * n) * t);
  const Vec3<S> impulse = n * c.normal + select<S>(acts, tangent, zero3<S>());

  // G: sticking diag(1/R); sliding μ/R_t (γ_n/y_r (P − t tᵀ) + μ̂ s t tᵀ), μ s/R_n n tᵀ, s/R_n n nᵀ,
  // which is s/R_n (n + μ t)(n + μ t)ᵀ and the part across
  const S slide_across = c.mu * inv_t * (n / select(y_r > zero, y_r, S(1.0)));
  const S across = select(acts, select(sticks, inv_t, slide_across), zero);
  const S along = select(sticks, zero, across);
  const S normal = select(acts && sticks, inv_n, zero);
  const S oblique = select(acts, select(sticks, zero, scale * inv_n), zero);
  return {impulse,
          outer(oblique, c.normal + c.mu * t) + curvature(across, normal, c.normal, along, t)};
}

template <class S>
STICTION_FN ContactLaw<S> load_law(const ModelView& m, const EnvView<S>& e, int point) {
  const S* c = e.point_law + 4 * point;
  ContactLaw<S> law{load3(e.point_normal, point),
                    zero3<S>(),
                    e.point_mu[point],
                    e.point_n0[point],
                    e.point_eps[point],
                    c[0],
                    c[1],
                    c[2],
                    c[3],
                    e.point_d[point],
                    S(m.opt.timestep)};
  if (m.opt.anchored) law.shift = load3(e.point_shift, point);
  return law;
}

template <class S>
STICTION_FN ContactValue<S> evaluate(const ModelView& m, const EnvView<S>& e, int point,
                                     const Vec3<S>& v_c) {
  const ContactLaw<S> law = load_law(m, e, point);
  switch (m.opt.contact_model) {
    case 0: return lagged(law, v_c);
    case 1: return similar(law, v_c);
    default: return sap(law, v_c);
  }
}

STICTION_PHYSICS_END

// Convex contact laws in world axes: impulse γ = −∂ℓ/∂v_c on body 2 and curvature G = ∂²ℓ/∂v_c² of
// one point. Lagged and Similar: "Irrotational Contact Fields"; SAP: "An Unconstrained Convex
// Formulation of Compliant Contact". v_n = n·v_c − v̂, v_t = v_c − (n·v_c) n: the normal velocity is
// measured from the root v̂ of the law, so that a stiff law takes no difference of large numbers. All
// impulses are over one step.
#pragma once

#include "physics/base/sym6.h"
#include "physics/base/views.h"

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

// Constants of the law of one point, as a function of v_n and |x|; ContactLaw adds the axes.
template <class S>
struct SlipLaw {
  S mu, n0, eps;    // lagged impulse, soft-norm speed
  S c1, c2, c3, d;  // point_law without v̂, point_d
  S dt;
};
template <class S>
struct ContactLaw {
  Vec3<S> normal, shift;  // shift of the slip: anchored stiction (b_t), mocap bodies, surfaces
  SlipLaw<S> slip;
};

// Returns the sum of an isotropic matrix in the tangent plane and two outer products:
// a (I − n nᵀ) + b n nᵀ + c s sᵀ
template <class S>
STICTION_FN Sym3<S> curvature(S a, S b, const Vec3<S>& n, S c, const Vec3<S>& s) {
  const S k = b - a;
  const Vec3<S> u = k * n, w = c * s;
  return {a + u.x * n.x + w.x * s.x, a + u.y * n.y + w.y * s.y, a + u.z * n.z + w.z * s.z,
          u.x * n.y + w.x * s.y,     u.x * n.z + w.x * s.z,     u.y * n.z + w.y * s.z};
}
// Returns s u uᵀ.
template <class S>
STICTION_FN Sym3<S> outer(S s, const Vec3<S>& u) {
  const Vec3<S> w = s * u;
  return {w.x * u.x, w.y * u.y, w.z * u.z, w.x * u.y, w.x * u.z, w.y * u.z};
}

// Hunt–Crossley with u = −v_n: γ = δt (F + a u)(D + d u), ℓ'' = δt (F d + a D + 2 a d u) for
// u > 0, else 0; a = δt k.
template <class S>
STICTION_FN RowValue<S> hunt_crossley(const SlipLaw<S>& c, S v_n) {
  const S u = vmax(-v_n, S(0.0)), a = c.c1, F = c.c2, D = c.c3;
  const Mask<S> closing = u > S(0.0);
  const S impulse = c.dt * ((F + a * u) * (D + c.d * u));
  const S hess = c.dt * (F * c.d + a * D + S(2.0) * (a * c.d * u));
  return {select(closing, impulse, S(0.0)), select(closing, hess, S(0.0))};
}

// ℓ(v_n, |x|), x = v_t + b_t: all laws of a point depend on these two alone. With t = r x, s = n × t
//   γ = impulse n − drag x
//   G = plane (I − n nᵀ) + normal n nᵀ + across s sᵀ + oblique u uᵀ,  u = n − tilt t
// A sum without differences: G stays positive even where x is only round-off.
template <class S>
struct SlipValue {
  S impulse, r, drag;
  S plane, normal, across, oblique, tilt;
};

// ℓ = −N(v_n) + μ n0 ‖x‖_s, ‖x‖_s' = t = x/den, den = sqrt(|x|² + ε²); with drag = μ n0/den
//   G_t = drag (I − n nᵀ − t tᵀ) = drag (1 − |t|²)(I − n nᵀ) + drag s sᵀ,  1 − |t|² = (ε/den)²
template <class S>
STICTION_FN SlipValue<S> lagged(const SlipLaw<S>& c, S v_n, S x2) {
  const S r = S(1.0) / vsqrt(x2 + c.eps * c.eps), drag = c.mu * c.n0 * r, e = c.eps * r;
  const RowValue<S> n = hunt_crossley(c, v_n);
  return {n.impulse, r, drag, drag * (e * e), n.hess, drag, S(0.0), S(0.0)};
}

// ℓ = −N(z), z = v_n − μ ‖x‖_s, ‖x‖_s = |x|²/(den + ε)
template <class S>
STICTION_FN SlipValue<S> similar(const SlipLaw<S>& c, S v_n, S x2) {
  const S den = vsqrt(x2 + c.eps * c.eps), r = S(1.0) / den;
  const RowValue<S> n = hunt_crossley(c, v_n - c.mu * (x2 / (den + c.eps)));
  const S drag = c.mu * n.impulse * r, e = c.eps * r;
  return {n.impulse, r, drag, drag * (e * e), S(0.0), drag, n.hess, c.mu};
}

// ℓ = ½ γᵀ R γ, γ = projection of y = R⁻¹ (v̂ − v_c) on the friction cone in the norm of R; x = v_t
template <class S>
STICTION_FN SlipValue<S> sap(const SlipLaw<S>& c, S v_n, S x2) {
  const S inv_n = c.c1, inv_t = c.c2, zero = S(0.0), one = S(1.0);
  const S x = vsqrt(x2), y_n = -(inv_n * v_n), y_r = inv_t * x;
  const S mu_hat = c.mu * inv_n / select(inv_t > zero, inv_t, one);
  const Mask<S> sticks = y_r <= c.mu * y_n && c.mu > zero;
  const Mask<S> acts = y_n + mu_hat * y_r > zero;

  // sliding: γ_n = (y_n + μ̂ y_r)/(1 + μ μ̂), γ_t = −μ γ_n t
  const S scale = one / (one + c.mu * mu_hat);
  const S slide_n = scale * (y_n + mu_hat * y_r);
  const S n = select(acts, select(sticks, y_n, slide_n), zero);

  // G: sticking diag(1/R); sliding c/R_n (n − μ t)(n − μ t)ᵀ, c = 1/(1 + μ μ̂), and across the slip
  // μ/R_t γ_n/y_r
  const S slide_drag = c.mu * inv_t * (n / select(y_r > zero, y_r, one));
  const S drag = select(acts, select(sticks, inv_t, slide_drag), zero);
  return {n,
          select(x > zero, one, zero) / select(x > zero, x, one),
          drag,
          select(sticks, drag, zero),
          select(acts && sticks, inv_n, zero),
          select(sticks, zero, drag),
          select(acts, select(sticks, zero, scale * inv_n), zero),
          c.mu};
}

template <class S>
STICTION_FN SlipValue<S> slip_law(int model, const SlipLaw<S>& c, S v_n, S x2) {
  switch (model) {
    case kLagged: return lagged(c, v_n, x2);
    case kSap: return sap(c, v_n, x2);
    default: return similar(c, v_n, x2);
  }
}

// Returns the part of v in the tangent plane. Projecting only once leaves a normal part of the round-off of v,
// which stiff friction would take for slip.
template <class S>
STICTION_FN Vec3<S> tangential(const Vec3<S>& n, S v_n, const Vec3<S>& v) {
  const Vec3<S> once = v - v_n * n;
  return once - dot(n, once) * n;
}
template <class S>
STICTION_FN Vec3<S> slip(const ContactLaw<S>& c, S v_n, const Vec3<S>& v) {
  return tangential(c.normal, v_n, v) + c.shift;
}

// Curvature that comes with the impulse: exact, ∂²ℓ/∂v_c², or bounding, with friction as stiff along the slip as
// across it. ‖x‖_s is concave in |x|²: the tangent parabola ½ drag |x|² lies nowhere below it.
enum class Curvature : bool { exact, bounding };

template <class S>
STICTION_FN ContactValue<S> evaluate(int model, const ContactLaw<S>& c, const Vec3<S>& v,
                                     Curvature which = Curvature::exact) {
  const S v_n = dot(c.normal, v);
  const Vec3<S> x = slip(c, v_n, v);
  SlipValue<S> s = slip_law(model, c.slip, v_n, norm2(x));
  if (which == Curvature::bounding) s.plane = s.drag, s.across = S(0.0);
  const Vec3<S> t = s.r * x;
  const Sym3<S> hess = curvature(s.plane, s.normal, c.normal, s.across, cross(c.normal, t));
  const Vec3<S> impulse = s.impulse * c.normal - s.drag * x;
  if (model == kLagged) return {impulse, hess};
  return {impulse, outer(s.oblique, c.normal - s.tilt * t) + hess};
}

// Returns the impulse alone.
template <class S>
STICTION_FN Vec3<S> impulse_at(int model, const ContactLaw<S>& c, const Vec3<S>& v) {
  const S v_n = dot(c.normal, v);
  const Vec3<S> x = slip(c, v_n, v);
  const SlipValue<S> s = slip_law(model, c.slip, v_n, norm2(x));
  return s.impulse * c.normal - s.drag * x;
}

// Along v + α d only two quantities change: v_n = v_n0 + α d_n, and y = y0 + α s, the component of x along its
// rate d_t = s t̂; the rest of x is constant.
template <class S>
struct PointLine {
  S v_n, d_n, y, s, rest2;
};
template <class S>
STICTION_FN PointLine<S> point_line(const ContactLaw<S>& c, const Vec3<S>& v, const Vec3<S>& d) {
  const S v_n = dot(c.normal, v), d_n = dot(c.normal, d), zero = S(0.0);
  const Vec3<S> x = slip(c, v_n, v), d_t = tangential(c.normal, d_n, d);
  const S s = norm(d_t);
  const Vec3<S> along = (select(s > zero, S(1.0), zero) / select(s > zero, s, S(1.0))) * d_t;
  const S y = dot(along, x);
  return {v_n, d_n, y, s, norm2(x - y * along)};
}

// Slope and curvature of a cost along a line.
template <class S>
struct LineValue {
  S slope, curvature;
  STICTION_FN LineValue(S a, S b) : slope(a), curvature(b) {}
  STICTION_FN explicit LineValue(double x) : slope(S(x)), curvature(S(x)) {}
};
template <class S>
STICTION_FN LineValue<S> operator+(const LineValue<S>& a, const LineValue<S>& b) {
  return {a.slope + b.slope, a.curvature + b.curvature};
}

// Returns −d·γ and dᵀ G d at v + α d, with x·d = y s, t·d = r y s and |n × t · d|² = (r s)² rest2.
template <class S>
STICTION_FN LineValue<S> evaluate_line(int model, const SlipLaw<S>& c, const PointLine<S>& l,
                                       S alpha) {
  const S y = l.y + alpha * l.s;
  const SlipValue<S> v = slip_law(model, c, l.v_n + alpha * l.d_n, y * y + l.rest2);
  const S x_d = y * l.s, t_d = v.r * x_d;
  const S slope = v.drag * x_d - l.d_n * v.impulse;
  const S curvature =
      v.normal * (l.d_n * l.d_n) + (v.plane + v.across * (v.r * (v.r * l.rest2))) * (l.s * l.s);
  if (model == kLagged) return {slope, curvature};
  const S u_d = l.d_n - v.tilt * t_d;
  return {slope, curvature + v.oblique * (u_d * u_d)};
}

template <class S>
STICTION_FN SlipLaw<S> load_slip_law(const ModelView& m, const EnvView<S>& e, int point) {
  const S* const c = e.point_law + 4 * point;
  return {e.point_mu[point], e.point_n0[point], e.point_eps[point], c[1], c[2], c[3],
          e.point_d[point],  S(m.opt.timestep)};
}
template <class S>
STICTION_FN ContactLaw<S> load_law(const ModelView& m, const EnvView<S>& e, int point) {
  return {load3(e.point_normal, point), m.opt.shifted ? load3(e.point_shift, point) : zero3<S>(),
          load_slip_law(m, e, point)};
}

STICTION_PHYSICS_END

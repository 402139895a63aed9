// Torsional and rolling friction of the lagged model: convex laws of the angular velocity ω of body 2
// relative to body 1 at a point, with soft norms and bounds of their own,
//   ℓ = μ_t n0 ‖ω_n‖_s + μ_r n0 ‖ω_t‖_s,   ω_n = n·ω,  ω_t = ω − ω_n n
// The impulse is a couple, −∂ℓ/∂ω on body 2. A point without such friction has μ_t = μ_r = 0.
//
// couple_constants  reads   pair_torsion, pair_rolling, point_n0, point_mu, inv_diag, cdof
//                   writes  point_couple_law
#pragma once

#include "physics/law/contact_law.h"
#include "physics/law/friction.h"
#include "physics/tree/point_delassus.h"

STICTION_PHYSICS_BEGIN

// ℓ = bound ‖x‖_s: the couple is −drag x; ℓ'' has `plane` along x and `drag` across it; r = 1/den.
template <class S>
struct SoftLaw {
  S bound, eps;
};
template <class S>
struct SoftValue {
  S drag, plane, r;
};
template <class S>
STICTION_FN SoftValue<S> soft_law(const SoftLaw<S>& c, S x2) {
  const S r = S(1.0) / vsqrt(x2 + c.eps * c.eps), drag = c.bound * r, e = c.eps * r;
  return {drag, drag * (e * e), r};
}

template <class S>
struct CoupleLaw {
  Vec3<S> normal, shift;  // shift of ω: anchored stiction, mocap bodies, surfaces
  SoftLaw<S> torsion, rolling;
};

template <class S>
STICTION_FN ContactValue<S> evaluate(const CoupleLaw<S>& c, const Vec3<S>& omega,
                                     Curvature which = Curvature::exact) {
  const Vec3<S> x = omega + c.shift;
  const S x_n = dot(c.normal, x);
  const Vec3<S> x_t = tangential(c.normal, x_n, x);
  SoftValue<S> n = soft_law(c.torsion, x_n * x_n), t = soft_law(c.rolling, norm2(x_t));
  S across = t.drag;
  if (which == Curvature::bounding) n.plane = n.drag, t.plane = t.drag, across = S(0.0);
  return {-(n.drag * x_n) * c.normal - t.drag * x_t,
          curvature(t.plane, n.plane, c.normal, across, cross(c.normal, t.r * x_t))};
}

// As point_line: x_n = v_n + α d_n, and the component y + α s of x_t changes.
template <class S>
STICTION_FN PointLine<S> couple_line(const CoupleLaw<S>& c, const Vec3<S>& omega,
                                     const Vec3<S>& d) {
  return point_line(ContactLaw<S>{c.normal, zero3<S>(), {}}, omega + c.shift, d);
}
template <class S>
STICTION_FN LineValue<S> evaluate_line(const SoftLaw<S>& torsion, const SoftLaw<S>& rolling,
                                       const PointLine<S>& l, S alpha) {
  const S x_n = l.v_n + alpha * l.d_n, y = l.y + alpha * l.s;
  const SoftValue<S> n = soft_law(torsion, x_n * x_n), t = soft_law(rolling, y * y + l.rest2);
  return {n.drag * x_n * l.d_n + t.drag * (y * l.s),
          n.plane * (l.d_n * l.d_n) + (t.plane + t.drag * (t.r * (t.r * l.rest2))) * (l.s * l.s)};
}

template <class S>
STICTION_FN SoftLaw<S> load_torsion(const EnvView<S>& e, int point) {
  const S* const c = e.point_couple_law + 5 * point;
  return {c[0] * e.point_n0[point], c[2]};
}
template <class S>
STICTION_FN SoftLaw<S> load_rolling(const EnvView<S>& e, int point) {
  const S* const c = e.point_couple_law + 5 * point;
  return {c[1] * e.point_n0[point], c[3]};
}
template <class S>
STICTION_FN CoupleLaw<S> load_couple(const ModelView& m, const EnvView<S>& e, int point) {
  return {load3(e.point_normal, point),
          m.opt.shifted ? load3(e.point_couple_shift, point) : zero3<S>(), load_torsion(e, point),
          load_rolling(e, point)};
}

// Returns ε = max(v_s μ/μ_t, σ w_ω μ_t n0): a contact patch of radius μ_t/μ that rotates at ε slips at v_s at its
// rim. MuJoCo's least μ replaces a μ of 0; where μ_t = 0 any ε will do.
template <class S>
STICTION_FN S turning_scale(const ModelView& m, S w, S mu, S coefficient, S n0) {
  constexpr double kLeastFriction = 1e-5;
  const Mask<S> acts = coefficient > S(0.0);
  const S patch = vmax(mu, S(kLeastFriction)) / select(acts, coefficient, S(1.0));
  const S eps =
      vmax(regularization<S>(m) * w * coefficient * n0, S(m.opt.stiction_tolerance) * patch);
  return select(acts, eps, S(m.opt.stiction_tolerance));
}
template <class S>
STICTION_FN void set_turning_scales(const ModelView& m, const EnvView<S>& e, int p, S n0,
                                    const Mask<S>& lanes) {
  S* const c = e.point_couple_law + 5 * p;
  const S mu = e.point_mu[p];
  c[2] = select(lanes, turning_scale(m, c[4], mu, c[0], n0), c[2]);
  c[3] = select(lanes, turning_scale(m, c[4], mu, c[1], n0), c[3]);
}

template <class S>
STICTION_FN void couple_constants(const ModelView& m, EnvView<S>& e, int p, const PairBodies& b,
                                  const Mask<S>& active) {
  const int pair = m.slot_pair[e.point_slot[p]], condim = m.pair_condim[pair];
  const S zero = S(0.0);
  S* const c = e.point_couple_law + 5 * p;
  c[0] = condim > 3 ? select(active, e.pair_torsion[pair], zero) : zero;
  c[1] = condim > 4 ? select(active, e.pair_rolling[pair], zero) : zero;
  c[2] = c[3] = zero;
  c[4] = condim > 3 ? angular_delassus(m, e, b) : zero;
  set_turning_scales(m, e, p, e.point_n0[p], all_lanes<S>());
}

STICTION_PHYSICS_END

// Friction iterations of the lagged model: the bound n0 of friction becomes the normal impulse n of the
// solve before; and which environments need that.
//
// reads   point_vel, point_omega, momentum, qfrc_smooth, inv_A
// writes  point_n0, point_eps, point_couple_law
#pragma once

#include "physics/law/couple_law.h"

STICTION_PHYSICS_BEGIN

// Error of friction in a step, as a share of the step's impulse, beyond which friction_iterations =
// "auto" solves again.
inline constexpr double kFrictionShare = 0.02;

// n0 = n(v_n), ε = max(v_s, σ w μ n0)
template <class Team, class S>
STICTION_FN void set_bounds(const Team& team, const ModelView& m, EnvView<S>& e,
                            const Mask<S>& lanes) {
  team.for_each(e.npoint[0], [&](int p) {
    const SlipLaw<S> law = load_slip_law(m, e, p);
    const S v_n = dot(load3(e.point_normal, p), load3(e.point_vel, p));
    const S n = hunt_crossley(law, v_n).impulse;
    e.point_n0[p] = select(lanes, n, law.n0);
    e.point_eps[p] = select(lanes, slip_scale(m, e.point_w[p], law.mu, n), law.eps);
    if (m.ncouple > 0) set_turning_scales(m, e, p, n, lanes);
  });
}

// What friction at a point would change if its bound became μ n instead of μ n0, at the slip x of the
// iterate:
//   n < n0, it slides or leaves   by what friction is beyond the new bound:  μ n0 |x|/√(|x|² + ε²) − μ n
//   n > n0, it slides or lands    by what the new bound adds, but no more than stops the slip, |x|/w:
//                                 μ (n − n0) |x|/(√(|x|² + ε'²) + w μ n)
// Where it sticks, |x| ≪ ε, both are nothing: a load below the bound is carried whatever the bound.
//
// Turning likewise, with μ_t or μ_r, their ε and w_ω.
template <class S>
struct Bound {
  S mu, n0, n, w;
  S eps, next_eps;  // of n0, of n
};
template <class S>
STICTION_FN S friction_change(const Bound<S>& b, S x2) {
  const S x = vsqrt(x2);
  const S beyond = b.mu * (b.n0 * (x / vsqrt(x2 + b.eps * b.eps)) - b.n);
  const S added =
      b.mu * (b.n - b.n0) * (x / (vsqrt(x2 + b.next_eps * b.next_eps) + b.w * b.mu * b.n));
  return vmax(vmax(beyond, added), S(0.0));
}

// w_ω Δ² of torsion and rolling, where the normal impulse is n.
template <class S>
STICTION_FN S turning_change2(const ModelView& m, const EnvView<S>& e, int p, S n) {
  const CoupleLaw<S> law = load_couple(m, e, p);
  const S* const c = e.point_couple_law + 5 * p;
  const S w = c[4], mu = e.point_mu[p], n0 = e.point_n0[p];
  const Vec3<S> x = load3(e.point_omega, p) + law.shift;
  const S x_n = dot(law.normal, x);
  const S torsion =
      friction_change<S>({c[0], n0, n, w, c[2], turning_scale(m, w, mu, c[0], n)}, x_n * x_n);
  const S rolling = friction_change<S>({c[1], n0, n, w, c[3], turning_scale(m, w, mu, c[1], n)},
                                       norm2(tangential(law.normal, x_n, x)));
  return w * (torsion * torsion + rolling * rolling);
}

// w Δγ² of a point.
template <class S>
STICTION_FN S friction_change2(const ModelView& m, const EnvView<S>& e, int p) {
  const ContactLaw<S> law = load_law(m, e, p);
  const SlipLaw<S>& c = law.slip;
  const Vec3<S> v = load3(e.point_vel, p);
  const S v_n = dot(law.normal, v), n = hunt_crossley(c, v_n).impulse, w = e.point_w[p];
  const S change = friction_change<S>({c.mu, c.n0, n, w, c.eps, slip_scale(m, w, c.mu, n)},
                                      norm2(slip(law, v_n, v)));
  const S change2 = w * change * change;
  return m.ncouple > 0 ? change2 + turning_change2(m, e, p, n) : change2;
}

// Lanes in which friction is wrong by more than a share of the step's impulse, in the norm of the
// residual: Σ w Δγ² > share² max(‖D p‖², ‖D δt k‖²), p = A (v − v*) the impulse of all constraints and
// δt k that of all other forces. Both are the same for an observer who moves along.
template <class Team, class S>
STICTION_FN Mask<S> bounds_moved(const Team& team, const ModelView& m, const EnvView<S>& e) {
  const S change2 =
      team.template sum<S>(e.npoint[0], [&](int p) { return friction_change2(m, e, p); });
  const S dt = S(m.opt.timestep);
  const auto norms2 = team.template sum<Sums<S, 2>>(m.nv, [&](int i) {
    const S constraints = e.momentum[i], others = dt * e.qfrc_smooth[i], inv_A = e.inv_A[i];
    return Sums<S, 2>(constraints * constraints * inv_A, others * others * inv_A);
  });
  return change2 > S(kFrictionShare * kFrictionShare) * vmax(norms2.of[0], norms2.of[1]);
}

STICTION_PHYSICS_END

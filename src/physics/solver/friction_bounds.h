// The friction bounds of the lagged model, n0: how they become the normal impulse n, and how friction changes
// thereby.
//
// reads   point_vel, point_omega, point_law, point_mu, point_w
// writes  point_n0, point_eps, point_couple_law
#pragma once

#include "physics/law/couple_law.h"

STICTION_PHYSICS_BEGIN

// Sets n0 = n(v_n), ε = max(v_s, σ w μ n0).
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

// The change of friction at a point if its bound became μ n instead of μ n0, at the slip x of the
// iterate:
//   n < n0, sliding or separating  the friction in excess of the new bound:  μ n0 |x|/√(|x|² + ε²) − μ n
//   n > n0, sliding or landing     the increase of the bound, but no more than stops the slip, |x|/w:
//                                 μ (n − n0) |x|/(√(|x|² + ε'²) + w μ n)
// Where the point sticks, |x| ≪ ε, both vanish: a load below the bound is carried whatever the bound is.
//
// The same holds for torsion and rolling, with μ_t or μ_r, their ε and w_ω.
template <class S>
struct Bound {
  S mu, n0, n, w;
  S eps, next_eps;  // for n0, for n
};
template <class S>
STICTION_FN S friction_change(const Bound<S>& b, S x2) {
  const Mask<S> falls = b.n < b.n0;
  const S eps = select(falls, b.eps, b.next_eps), stops = select(falls, S(0.0), b.w * b.mu * b.n);
  const S share = vsqrt(x2) / (vsqrt(x2 + eps * eps) + stops);
  return vmax(b.mu * select(falls, b.n0 * share - b.n, (b.n - b.n0) * share), S(0.0));
}

// Returns w_ω Δ² of torsion and rolling if the normal impulse is n.
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

// Returns w Δγ² of a point with the slip x, x2 = |x|², if its normal impulse is n.
template <class S>
STICTION_FN S coulomb_change2(const ModelView& m, const EnvView<S>& e, int p, S x2, S n) {
  const S mu = e.point_mu[p], w = e.point_w[p];
  const S change =
      friction_change<S>({mu, e.point_n0[p], n, w, e.point_eps[p], slip_scale(m, w, mu, n)}, x2);
  const S change2 = w * change * change;
  return m.ncouple > 0 ? change2 + turning_change2(m, e, p, n) : change2;
}

// As coulomb_change2, but with friction_exact the bound itself has to be right, at the fixed point.
template <class S>
STICTION_FN S friction_change2(const ModelView& m, const EnvView<S>& e, int p, S x2, S n) {
  if (!m.opt.friction_exact) return coulomb_change2(m, e, p, x2, n);
  const S miss = e.point_mu[p] * (n - e.point_n0[p]);
  return e.point_w[p] * miss * miss;
}

STICTION_PHYSICS_END

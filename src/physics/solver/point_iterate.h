// Points between two iterates of Newton's method: the update of their velocities and duals, and the laws at the next
// iterate. With the lagged law a point keeps the dual z of its friction, and λ, the normal impulse of the linear model
// of the step; G_n is the normal curvature that was used in H:
//
//   λ = (n(v_n) − α G_n n·J Δv)₊
//
// If α = 1 and no kink was crossed, the λ of all points balance the momentum, A (v − v*) = Jᵀγ of the linear model,
// however far n(v_n) still is from them.
//
// reads   point_law, point_n0, point_eps, point_vel, point_dvel, point_omega, point_domega
// writes  point_vel, point_omega, point_impulse, point_hess, point_couple, point_couple_hess, point_dual, point_r,
//         point_push
#pragma once

#include "physics/law/friction_dual.h"
#include "physics/solver/line_search.h"
#include "physics/solver/solve_state.h"

STICTION_PHYSICS_BEGIN

// The first iterate may be far from the kinks of friction, beyond which ∂²ℓ/∂v_c² predicts nothing: exact steps
// would make the slip change sign again and again. In that case the duals begin at 0, else at t.
inline constexpr double kFarResidual = 0.01;

// Resets all points, also those that act in no iterating lane: in a shared pack they may become live again.
template <class Team, class S>
STICTION_FN void forget_points(const Team& team, EnvView<S>& e) {
  team.for_each(e.npoint[0], [&](int p) {
    store3(e.point_dual, p, zero3<S>());
    e.point_r[p] = e.point_push[p] = e.point_miss[p] = S(0.0);
  });
}

// Stores the lagged law at the iterate, with the normal curvature `push` and the dual z.
template <class S>
STICTION_FN void store_lagged(EnvView<S>& e, int p, const Vec3<S>& normal, const Vec3<S>& x,
                              const SlipValue<S>& at, S push, const Vec3<S>& z) {
  e.point_push[p] = push;
  e.point_r[p] = at.r;
  store3(e.point_impulse, p, at.impulse * normal - at.drag * x);
  store_sym3(e.point_hess, p, dual_curvature(push, at.drag, normal, at.r * x, z));
}

// Calls f(p, law, v_n, x, value of the law) for the live points.
template <class Team, class S, class F>
STICTION_FN void for_lagged(const Team& team, const ModelView& m, EnvView<S>& e, const F& f) {
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const ContactLaw<S> law = load_law(m, e, p);
    const Vec3<S> v = load3(e.point_vel, p);
    const S v_n = dot(law.normal, v);
    const Vec3<S> x = slip(law, v_n, v);
    f(p, law, v_n, x, lagged(law.slip, v_n, norm2(x)));
  });
}

// Sets curvatures and duals of the first iteration in the lanes `first`; lanes that are `far` get the bounding ones.
template <class Team, class S>
STICTION_FN void first_duals(const Team& team, const ModelView& m, EnvView<S>& e,
                             const Mask<S>& first, const Mask<S>& far) {
  for_lagged(team, m, e,
             [&](int p, const ContactLaw<S>& law, S v_n, const Vec3<S>& x, const SlipValue<S>& at) {
               const S lands = landing_curvature(law.slip, v_n, e.point_w[p]);
               const S push = select(first, select(far, lands, at.normal), e.point_push[p]);
               const Vec3<S> begins = select<S>(far, zero3<S>(), bounded_dual(at.r * x));
               const Vec3<S> z = select<S>(first, begins, load3(e.point_dual, p));
               store3(e.point_dual, p, z);
               store_lagged(e, p, law.normal, x, at, push, z);
             });
}

// Similar and SAP: in the given lanes friction gets the same curvature along the slip as across it.
template <class Team, class S>
STICTION_FN void bound_points(const Team& team, const ModelView& m, EnvView<S>& e,
                              const Mask<S>& lanes) {
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const ContactValue<S> c = evaluate(m.opt.contact_model, load_law(m, e, p),
                                       load3(e.point_vel, p), Curvature::bounding);
    store_sym3(e.point_hess, p, select_sym3(lanes, c.hess, load_sym3(e.point_hess, p)));
  });
}
template <class Team, class S>
STICTION_FN void bound_couples(const Team& team, const ModelView& m, EnvView<S>& e,
                               const Mask<S>& lanes) {
  if (m.ncouple == 0) return;
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const ContactValue<S> turning =
        evaluate(load_couple(m, e, p), load3(e.point_omega, p), Curvature::bounding);
    store_sym3(e.point_couple_hess, p,
               select_sym3(lanes, turning.hess, load_sym3(e.point_couple_hess, p)));
  });
}

// Sets the curvatures of an iteration that may be far from the solution.
inline constexpr int kBoundedIterations = 2;
template <class Team, class S>
STICTION_FN void first_curvatures(const Team& team, const ModelView& m, EnvView<S>& e,
                                  SolveState<S>& s) {
  const Mask<S> far = s.active && s.residual > S(kFarResidual);
  if (m.opt.contact_model != kLagged) {
    s.bounded = far && s.round < S(kBoundedIterations);
    if (any_lane(s.bounded)) bound_points(team, m, e, s.bounded);
    return;
  }
  const Mask<S> first = s.active && s.iterations < S(0.5);
  s.bounded = first && far;
  if (!any_lane(first)) return;
  first_duals(team, m, e, first, far);
  bound_couples(team, m, e, s.bounded);
}

// Moves velocities and duals of the points, and λ in point_push; called before their laws are evaluated.
template <class Team, class S>
STICTION_FN void move_points(const Team& team, const ModelView& m, EnvView<S>& e,
                             const SolveState<S>& s, S alpha) {
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k];
    const Vec3<S> old = load3(e.point_vel, p), d = load3(e.point_dvel, p);
    store3(e.point_vel, p, select<S>(s.active, old + alpha * d, old));
    if (m.ncouple > 0) {
      const Vec3<S> omega = load3(e.point_omega, p);
      store3(e.point_omega, p,
             select<S>(s.active, omega + alpha * load3(e.point_domega, p), omega));
    }
    if (m.opt.contact_model != kLagged) return;
    const ContactLaw<S> law = load_law(m, e, p);
    const S v_n = dot(law.normal, old), d_n = dot(law.normal, d), r = e.point_r[p];
    const Vec3<S> x = slip(law, v_n, old), d_t = tangential(law.normal, d_n, d);
    const Vec3<S> z = load3(e.point_dual, p);
    store3(e.point_dual, p, select<S>(s.active, next_dual(r, r * x, z, d_t), z));
    const S n = hunt_crossley(law.slip, v_n).impulse - e.point_push[p] * (alpha * d_n);
    e.point_push[p] = vmax(n, S(0.0));
  });
}

// Evaluates the laws of the points at the iterate, with their duals and the chord to λ.
template <class Team, class S>
STICTION_FN void iterate_laws(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.opt.contact_model != kLagged)
    return point_laws(team, m, e, e.nlive[0], e.live_point, S(0.0));
  for_lagged(team, m, e,
             [&](int p, const ContactLaw<S>& law, S v_n, const Vec3<S>& x, const SlipValue<S>& at) {
               const S push = chord_curvature(law.slip, v_n, e.point_push[p]);
               store_lagged(e, p, law.normal, x, at, push, load3(e.point_dual, p));
             });
  couple_laws(team, m, e, e.nlive[0], e.live_point, S(0.0));
}

// Evaluates the laws at an iterate from which lanes begin another solve; other lanes keep their normal curvature.
template <class Team, class S>
STICTION_FN void laws_again(const Team& team, const ModelView& m, EnvView<S>& e,
                            const Mask<S>& lanes) {
  for_lagged(team, m, e,
             [&](int p, const ContactLaw<S>& law, S, const Vec3<S>& x, const SlipValue<S>& at) {
               const S push = select(lanes, at.normal, e.point_push[p]);
               store_lagged(e, p, law.normal, x, at, push, load3(e.point_dual, p));
             });
  couple_laws(team, m, e, e.nlive[0], e.live_point, S(0.0));
  row_laws(team, m, e, S(0.0));
}

STICTION_PHYSICS_END

// How far the friction of a step is from Coulomb's law with the normal impulses n(v_n) of the step itself, as a share of
// the step's impulse, in the group of trees where it is farthest:
//
//   max over groups √(Σ w Δγ²/max(‖D p‖², ‖D δt k‖²)),   Δγ as in friction_bounds.h with n = n(v_n)
//
// what friction_iterations = "auto" keeps below friction_tolerance. 0 where friction is bounded by its own impulse:
// Similar and SAP.
//
// friction_error   after a solve; reads point_vel, point_omega, point_n0, momentum, qfrc_smooth, inv_A
#pragma once

#include "physics/solver/friction_follow.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN S friction_error(const ModelView& m, const EnvView<S>& e) {
  const S zero = S(0.0), one = S(1.0);
  if (m.opt.contact_model != kLagged) return zero;
  S worst = zero;
  STICTION_ROLLED
  for (int group = 0; group < m.ngroup; ++group) {
    const S scale2 = group_scale2<S>(m, group, [&](int i) { return impulse_summands(m, e, i); });
    S change2 = zero;
    STICTION_ROLLED
    for (int p = 0; p < e.npoint[0]; ++p) {
      if (!pushes_group(m, e, group, p)) continue;
      const ContactLaw<S> law = load_law(m, e, p);
      const Vec3<S> v =
          load3(e.point_vel, p);  // against the world, not against the root of the law
      const S v_n = dot(law.normal, v) - e.point_law[4 * p];
      change2 = change2 + coulomb_change2(m, e, p, norm2(slip(law, dot(law.normal, v), v)),
                                          hunt_crossley(law.slip, v_n).impulse);
    }
    worst = vmax(worst, select(scale2 > zero, change2 / select(scale2 > zero, scale2, one), zero));
  }
  return vsqrt(worst);
}

STICTION_PHYSICS_END

// Row of the limits of a joint or a tendon: target velocities v̂ of both, and their compliance R.
// Equations: docs/method.md, "Joint limits".
#pragma once

#include "physics/base/views.h"
#include "physics/constraint/servos.h"
#include "physics/law/row_law.h"

STICTION_PHYSICS_BEGIN

// A limit gives way by at most this share of the change of velocity that it demands, ...
inline constexpr double kLimitYield = 0.02;
// ... and under a constant force by at most this angle, or share of a slide's range.
inline constexpr double kLimitDepth = 0.01;

// 1/T with which a violated limit returns, at most `fastest`. solref: (T, -), or (−k, −b) with T = b/k.
template <class S>
STICTION_FN S recovery_rate(const S* solref, S fastest) {
  const S zero = S(0.0), one = S(1.0);
  const Mask<S> standard = solref[0] > zero;
  const S k = select(standard, one, -solref[0]), b = select(standard, solref[0], -solref[1]);
  const Mask<S> slow = k < fastest * b;
  return select(slow, k / select(slow, b, one), select(k > zero, fastest, zero));
}

// w/R = 1/min(0.02, yield/demand), at most near-rigid; `demand`: the change of velocity that the
// limit asks for, `yield`: the speed at which it may give way.
template <class S>
STICTION_FN S limit_stiffness(S demand, S yield) {
  const S rigid = S(1 / kRowNearRigid);
  const Mask<S> yields = demand < rigid * yield;
  return select(yields, vmax(S(1 / kLimitYield), demand / select(yields, yield, S(1.0))), rigid);
}

// The limits of a coordinate at the distances `below` and `above`, g; w > 0 its Delassus scale, v its velocity
// at the end of the step without them, `depth` how far they may give way.
//   near_rigid  v̂ = −g/(2 δt);  R = β²/4π² w
//   solref      v̂ = −g/δt while g >= 0, then −g/max(T, 2 δt);  R by the demand v̂ − v of the limit
template <class S>
STICTION_FN LimitLaw<S> limit_law(const ModelView& m, S below, S above, const S* solref, S w, S v,
                                  S depth) {
  const double dt = m.opt.timestep;
  const S zero = S(0.0), half_rate = S(1 / (2 * dt));
  if (m.opt.near_rigid_limits)
    return {-half_rate * below, S(1.0) / (S(kRowNearRigid) * w), -half_rate * above};

  const S rate = recovery_rate(solref, half_rate);
  const S lower = -(select(below < zero, rate, S(1 / dt)) * below);
  const S upper = -(select(above < zero, rate, S(1 / dt)) * above);
  const S demand = vmax(vmax(lower - v, upper + v), zero);
  return {lower, limit_stiffness(demand, rate * depth) / w, upper};
}

// Distances to the limits, negative beyond them.
template <class S>
struct Gaps {
  S below, above;
};
// The limits of the length c at the velocity v0. `impulse(i)`: of all other forces on dof i in this step. A length
// that moves nothing, w = 0, has none.
template <class S, class P>
STICTION_FN LimitLaw<S> length_limits(const ModelView& m, const EnvView<S>& e, int c,
                                      const Gaps<S>& gaps, const S* solref, S depth, S v0,
                                      const P& impulse) {
  const S zero = S(0.0), w = moment_delassus(m, e, c);
  const Mask<S> moves = w > zero;
  const S change = moment_product<S>(m, e, c, [&](int, int i) { return impulse(i); });
  const LimitLaw<S> law =
      limit_law(m, gaps.below, gaps.above, solref, select(moves, w, S(1.0)), v0 + change, depth);
  return {select(moves, law.lower, zero), select(moves, law.inv_R, zero),
          select(moves, law.upper, zero)};
}

// The limits of dof i, whose joint has no other. `impulse`: of all other forces on the dof in this step.
template <class S>
STICTION_FN LimitLaw<S> limits_of(const ModelView& m, const EnvView<S>& e, int i, S impulse) {
  const int j = m.dof_jntid[i];
  const Wide<S> q = e.qpos[m.jnt_qposadr[j]], margin = e.jnt_margin[j];
  const Wide<S> low = e.jnt_range[2 * j], high = e.jnt_range[2 * j + 1];
  const S below = narrow<S>(q - low - margin), above = narrow<S>(high - margin - q);
  const S w = e.inv_diag[i], v = e.qvel[i] + w * impulse;
  const bool slide = static_cast<JointType>(m.jnt_type[j]) == JointType::slide;
  const S depth = S(kLimitDepth) * (slide ? narrow<S>(high - low) : S(1.0));
  return limit_law(m, below, above, e.jnt_solref + 2 * j, w, v, depth);
}

STICTION_PHYSICS_END

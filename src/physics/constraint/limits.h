// Row of the limits of a joint or a tendon: target velocities v̂ of both limits, and their compliance R.
// Equations: docs/method.md, "Joint limits".
#pragma once

#include "physics/base/views.h"
#include "physics/constraint/servos.h"
#include "physics/law/recovery.h"
#include "physics/law/row_law.h"

STICTION_PHYSICS_BEGIN

// A limit yields by at most this fraction of the velocity change that it demands, ...
inline constexpr double kLimitYield = 0.02;
// ... and under a constant force by at most this angle, or this fraction of a slide's range.
inline constexpr double kLimitDepth = 0.01;

// ... but it is never stiffer than this R/w, so that a float still resolves the part of A beside it.
inline constexpr double kLimitRigid = 1.0 / 16384;

// w/R = 1/0.02 + demand/yield, at most 1/kLimitRigid; `demand`: the velocity change that the limit asks for,
// `yield`: the speed by which it may be missed, R demand/w < yield. The miss grows with the demand, so that the
// velocity still determines the force (inverse.h).
template <class S>
STICTION_FN S limit_stiffness(S demand, S yield) {
  const S rigid = S(1 / kLimitRigid), soft = S(1 / kLimitYield);
  const Mask<S> yields = demand < (rigid - soft) * yield;
  return select(yields, soft + demand / select(yields, yield, S(1.0)), rigid);
}

// The limits of a coordinate at the distances `below` and `above`, g; w > 0 its Delassus scale, v0 its velocity, v
// its velocity at the end of the step without the limits, `depth` the distance by which they may yield.
//   near_rigid  v̂ = −g/(2 δt);  R = β²/4π² w
//   solref      v̂ = −g/δt while g >= 0, then min(−g/δt, û(−g, (v0)₊));  R from the demand v̂ − v of the limit: a
//               constant load held at v = 0 needs R load = û(g, 0), and `depth` corresponds to û(depth, 0)
template <class S>
STICTION_FN LimitLaw<S> limit_law(const ModelView& m, S below, S above, const S* solref, S w, S v0,
                                  S v, S depth) {
  const double dt = m.opt.timestep;
  const S zero = S(0.0);
  if (m.opt.near_rigid_limits) {
    const S half_rate = S(1 / (2 * dt));
    return {-half_rate * below, S(1.0) / (S(kRowNearRigid) * w), -half_rate * above};
  }

  const Recovery<S> back = recovery(solref, dt);
  const auto target = [&](S gap, S returning) {
    const S reach = -(S(1 / dt) * gap);
    const S aim = return_speed(back, dt, -gap, vmax(returning, zero));
    return select(gap < zero, vmin(aim, reach), reach);
  };
  const S lower = target(below, v0), upper = target(above, -v0);
  const S demand = vmax(vmax(lower - v, upper + v), zero);
  return {lower, limit_stiffness(demand, return_speed(back, dt, depth, zero)) / w, upper};
}

// Distances to the limits, negative beyond them.
template <class S>
struct Gaps {
  S below, above;
};
// The limits of the length c at the velocity v0. `impulse(i)`: impulse of all other forces on dof i in this step. A
// length that moves no dof, w = 0, has no limits.
template <class S, class P>
STICTION_FN LimitLaw<S> length_limits(const ModelView& m, const EnvView<S>& e, int c,
                                      const Gaps<S>& gaps, const S* solref, S depth, S v0,
                                      const P& impulse) {
  const S zero = S(0.0), w = moment_delassus(m, e, c);
  const Mask<S> moves = w > zero;
  const S change = moment_product<S>(m, e, c, [&](int, int i) { return impulse(i); });
  const LimitLaw<S> law = limit_law(m, gaps.below, gaps.above, solref, select(moves, w, S(1.0)), v0,
                                    v0 + change, depth);
  return {select(moves, law.lower, zero), select(moves, law.inv_R, zero),
          select(moves, law.upper, zero)};
}

// The limits of dof i, the only dof of its joint. `impulse`: impulse of all other forces on the dof in this step.
template <class S>
STICTION_FN LimitLaw<S> limits_of(const ModelView& m, const EnvView<S>& e, int i, S impulse) {
  const int j = m.dof_jntid[i];
  const Wide<S> q = e.qpos[m.jnt_qposadr[j]], margin = e.jnt_margin[j];
  const Wide<S> low = e.jnt_range[2 * j], high = e.jnt_range[2 * j + 1];
  const S below = narrow<S>(q - low - margin), above = narrow<S>(high - margin - q);
  const S w = e.inv_diag[i], v0 = e.qvel[i];
  const bool slide = static_cast<JointType>(m.jnt_type[j]) == JointType::slide;
  const S depth = S(kLimitDepth) * (slide ? narrow<S>(high - low) : S(1.0));
  return limit_law(m, below, above, e.jnt_solref + 2 * j, w, v0, v0 + w * impulse, depth);
}

STICTION_PHYSICS_END

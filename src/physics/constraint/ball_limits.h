// Limits of ball joints. Their coordinate is the angle of the joint relative to the reference pose,
//   θ = |log q|,   θ̇ = n · ω,   n = log q/θ
// since a rotation about n leaves n fixed; its moment arm on the three dofs is n. One limit: θ <= range[1].
#pragma once

#include "physics/actuation/tendons.h"
#include "physics/base/functions.h"
#include "physics/constraint/limits.h"

STICTION_PHYSICS_BEGIN

// Returns the coordinate index of a limited ball joint; `ball` counts these joints from 0.
STICTION_FN int ball_coordinate(const ModelView& m, int ball) {
  return m.nv + m.nu + m.ntendon + ball;
}

// Writes the moment arm; returns θ. At θ = 0, where no limit can act, the arm is 0.
template <class S>
STICTION_FN S ball_angle(const ModelView& m, EnvView<S>& e, int ball) {
  const Vec3<S> turn = narrow3<S>(log_quat(load4(e.qpos + m.jnt_qposadr[m.ball_jnt[ball]], 0)));
  const S angle = norm(turn);
  const Mask<S> turned = angle > S(1e-8);
  const S scale = select(turned, S(1.0) / select(turned, angle, S(1.0)), S(0.0));
  store3(e.moment + m.coord_momentadr[ball_coordinate(m, ball)], 0, scale * turn);
  return angle;
}

// `impulse(i)`: impulse of all other forces on dof i in this step.
template <class S, class P>
STICTION_FN LimitLaw<S> ball_limit(const ModelView& m, EnvView<S>& e, int ball, const P& impulse) {
  const int j = m.ball_jnt[ball], c = ball_coordinate(m, ball);
  const S angle = ball_angle(m, e, ball);
  const S high = narrow<S>(e.jnt_range[2 * j + 1] - e.jnt_margin[j]);
  const S free = S(1e6);  // rad: no lower limit
  return length_limits(m, e, c, Gaps<S>{free, high - angle}, e.jnt_solref + 2 * j, S(kLimitDepth),
                       coordinate_velocity(m, e, c, e.qvel), impulse);
}

STICTION_PHYSICS_END

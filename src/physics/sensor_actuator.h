// Lengths, velocities and forces of single actuators.
#pragma once

#include "physics/vec.h"
#include "physics/views.h"

STICTION_PHYSICS_BEGIN

// Rotation vector of length <= π of a quaternion, lane by lane.
template <class S>
STICTION_FN Vec3<S> rotation_vector(const Quat<S>& q) {
  Vec3<S> r = zero3<S>();
  per_lane<S>([&](int lane) {
    const double w = static_cast<double>(get_lane(q.w, lane)), sign = w < 0.0 ? -1.0 : 1.0;
    const double x = static_cast<double>(get_lane(q.x, lane)) * sign,
                 y = static_cast<double>(get_lane(q.y, lane)) * sign,
                 z = static_cast<double>(get_lane(q.z, lane)) * sign;
    const double s = std::sqrt(x * x + y * y + z * z);
    const double scale = s > 0.0 ? 2.0 * std::atan2(s, sign * w) / s : 2.0;
    set_lane(r.x, lane, static_cast<Lane<S>>(scale * x));
    set_lane(r.y, lane, static_cast<Lane<S>>(scale * y));
    set_lane(r.z, lane, static_cast<Lane<S>>(scale * z));
  });
  return r;
}

// Degrees of freedom of a joint.
STICTION_FN int joint_dofs(const ModelView& m, int j) {
  switch (static_cast<JointType>(m.jnt_type[j])) {
    case JointType::free: return 6;
    case JointType::ball: return 3;
    default: return 1;
  }
}

// l: gear · q of a hinge or slide, Σ gear coef q of a tendon, gear · log q of a ball; free: 0.
template <class S>
STICTION_FN S length_of_actuator(const ModelView& m, const EnvView<S>& e, int a) {
  const S* gear = e.actuator_gear + 6 * a;
  const int id = m.actuator_trnid[a];
  if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::tendon) {
    S length = S(0.0);
    for (int w = m.tendon_adr[id]; w < m.tendon_adr[id] + m.tendon_num[id]; ++w) {
      const S q = narrow<S>(e.qpos[m.jnt_qposadr[m.wrap_jntid[w]]]);
      length = length + gear[0] * e.wrap_coef[w] * q;
    }
    return length;
  }
  const Wide<S>* q = e.qpos + m.jnt_qposadr[id];
  switch (static_cast<JointType>(m.jnt_type[id])) {
    case JointType::free: return S(0.0);
    case JointType::ball: {
      const Vec3<Wide<S>> r = rotation_vector(normalized(load4(q, 0)));
      return dot(load3(gear, 0), narrow3<S>(r));
    }
    default: return gear[0] * narrow<S>(q[0]);
  }
}

// Velocity of the actuator at the given velocities of the dofs: its moment arm times v.
template <class S>
STICTION_FN S velocity_of_actuator(const ModelView& m, const EnvView<S>& e, int a, const S* v) {
  const S* gear = e.actuator_gear + 6 * a;
  const int id = m.actuator_trnid[a];
  S velocity = S(0.0);
  if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::tendon) {
    for (int w = m.tendon_adr[id]; w < m.tendon_adr[id] + m.tendon_num[id]; ++w)
      velocity = velocity + gear[0] * e.wrap_coef[w] * v[m.jnt_dofadr[m.wrap_jntid[w]]];
  } else {
    for (int k = 0; k < joint_dofs(m, id); ++k)
      velocity = velocity + gear[k] * v[m.jnt_dofadr[id] + k];
  }
  return velocity;
}

// Force of the last interval: (gain ctrl + bias) · (1, l, l') at its start, within forcerange; a
// servo's at its end, clamp(f0 − κ l').
template <class S>
STICTION_FN S force_of_actuator(const ModelView& m, const EnvView<S>& e, int a) {
  const Vec3<S> law = load3(e.act_law, a);
  S force = dot(law, Vec3<S>{S(1.0), e.act_length[a], e.act_velocity[a]});
  if (m.actuator_forcelimited[a])
    force = clamp(force, e.actuator_forcerange[2 * a], e.actuator_forcerange[2 * a + 1]);
  if (!m.actuator_mayservo[a]) return force;
  const S kappa = e.servo_kappa[a], end = velocity_of_actuator<S>(m, e, a, e.v);
  const S servo = clamp(e.servo_force0[a] - kappa * end, e.servo_lower[a], e.servo_upper[a]);
  return select(kappa > S(0.0), servo, force);
}

STICTION_PHYSICS_END

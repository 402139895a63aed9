// All smooth forces at v0, so that A (v* - v0) = δt k.
//
// reads   qpos, qvel, ctrl, act, act_next, qfrc_applied, xfrc_applied, qfrc_bias, qfrc_fluid, cdof, xioff; joint and
//         actuator parameters
// writes  act_length, act_velocity, act_law, moment, qfrc_actuator (explicit actuators),
//         cfrc_applied, qfrc_bodies, qfrc_lift, qfrc_smooth, flags
//
//   k = -bias - D v0 + medium - K (q0 ⊖ q_s + δt v0) + explicit actuators + applied forces
//
// Inputs that are not finite count as zero and set bad_control. In the lanes where the feedback of an actuator
// is restoring, the actuator is a servo: a row of the problem, and no force here.
#pragma once

#include "physics/actuation/activation_dynamics.h"
#include "physics/actuation/gravity_lift.h"
#include "physics/actuation/muscle.h"
#include "physics/base/functions.h"
#include "physics/base/status.h"
#include "physics/tree/bias.h"
#include "physics/tree/springs.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN Vec3<S> finite_or_zero(const Vec3<S>& v) {
  return {finite_or_zero(v.x), finite_or_zero(v.y), finite_or_zero(v.z)};
}

// ---- actuators

// Returns entry k of the moment arm: gear, or gear times the arm of a tendon; else the arm from site_drives.h.
template <Drives can = Drives::states, class S>
STICTION_FN S actuator_moment(const ModelView& m, const EnvView<S>& e, int a, int k) {
  const S* gear = e.actuator_gear + 6 * a;
  const Transmission type = static_cast<Transmission>(m.actuator_trntype[a]);
  if (type == Transmission::joint) return gear[k];
  if constexpr (can == Drives::states)
    if (type != Transmission::tendon) return e.moment[m.coord_momentadr[m.nv + a] + k];
  return gear[0] * e.moment[m.coord_momentadr[m.nv + m.nu + m.actuator_trnid[a]] + k];
}

// Returns the length: of site_drives.h; tendon: gear l, hinge or slide: gear · q, ball: gear · log q, free: 0.
template <Drives can = Drives::states, class S>
STICTION_FN S actuator_length(const ModelView& m, const EnvView<S>& e, int a) {
  using W = Wide<S>;
  const int id = m.actuator_trnid[a];
  const S* gear = e.actuator_gear + 6 * a;
  const Transmission type = static_cast<Transmission>(m.actuator_trntype[a]);
  if constexpr (can == Drives::states)
    if (type != Transmission::joint && type != Transmission::tendon) return e.act_length[a];
  if (type != Transmission::joint) return narrow<S>(widen(gear[0]) * e.ten_length[id]);
  const W* q = e.qpos + m.jnt_qposadr[id];
  switch (static_cast<JointType>(m.jnt_type[id])) {
    case JointType::free: return S(0.0);
    case JointType::ball: return dot(load3(gear, 0), narrow3<S>(log_quat(normalized(load4(q, 0)))));
    default: return gear[0] * narrow<S>(q[0]);
  }
}

// Returns the moment arm times the dof velocities v.
template <class S, Drives can = Drives::states>
STICTION_FN S actuator_velocity(const ModelView& m, const EnvView<S>& e, int a, const S* v) {
  const int adr = m.coord_momentadr[m.nv + a];
  S velocity = S(0.0);
  for (int k = 0; k < m.coord_momentadr[m.nv + a + 1] - adr; ++k)
    velocity = velocity + actuator_moment<can>(m, e, a, k) * v[m.moment_dof[adr + k]];
  return velocity;
}

// Returns, among the lengths that represent the same rotation as `target`, the one nearest to `length`.
template <class S>
STICTION_FN S short_way_round(const S& target, const S& length, const S& gear) {
  const S period = S(6.2831853071795862) * gear, way = target - length;
  const Mask<S> none = period == S(0.0);
  const S turns = vround(way / select(none, S(1.0), period));
  return select(none, target, length + (way - period * turns));
}

// Returns the input of actuator a: its clamped control, or its activation.
template <Drives can, class S>
STICTION_FN S actuator_input(const ModelView& m, const EnvView<S>& e, int a) {
  if constexpr (can == Drives::states) {
    const int act = m.actuator_actadr[a];
    if (act >= 0) return narrow<S>(m.actuator_actearly[a] != 0 ? e.act_next[act] : e.act[act]);
  }
  return clamped_control(m, e, a);
}

// Writes act_law = gain u + bias. A position servo, gain times (u - length), on a ball joint or on the rotation between
// sites takes the shorter way round.
template <Drives can, class S>
STICTION_FN void control_law(const ModelView& m, EnvView<S>& e, int a) {
  S u = actuator_input<can>(m, e, a);
  Vec3<S> gain = load3(e.actuator_gain, a), bias = load3(e.actuator_bias, a);
  if constexpr (can == Drives::states) {
    const S length = e.act_length[a], velocity = e.act_velocity[a];
    if (m.actuator_gainmuscle[a] != 0)
      gain =
          muscle_gain(e.actuator_muscle + 18 * a, e.actuator_lengthrange + 2 * a, length, velocity);
    if (m.actuator_biasmuscle[a] != 0)
      bias = muscle_bias(e.actuator_muscle + 18 * a + 9, e.actuator_lengthrange + 2 * a, length,
                         velocity);
  }
  if (m.actuator_onball[a] != 0) {
    Mask<S> servo = gain.x != S(0.0) && bias.y == -gain.x;
    S gear = norm(load3(e.actuator_gear, 2 * a));
    if constexpr (can == Drives::states)
      if (static_cast<Transmission>(m.actuator_trntype[a]) == Transmission::site) {
        servo = servo && gear == S(0.0);
        gear = norm(load3(e.actuator_gear, 2 * a + 1));
      }
    const S near = short_way_round(u, e.act_length[a], gear);
    u = select(servo, near, u);
  }
  store3(e.act_law, a, u * gain + bias);
}

template <Drives can, class S>
STICTION_FN void actuate(const ModelView& m, EnvView<S>& e, int a) {
  const int adr = m.coord_momentadr[m.nv + a];
  for (int k = 0; k < m.coord_momentadr[m.nv + a + 1] - adr; ++k)
    e.moment[adr + k] = actuator_moment<can>(m, e, a, k);
  e.act_length[a] = actuator_length<can>(m, e, a);
  e.act_velocity[a] = actuator_velocity<S, can>(m, e, a, e.qvel);
  control_law<can>(m, e, a);
}

// Returns law · (1, length, velocity) clamped to forcerange; 0 for a servo.
template <class S>
STICTION_FN S own_force(const ModelView& m, const EnvView<S>& e, int a) {
  const Vec3<S> law = load3(e.act_law, a);
  S f = law.x + law.y * e.act_length[a] + law.z * e.act_velocity[a];
  if (m.actuator_forcelimited[a] != 0)
    f = clamp(f, e.actuator_forcerange[2 * a], e.actuator_forcerange[2 * a + 1]);
  return select(is_servo(e, a), S(0.0), f);
}

// Returns the factor by which actuatorfrcrange of the tendon scales the force of actuator a: the range bounds the sum
// of all actuators that pull the tendon.
template <class S>
STICTION_FN S tendon_share(const ModelView& m, const EnvView<S>& e, int a) {
  const auto on_tendon = [&](int b) {
    return static_cast<Transmission>(m.actuator_trntype[b]) == Transmission::tendon;
  };
  const S one = S(1.0);
  if (!on_tendon(a) || m.actuator_bounded[a] == 0) return one;
  const int t = m.actuator_trnid[a];
  S total = S(0.0);
  for (int b = 0; b < m.nu; ++b)
    if (on_tendon(b) && m.actuator_trnid[b] == t) total = total + own_force(m, e, b);
  const S bounded = clamp(total, e.tendon_actfrcrange[2 * t], e.tendon_actfrcrange[2 * t + 1]);
  const Mask<S> pulls = total != S(0.0);
  return select(pulls, bounded / select(pulls, total, one), one);
}
template <class S>
STICTION_FN S explicit_force(const ModelView& m, const EnvView<S>& e, int a) {
  return tendon_share(m, e, a) * own_force(m, e, a);
}

// Returns the force of the explicit actuators on dof i, clamped to actuatorfrcrange of its joint.
template <Drives can, class S>
STICTION_FN S dof_actuation(const ModelView& m, EnvView<S>& e, int i) {
  S f = S(0.0);
  for (int n = m.dof_momentadr[i]; n < m.dof_momentadr[i + 1]; ++n) {
    const int k = m.dof_moment[n];
    if (m.moment_coord[k] >= m.nv + m.nu) break;  // the rest are moments of tendons
    f = f + e.moment[k] * explicit_force(m, e, m.moment_coord[k] - m.nv);
  }
  if constexpr (can == Drives::states)
    if (m.nliftdof > 0) return lifting_actuation(m, e, i, f);
  return within_range(m, e, i, f);
}

// ---- springs and dampers

// Writes -bias - D v0 + medium - K (q0 ⊖ q_s + δt v0) for the dofs of joint j; only the implicit part of K takes δt v0.
template <class S>
STICTION_FN void joint_forces(const ModelView& m, EnvView<S>& e, int j) {
  const int dof = m.jnt_dofadr[j];
  const JointType type = static_cast<JointType>(m.jnt_type[j]);
  const int n = type == JointType::free ? 6 : type == JointType::ball ? 3 : 1;
  for (int i = dof; i < dof + n; ++i) {
    e.qfrc_smooth[i] = -e.qfrc_bias[i] - damper_coefficient(m, e, i) * e.qvel[i];
    if (m.nfluiddof > 0) e.qfrc_smooth[i] = e.qfrc_smooth[i] + e.qfrc_fluid[i];
  }
  const auto pull = [&](int first, bool rotation) {
    const S c = spring_coefficient(m, e, j, rotation);
    const Mask<S> spring = differs(c, S(0.0));
    if (!any_lane(spring)) return;
    const Vec3<S> d = deflection(m, e, j, rotation);
    const auto add = [&](int i, const S& x) {
      const S ahead = S(m.opt.timestep) * e.qvel[i];
      const S f = m.ncurved == 0 ? c * (x + ahead) : c * x + vmax(c, S(0.0)) * ahead;
      e.qfrc_smooth[i] = select(spring, e.qfrc_smooth[i] - f, e.qfrc_smooth[i]);
    };
    add(first, d.x);
    if (!has_one_dof(m, j)) add(first + 1, d.y), add(first + 2, d.z);
  };
  pull(dof, false);
  if (type == JointType::free) pull(dof + 3, true);
}

// ---- forces on the bodies

// Computes the wrench about O of the loads at the centre of mass: the user's, and gravity compensation.
template <class S>
STICTION_FN void body_applied(const ModelView& m, EnvView<S>& e, int b) {
  Spatial<S> f = zero6<S>();
  if (m.body_treeid[b] >= 0) {
    const S lifted = e.body_gravcomp[b] * e.body_mass[b];
    f.l = finite_or_zero(load3(e.xfrc_applied, 2 * b)) - lifted * load3(e.gravity, 0);
    f.a = finite_or_zero(load3(e.xfrc_applied, 2 * b + 1)) + cross(load3(e.xioff, b), f.l);
  }
  store6(e.cfrc_applied, b, f);
}

// Sets bad_control where an input is not finite. Returns true if a body has a load or gravity compensation in any lane.
template <class Team, class S>
STICTION_FN bool check_inputs(const Team& team, const ModelView& m, EnvView<S>& e) {
  const int nx = 6 * m.nbody;
  const auto total = [&](int n, const S* x) {
    return team.template sum<S>(n, [=](int i) { return vabs(x[i]); });
  };
  // 0, or NaN if any number is not finite
  const auto fault = [&](int n, const S* x) {
    return team.template sum<S>(n, [=](int i) { return x[i] - x[i]; });
  };
  const bool pushed =
      any_lane(total(nx, e.xfrc_applied) + total(m.nbody, e.body_gravcomp) != S(0.0));
  S faults = fault(m.nu, e.ctrl) + fault(m.nv, e.qfrc_applied) + fault(m.neq, e.eq_active);
  if (pushed) faults = faults + fault(nx, e.xfrc_applied);
  team.once([&] { raise_flag(e, Status::bad_control, faults != S(0.0)); });
  return pushed;
}

template <Drives can, class Team, class S>
STICTION_FN void actuation_up_to(const Team& team, const ModelView& m, EnvView<S>& e) {
  const bool pushed = check_inputs(team, m, e);
  team.for_each(m.nu, [&](int a) { actuate<can>(m, e, a); });
  team.for_each(m.njnt, [&](int j) { joint_forces(m, e, j); });
  if (pushed) {
    team.for_each(m.nbody, [&](int b) { body_applied(m, e, b); });
    gather_forces(team, m, e.cfrc_applied);
  }
  team.for_each(m.nv, [&](int i) {
    // + 0 turns -0 into 0: a lane without loads must not change its bits because another lane has some
    S external = S(0.0);
    if (pushed) external = dot(load6(e.cdof, i), load6(e.cfrc_applied, m.dof_bodyid[i])) + S(0.0);
    e.qfrc_bodies[i] = external - e.qfrc_bias[i];
    e.qfrc_actuator[i] = dof_actuation<can>(m, e, i);
    S actuators = e.qfrc_actuator[i];
    if constexpr (can == Drives::states)
      if (m.nliftdof > 0) actuators = actuators - e.qfrc_lift[i];
    e.qfrc_smooth[i] =
        e.qfrc_smooth[i] + (actuators + external) + finite_or_zero(e.qfrc_applied[i]);
  });
}

template <class Team, class S>
STICTION_FN void actuation(const Team& team, const ModelView& m, EnvView<S>& e) {
  actuation_up_to<Drives::states>(team, m, e);
}

STICTION_PHYSICS_END

// The only stage that writes the state: v = v_new, q ⊕ δt v, activations, time, anchors, air time.
//
// reads   v, turn_v, qpos, qvel, act_next, mocap_twist, time, active, flags
// writes  qpos, qvel, act, time, anchor, friction_anchor, rebound, body_airtime, qacc_warmstart, flags; move_mocap: mocap_xpos,
//         mocap_xquat, mocap_xvel
//
//   free, slide, hinge   q + δt v
//   free, ball           q ∘ exp(δt ω), normalized
//
// A lane that is not active, or whose step is bad, keeps its state.
#pragma once

#include "physics/base/functions.h"
#include "physics/base/status.h"
#include "physics/contact/anchors.h"
#include "physics/contact/late_contact.h"
#include "physics/contact/rebound.h"
#include "physics/sensor/sensor_contact.h"
#include "physics/tree/gyroscopic.h"

STICTION_PHYSICS_BEGIN

template <class Team, class S>
STICTION_FN void clear_flags(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nstatus, [&](int i) { e.flags[i] = S(0.0); });
}

// Classifies a velocity: 0 good, 1 velocity_limit, 2 bad_state.
template <class S>
STICTION_FN S velocity_fault(const S& v) {
  const S fault = select(is_finite(v), S(1.0), S(2.0));
  return select(vabs(v) <= S(kVelocityLimit), S(0.0), fault);
}
template <class S>
STICTION_FN S position_fault(const Mask<Wide<S>>& good) {
  return select(narrow_mask<S>(good), S(0.0), S(2.0));
}

template <class S>
STICTION_FN Wide<S> next_position(const ModelView& m, const EnvView<S>& e, int adr, int dof) {
  return e.qpos[adr] + Wide<S>(m.opt.timestep) * widen(e.v[dof]) + Wide<S>(0.0);
}

// Classifies joint j before and after the step. A quaternion can only be bad before the step.
template <class S>
STICTION_FN S joint_fault(const ModelView& m, const EnvView<S>& e, int j) {
  using W = Wide<S>;
  const int adr = m.jnt_qposadr[j], dof = m.jnt_dofadr[j];
  const JointType type = static_cast<JointType>(m.jnt_type[j]);
  const W limit = W(kStateLimit);
  const int linear = type == JointType::free ? 3 : type == JointType::ball ? 0 : 1;
  Mask<W> good = W(0.0) == W(0.0);
  for (int k = 0; k < linear; ++k)
    good = good && vabs(e.qpos[adr + k]) <= limit &&
           vabs(next_position(m, e, adr + k, dof + k)) <= limit;
  if (type == JointType::free || type == JointType::ball) {
    const Quat<W> q = load4(e.qpos + adr + linear, 0);
    good = good && vabs(q.w) <= limit && vabs(q.x) <= limit && vabs(q.y) <= limit &&
           vabs(q.z) <= limit && q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > W(kShortestQuat2);
  }
  return position_fault<S>(good);
}

// Raises bad_state and velocity_limit; an inactive lane sets no flag.
template <class Team, class S>
STICTION_FN void check_step(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S q_fault = team.template max<S>(m.njnt, [&](int j) { return joint_fault(m, e, j); });
  const S v_fault = team.template max<S>(
      m.nv, [&](int i) { return vmax(velocity_fault(e.v[i]), velocity_fault(e.qvel[i])); });
  const S turn_fault = team.template max<S>(m.nturn, [&](int n) {
    S fault = S(0.0);
    for_turning_dofs(m, e, n, [&](int, const S& v) { fault = vmax(fault, velocity_fault(v)); });
    return fault;
  });
  team.once([&] {
    // a joint that turns faster than the limit may have a velocity at the end that is not finite
    const S speed_fault = select(v_fault > S(0.0), v_fault, turn_fault);
    const S fault = vmax(q_fault, speed_fault);
    raise_flag(e, Status::bad_state, fault > S(1.5));
    raise_flag(e, Status::velocity_limit, speed_fault == S(1.0));
    for (int i = 0; i < m.nstatus; ++i)
      e.flags[i] = select(e.active[0] > S(0.5), e.flags[i], S(0.0));
  });
}

template <class S>
STICTION_FN void advance_quat(const ModelView& m, EnvView<S>& e, int adr, int dof,
                              const Mask<Wide<S>>& moves) {
  using W = Wide<S>;
  const W dt = W(m.opt.timestep);
  const Vec3<S> v = load3(e.v + dof, 0);
  const Vec3<W> turn = {dt * widen(v.x), dt * widen(v.y), dt * widen(v.z)};
  const Quat<W> next = normalized(load4(e.qpos + adr, 0) * exp_quat(turn));
  W* q = e.qpos + adr;
  q[0] = select(moves, next.w + W(0.0), q[0]);
  q[1] = select(moves, next.x + W(0.0), q[1]);
  q[2] = select(moves, next.y + W(0.0), q[2]);
  q[3] = select(moves, next.z + W(0.0), q[3]);
}

// Computes q ⊕ δt v of joint j; adding +0 turns -0 into +0.
template <class S>
STICTION_FN void advance_joint(const ModelView& m, EnvView<S>& e, int j,
                               const Mask<Wide<S>>& moves) {
  const int adr = m.jnt_qposadr[j], dof = m.jnt_dofadr[j];
  const auto shift = [&](int k) {
    e.qpos[adr + k] = select(moves, next_position(m, e, adr + k, dof + k), e.qpos[adr + k]);
  };
  switch (static_cast<JointType>(m.jnt_type[j])) {
    case JointType::free:
      shift(0), shift(1), shift(2);
      advance_quat(m, e, adr + 3, dof + 3, moves);
      break;
    case JointType::ball: advance_quat(m, e, adr, dof, moves); break;
    case JointType::slide:
    case JointType::hinge: shift(0); break;
  }
}

// Returns the lanes that take the step; valid after check_step.
template <class S>
STICTION_FN Mask<S> has_moved(const EnvView<S>& e) {
  return e.active[0] > S(0.5) && !has_flag(e, Status::bad_state) &&
         !has_flag(e, Status::cholesky_failed) && !has_flag(e, Status::velocity_limit);
}

template <Drives can, class Team, class S>
STICTION_FN void integrate_up_to(const Team& team, const ModelView& m, EnvView<S>& e) {
  late_contacts(team, m, e);
  check_step(team, m, e);
  const Mask<S> moves = has_moved(e);
  if (m.opt.anchored) {
    advance_anchors(team, m, e, moves);
    advance_friction_anchors(team, m, e, moves);
  }
  if (m.nrebound > 0) advance_rebounds(team, m, e, moves);
  advance_airtime(team, m, e, moves);

  const Mask<Wide<S>> wide = widen_mask<S>(moves);
  team.for_each(m.njnt, [&](int j) { advance_joint(m, e, j, wide); });
  team.for_each(m.nv, [&](int i) {
    const S change = S(m.opt.step_rate) * (e.v[i] - e.qvel[i]);
    e.qacc_warmstart[i] = select(moves, change, e.qacc_warmstart[i]);
    e.qvel[i] = select(moves, e.v[i] + S(0.0), e.qvel[i]);
  });
  if constexpr (can == Drives::states)
    team.for_each(m.na, [&](int i) { e.act[i] = select(wide, e.act_next[i], e.act[i]); });
  team.for_each(m.nturn, [&](int n) {
    for_turning_dofs(m, e, n,
                     [&](int i, const S& v) { e.qvel[i] = select(moves, v + S(0.0), e.qvel[i]); });
  });
  team.once([&] {
    e.time[0] = select(wide, e.time[0] + Wide<S>(m.opt.timestep), e.time[0]);
    // no contact is late in a step that is not taken
    S& late = e.flags[flag_index(Status::late_contact)];
    late = select(moves, late, S(0.0));
  });
}

// Moves the mocap bodies, after integrate; `left`: remaining steps of the call.
template <class Team, class S>
STICTION_SINGLE void move_mocap(const Team& team, const ModelView& m, EnvView<S>& e, int left) {
  advance_mocap(team, m, e, left, has_moved(e));
}

template <class Team, class S>
STICTION_FN void integrate(const Team& team, const ModelView& m, EnvView<S>& e) {
  integrate_up_to<Drives::states>(team, m, e);
}

STICTION_PHYSICS_END

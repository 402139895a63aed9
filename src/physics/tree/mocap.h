// Kinematic bodies: poses of the mocap bodies in a step, and their velocities.
//
// mocap          in   mocap_pos, mocap_quat, mocap_vel, mocap_xpos, mocap_xquat    out  mocap_twist
// advance_mocap  in   mocap_twist    out  mocap_xpos, mocap_xquat, mocap_xvel
//
// A step begins at x0, where the previous step left the body; after a reset, a set state or a teleport, where
// mocap_xquat is zero, it begins at x1, the pose that the user wrote.
//
//   difference   v = (x1 − x0)/(n δt), ω = log(R1 R0ᵀ)/(n δt) over the n remaining steps of the call; the last one
//                ends at x1
//   given        v, ω = mocap_vel
//
// In either case the next x0 is x0 + δt v, exp(δt ω) R0. A body with no dof between it and the mocap body moves with
// the mocap body: its twist about O is (ω, v + ω × (O − x0)).
#pragma once

#include "physics/base/functions.h"
#include "physics/base/vec.h"
#include "physics/base/views.h"
#include "physics/tree/pair_bodies.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN Mask<Wide<S>> is_placed(const EnvView<S>& e, int k) {
  const Quat<Wide<S>> q = load4(e.mocap_xquat, k);
  return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > Wide<S>(kShortestQuat2);
}

template <class S>
struct MocapPose {
  Vec3<Wide<S>> pos;
  Quat<Wide<S>> quat;
};
// The pose that the user wrote.
template <class S>
STICTION_FN MocapPose<S> written_pose(const EnvView<S>& e, int k) {
  return {load3(e.mocap_pos, k), normalized(load4(e.mocap_quat, k))};
}
template <class S>
STICTION_FN Quat<S> select4(const Mask<S>& m, const Quat<S>& a, const Quat<S>& b) {
  return {select(m, a.w, b.w), select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}
// Returns mocap_xquat with unit length: the user may have written it with any length. A unit one keeps its bits.
template <class S>
STICTION_FN Quat<Wide<S>> placed_quat(const EnvView<S>& e, int k) {
  using W = Wide<S>;
  const Quat<W> q = load4(e.mocap_xquat, k);
  const Mask<W> unit =
      vabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - W(1.0)) <= W(kUnitQuat2);
  return select4<W>(unit, q, normalized(q));
}
// Returns the current pose of mocap body k.
template <class S>
STICTION_FN MocapPose<S> mocap_pose(const ModelView& m, const EnvView<S>& e, int k) {
  const MocapPose<S> written = written_pose(e, k);
  if (m.nmocapstate == 0) return written;
  const Mask<Wide<S>> placed = is_placed(e, k);
  return {select<Wide<S>>(placed, load3(e.mocap_xpos, k), written.pos),
          select4<Wide<S>>(placed, placed_quat(e, k), written.quat)};
}

// Computes the twist of each mocap body over the step; `left`: remaining steps of the call, this one included.
template <class Team, class S>
STICTION_FN void mocap(const Team& team, const ModelView& m, EnvView<S>& e, int left) {
  using W = Wide<S>;
  team.for_each(m.nmocapstate, [&](int k) {
    if (m.opt.mocap_given) return store6(e.mocap_twist, k, load6(e.mocap_vel, k));
    const MocapPose<S> from = mocap_pose(m, e, k), to = written_pose(e, k);
    const W rate = W(m.opt.step_rate / left);
    const Quat<W>&q0 = from.quat, &q1 = to.quat;
    const Mask<W> turns =
        differs(q0.w, q1.w) || differs(q0.x, q1.x) || differs(q0.y, q1.y) || differs(q0.z, q1.z);
    const Vec3<W> turn = log_quat(normalized(q1 * conjugate(q0)));
    const Vec3<S> omega = narrow3<S>(rate * select<W>(turns, turn, zero3<W>())),
                  v = narrow3<S>(rate * (to.pos - from.pos));
    store6(e.mocap_twist, k, Spatial<S>{omega, v});
  });
}

// Sets the twists to those of the last step, where no step is taken.
template <class Team, class S>
STICTION_FN void present_mocap(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nmocapstate, [&](int k) { store6(e.mocap_twist, k, load6(e.mocap_xvel, k)); });
}

// Moves the mocap bodies. Lanes outside `moves` keep their poses.
template <class Team, class S>
STICTION_FN void advance_mocap(const Team& team, const ModelView& m, EnvView<S>& e, int left,
                               const Mask<S>& moves) {
  using W = Wide<S>;
  const W dt = W(m.opt.timestep);
  team.for_each(m.nmocapstate, [&](int k) {
    const Mask<W> wide = widen_mask<S>(moves);
    const MocapPose<S> from = mocap_pose(m, e, k), to = written_pose(e, k);
    const Spatial<S> twist = load6(e.mocap_twist, k);
    MocapPose<S> next = to;
    if (m.opt.mocap_given || left > 1) {
      const Vec3<W> r = dt * widen3(twist.a);
      const Mask<W> turns = r.x != W(0.0) || r.y != W(0.0) || r.z != W(0.0);
      next = {from.pos + dt * widen3(twist.l),
              select4<W>(turns, normalized(exp_quat(r) * from.quat), from.quat)};
    }
    store3(e.mocap_xpos, k, select<W>(wide, next.pos, load3(e.mocap_xpos, k)));
    store4(e.mocap_xquat, k, select4<W>(wide, next.quat, load4(e.mocap_xquat, k)));
    const Spatial<S> last = load6(e.mocap_xvel, k);
    store6(e.mocap_xvel, k,
           Spatial<S>{select<S>(moves, twist.a, last.a), select<S>(moves, twist.l, last.l)});
  });
}

// Returns whether the body moves with a mocap body.
STICTION_FN bool is_carried(const ModelView& m, int b) {
  return m.nmocapstate > 0 && m.body_carrier[b] >= 0;
}
// Returns whether the body can move at all.
STICTION_FN bool can_move(const ModelView& m, int b) {
  return m.body_treeid[b] >= 0 || is_carried(m, b);
}

// Returns whether one spatial velocity describes the relative motion: same O for both bodies, or one cannot move.
STICTION_FN bool have_one_motion(const ModelView& m, const PairBodies& b) {
  const int tree1 = m.body_treeid[b.body1], tree2 = m.body_treeid[b.body2];
  return (tree1 >= 0 && tree1 == tree2) || !can_move(m, b.body1) || !can_move(m, b.body2);
}

// Returns the velocity, about the O of body b, of the mocap body that carries b; `twist`: of all mocap bodies.
template <class S>
STICTION_FN Spatial<S> carrier_velocity(const ModelView& m, const EnvView<S>& e, const S* twist,
                                        int b) {
  if (!is_carried(m, b)) return zero6<S>();
  const int k = m.body_carrier[b];
  const Spatial<S> V = load6(twist, k);
  const Vec3<S> r = narrow3<S>(tree_origin(m, e, b) - load3(e.xpos, m.mocap_body[k]));
  return {V.a, velocity_at(V, r)};
}

// Returns the velocity of the parent of body b, about the O of b.
template <class S>
STICTION_FN Spatial<S> parent_velocity(const ModelView& m, const EnvView<S>& e, const S* twist,
                                       const S* vel, int b) {
  const int parent = m.body_parentid[b];
  if (is_carried(m, b) && m.body_treeid[parent] < 0) return carrier_velocity(m, e, twist, b);
  return load6(vel, parent);
}

STICTION_PHYSICS_END

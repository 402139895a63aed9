// Poses of the tree and motion axes of its dofs, root to leaves.
//
// reads   qpos, mocap_pos, mocap_quat, mocap_xpos, mocap_xquat; body_ and jnt_ placements, qpos0
// writes  xpos, xquat, xmat, late_anchor (wide); xoff, xioff, cdof about O
//
//   body     x = x_p + R_p p, q = q_p ∘ quat, then joint by joint:
//   slide    x += R axis (q - q0)            motion axis about O: (0, a)
//   hinge    q = q ∘ exp(axis (q - q0))                           (a, r × a)
//   ball     q = q ∘ q_j                     columns of R:        (a, r × a)
//   free     x = q_j[0:3], q = q_j[3:7]      world axes, columns of R
//
// A hinge or a ball rotates about the joint's anchor; r = anchor - O, where O is the origin of the body
// tree_origin[tree]. Bodies placed before O is known store their anchors until then: the root body, or
// all bodies of a tree whose O is the origin of another body (late_body).
#pragma once

#include "physics/base/functions.h"
#include "physics/base/views.h"
#include "physics/tree/mocap.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

// The frame of a body while the body's joints are applied to it. Once normalized, the quaternion has unit
// length, and the matrix is that of the quaternion.
template <class S>
struct Pose {
  Vec3<Wide<S>> pos;
  Quat<Wide<S>> quat;
  Mat3<Wide<S>> mat;
  bool normalized;
};

// For a product of unit quaternions: |q|² = 1 + δ, |δ| < 1e-5, and 1/√(1 + δ) to third order.
template <class S>
STICTION_FN void normalize(Pose<S>& p) {
  using W = Wide<S>;
  if (p.normalized) return;
  const Quat<W>& q = p.quat;
  const W delta = q.w * q.w + (q.x * q.x + q.y * q.y + q.z * q.z) - W(1.0);
  const W r = W(1.0) - delta * (W(0.5) - W(0.375) * delta);
  p.quat = {r * q.w, r * q.x, r * q.y, r * q.z};
  p.mat = matrix(p.quat);
  p.normalized = true;
}

// Rotates the frame about a point fixed in it; returns that point. A lane whose point is the frame's
// origin is not affected by the other lanes.
template <class S>
STICTION_FN Vec3<Wide<S>> turn(Pose<S>& p, const Vec3<Wide<S>>& offset, const Quat<Wide<S>>& by) {
  using W = Wide<S>;
  const W zero = W(0.0);
  const Mask<W> off = differs(offset.x, zero) || differs(offset.y, zero) || differs(offset.z, zero);
  const bool any_off = any_lane(off);
  Vec3<W> anchor = p.pos;
  if (any_off) {
    Pose<S> before = p;
    normalize<S>(before);
    anchor = select<W>(off, p.pos + before.mat * offset, p.pos);
  }
  p.quat = p.quat * by;
  p.normalized = false;
  normalize<S>(p);
  if (any_off) p.pos = select<W>(off, anchor - p.mat * offset, p.pos);
  return anchor;
}

template <class S>
STICTION_FN void store_translation(EnvView<S>& e, int dof, const Vec3<S>& axis) {
  store6(e.cdof, dof, Spatial<S>{zero3<S>(), axis});
}
template <class S>
STICTION_FN void store_directions(EnvView<S>& e, int dof, const Mat3<Wide<S>>& axes) {
  store3(e.cdof, 2 * dof, narrow3<S>(axes.x));
  store3(e.cdof, 2 * dof + 2, narrow3<S>(axes.y));
  store3(e.cdof, 2 * dof + 4, narrow3<S>(axes.z));
}

// Moves the frame of the body through joint j; returns the joint's anchor. Writes the part of the motion
// axes that does not need O: of rotations only the direction.
template <class S>
STICTION_FN Vec3<Wide<S>> apply_joint(const ModelView& m, EnvView<S>& e, int j, Pose<S>& p) {
  using W = Wide<S>;
  const int adr = m.jnt_qposadr[j], dof = m.jnt_dofadr[j];
  const W* q = e.qpos + adr;
  switch (static_cast<JointType>(m.jnt_type[j])) {
    case JointType::free:
      p.pos = load3(q, 0);
      p.quat = normalized(load4(q + 3, 0));
      p.normalized = false;
      normalize<S>(p);
      store_translation(e, dof, {S(1.0), S(0.0), S(0.0)});
      store_translation(e, dof + 1, {S(0.0), S(1.0), S(0.0)});
      store_translation(e, dof + 2, {S(0.0), S(0.0), S(1.0)});
      store_directions(e, dof + 3, p.mat);
      return p.pos;
    case JointType::slide: {
      normalize<S>(p);
      const Vec3<W> axis = p.mat * load3(e.jnt_axis, j);
      p.pos = p.pos + (q[0] - e.qpos0[adr]) * axis;
      store_translation(e, dof, narrow3<S>(axis));
      return p.pos;
    }
    case JointType::hinge: {
      const Vec3<W> axis = load3(e.jnt_axis, j);
      const SinCos<W> half = sincos(W(0.5) * (q[0] - e.qpos0[adr]));
      const Vec3<W> anchor =
          turn<S>(p, load3(e.jnt_pos, j),
                  {half.cos, half.sin * axis.x, half.sin * axis.y, half.sin * axis.z});
      store3(e.cdof, 2 * dof, narrow3<S>(p.mat * axis));
      return anchor;
    }
    case JointType::ball: {
      const Vec3<W> anchor = turn<S>(p, load3(e.jnt_pos, j), normalized(load4(q, 0)));
      store_directions(e, dof, p.mat);
      return anchor;
    }
  }
  return p.pos;
}

// Writes r × a for the rotations of joint j, r = anchor - O.
template <class S>
STICTION_FN void place_axes(const ModelView& m, EnvView<S>& e, int j, const Vec3<S>& r) {
  const JointType type = static_cast<JointType>(m.jnt_type[j]);
  if (type == JointType::slide) return;
  const int first = m.jnt_dofadr[j] + (type == JointType::free ? 3 : 0);
  const int n = type == JointType::hinge ? 1 : 3;
  for (int i = first; i < first + n; ++i) store3(e.cdof, 2 * i + 1, cross(r, load3(e.cdof, 2 * i)));
}

// For a body that the model does not rotate in its parent: applies body_quat in the lanes whose own body_quat
// does. The other lanes keep the bits that they have when no environment has a body_quat of its own.
template <class S>
STICTION_FN void turn_own(const EnvView<S>& e, int b, Pose<S>& p) {
  using W = Wide<S>;
  const Quat<W> own = load4(e.body_quat, b);
  const W zero = W(0.0);
  const Mask<W> turned = differs(own.w, W(1.0)) || differs(own.x, zero) || differs(own.y, zero) ||
                         differs(own.z, zero);
  if (!any_lane(turned)) return;
  Pose<S> to = p;
  to.quat = p.quat * own;
  to.normalized = false;
  normalize<S>(to);
  p.quat = {select(turned, to.quat.w, p.quat.w), select(turned, to.quat.x, p.quat.x),
            select(turned, to.quat.y, p.quat.y), select(turned, to.quat.z, p.quat.z)};
  p.mat = {select<W>(turned, to.mat.x, p.mat.x), select<W>(turned, to.mat.y, p.mat.y),
           select<W>(turned, to.mat.z, p.mat.z)};
}

// Returns the frame of body b with its joints at qpos0.
template <class S>
STICTION_FN Pose<S> placed_body(const ModelView& m, const EnvView<S>& e, int b) {
  const int k = m.body_mocapid[b], parent = m.body_parentid[b];
  Vec3<Wide<S>> pos = load3(e.body_pos, b);
  Quat<Wide<S>> quat = load4(e.body_quat, b);
  if (k >= 0) {
    const MocapPose<S> at = mocap_pose(m, e, k);
    pos = at.pos, quat = at.quat;
  }
  Pose<S> p;
  p.quat = load4(e.xquat, parent);
  p.mat = load9(e.xmat, parent);
  p.normalized = m.body_aligned[b] != 0;
  p.pos = load3(e.xpos, parent) + p.mat * pos;
  if (!p.normalized)
    p.quat = p.quat * quat;
  else if (m.own_body_quat)
    turn_own(e, b, p);
  return p;
}

// Writes xpos - O and centre of mass - O. Only the dynamics read them, so bodies that cannot move have none.
template <class S>
STICTION_FN void place_body(EnvView<S>& e, int b, const Vec3<Wide<S>>& origin) {
  const Vec3<Wide<S>> r = load3(e.xpos, b) - origin;
  store3(e.xoff, b, narrow3<S>(r));
  store3(e.xioff, b, narrow3<S>(r + load9(e.xmat, b) * load3(e.body_ipos, b)));
}

// Writes motion axes and offsets of a body whose joints had to wait for O.
template <class S>
STICTION_FN void place_late(const ModelView& m, EnvView<S>& e, int b, const Vec3<Wide<S>>& origin) {
  const int first = m.body_jntadr[b], end = first + m.body_jntnum[b];
  for (int j = first; j < end; ++j)
    place_axes(m, e, j, narrow3<S>(load3(e.late_anchor, j) - origin));
  place_body(e, b, origin);
}

template <class S>
STICTION_FN void body_kinematics(const ModelView& m, EnvView<S>& e, int b) {
  using W = Wide<S>;
  const int tree = m.body_treeid[b], first = m.body_jntadr[b], end = first + m.body_jntnum[b];
  const bool late = tree >= 0 && (m.body_late[b] != 0 || m.tree_body[tree] == b);
  Vec3<W> origin = zero3<W>();
  if (tree >= 0 && !late) origin = load3(e.xpos, m.tree_origin[tree]);

  Pose<S> p = placed_body(m, e, b);
  for (int j = first; j < end; ++j) {
    const Vec3<W> anchor = apply_joint(m, e, j, p);
    if (late)
      store3(e.late_anchor, j, anchor);
    else
      place_axes(m, e, j, narrow3<S>(anchor - origin));
  }
  normalize<S>(p);
  store3(e.xpos, b, p.pos);
  store4(e.xquat, b, p.quat);
  store9(e.xmat, b, p.mat);

  if (tree < 0) {
    store3(e.xoff, b, zero3<S>());
    store3(e.xioff, b, zero3<S>());
  } else if (m.body_late[b] == 0) {
    // O is the position to which the joints of the root body move it
    late ? place_late(m, e, b, p.pos) : place_body(e, b, origin);
  }
}

template <class S>
STICTION_FN void world_kinematics(EnvView<S>& e) {
  using W = Wide<S>;
  const Quat<W> upright = {W(1.0), W(0.0), W(0.0), W(0.0)};
  store3(e.xpos, 0, zero3<W>());
  store4(e.xquat, 0, upright);
  store9(e.xmat, 0, matrix(upright));
  store3(e.xoff, 0, zero3<S>());
  store3(e.xioff, 0, zero3<S>());
}

template <class Team, class S>
STICTION_FN void kinematics(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.once([&] { world_kinematics(e); });
  for (int l = 1; l < m.nlevel; ++l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first,
                  [&](int i) { body_kinematics(m, e, m.level_body[first + i]); });
  }
  team.for_each(m.nlate, [&](int i) {
    const int b = m.late_body[i];
    place_late(m, e, b, load3(e.xpos, m.tree_origin[m.body_treeid[b]]));
  });
}

STICTION_PHYSICS_END

// Frames that sensors are attached to: poses of bodies, geoms, sites and cameras, and the motion of their points.
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"
#include "physics/tree/mocap.h"

STICTION_PHYSICS_BEGIN

template <class S>
struct Frame {
  Vec3<Wide<S>> pos;
  Quat<Wide<S>> quat;
  int body;
};

template <class S>
STICTION_FN Quat<Wide<S>> widen4(const Quat<S>& q) {
  return {widen(q.w), widen(q.x), widen(q.y), widen(q.z)};
}
template <class S>
STICTION_FN Mat3<S> narrow_axes(const Quat<Wide<S>>& q) {
  const Mat3<Wide<S>> r = matrix(q);
  return {narrow3<S>(r.x), narrow3<S>(r.y), narrow3<S>(r.z)};
}

// Returns the centre of mass of body b in the world.
template <class S>
STICTION_FN Vec3<Wide<S>> body_com(const EnvView<S>& e, int b) {
  return load3(e.xpos, b) + load9(e.xmat, b) * load3(e.body_ipos, b);
}

// Returns the pose of an object; objtype none: the world.
template <class S>
STICTION_FN Frame<S> frame_of(const ModelView& m, const EnvView<S>& e, int objtype, int id) {
  switch (static_cast<ObjectType>(objtype)) {
    case ObjectType::body:
      return {body_com(e, id), load4(e.xquat, id) * widen4(load4(e.body_iquat, id)), id};
    case ObjectType::xbody: return {load3(e.xpos, id), load4(e.xquat, id), id};
    case ObjectType::geom: {
      const int b = m.geom_bodyid[id];
      return {load3(e.xpos, b) + load9(e.xmat, b) * load3(e.geom_pos, id),
              load4(e.xquat, b) * load4(e.geom_quat, id), b};
    }
    case ObjectType::site: {
      const int b = m.site_bodyid[id];
      return {load3(e.xpos, b) + load9(e.xmat, b) * load3(e.site_pos, id),
              load4(e.xquat, b) * load4(e.site_quat, id), b};
    }
    case ObjectType::camera: {
      const int b = m.cam_bodyid[id];
      const double *const p = m.cam_pos + 3 * id, *const q = m.cam_quat + 4 * id;
      using W = Wide<S>;
      return {load3(e.xpos, b) + load9(e.xmat, b) * Vec3<W>{W(p[0]), W(p[1]), W(p[2])},
              load4(e.xquat, b) * Quat<W>{W(q[0]), W(q[1]), W(q[2]), W(q[3])}, b};
    }
    default: return {load3(e.xpos, 0), load4(e.xquat, 0), 0};
  }
}

// Returns the velocity of the point `pos` fixed to body b: v + ω × r.
template <class S>
STICTION_FN Vec3<S> point_velocity(const EnvView<S>& e, int b, const Vec3<Wide<S>>& pos) {
  return velocity_at(load6(e.xvel, b), narrow3<S>(pos - load3(e.xpos, b)));
}

// Acceleration of a point fixed to a body at the start of the step, and the rotation of that body.
template <class S>
struct PointMotion {
  Vec3<S> omega, alpha, acceleration;
};

// From the spatial acceleration about O, a_b = a_b(q̈ = 0) + Σ S_i q̈_i; at r
//   a + α × r + ω × (v + ω × r)
template <class S>
STICTION_FN PointMotion<S> point_motion(const ModelView& m, const EnvView<S>& e, int b,
                                        const Vec3<Wide<S>>& pos) {
  if (m.body_treeid[b] < 0) {
    if (!is_carried(m, b)) return {zero3<S>(), zero3<S>(), zero3<S>()};
    const int k = m.body_carrier[b];
    const Vec3<S> w = load6(e.mocap_twist, k).a;
    const Vec3<S> r = narrow3<S>(pos - load3(e.xpos, m.mocap_body[k]));
    return {w, zero3<S>(), cross(w, cross(w, r))};
  }
  Spatial<S> a = load6(e.cacc, b);
  for (int i = m.body_lastdof[b]; i >= 0; i = m.dof_parentid[i])
    a = a + e.qacc[i] * load6(e.cdof, i);
  const Spatial<S> v = load6(e.cvel0, b);
  const Vec3<S> r = narrow3<S>(pos - load3(e.xpos, m.tree_origin[m.body_treeid[b]]));
  return {v.a, a.a, velocity_at(a, r) + cross(v.a, velocity_at(v, r))};
}

STICTION_PHYSICS_END

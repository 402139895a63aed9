// Sensors that need only a state: limits of joints, the magnetometer, objects inside a site, energies.
#pragma once

#include "physics/sensor/sensor_tendon.h"
#include "physics/tree/energies.h"

STICTION_PHYSICS_BEGIN

// Returns the index of a ball joint among the limited ball joints; -1: not one of them.
STICTION_FN int ball_of_joint(const ModelView& m, int j) {
  for (int ball = 0; ball < m.nball; ++ball)
    if (m.ball_jnt[ball] == j) return ball;
  return -1;
}

// Returns the angle |log q| of a ball joint and its rate n · ω.
template <class S>
STICTION_FN LimitReading<S> ball_turn(const ModelView& m, const EnvView<S>& e, int j) {
  const Vec3<S> turn = narrow3<S>(log_quat(load4(e.qpos + m.jnt_qposadr[j], 0)));
  const S angle = norm(turn);
  const Mask<S> turned = angle > S(1e-8);
  const S scale = select(turned, S(1.0) / select(turned, angle, S(1.0)), S(0.0));
  return {angle, scale * dot(turn, load3(e.qvel + m.jnt_dofadr[j], 0))};
}

// Returns how far joint j is beyond its limit, and the rate at which that gap opens; both 0 within the range.
template <class S>
STICTION_FN LimitReading<S> joint_limit(const ModelView& m, const EnvView<S>& e, int j) {
  const S zero = S(0.0);
  const int dof = m.jnt_dofadr[j];
  const Wide<S> margin = e.jnt_margin[j], low = e.jnt_range[2 * j], high = e.jnt_range[2 * j + 1];
  if (static_cast<JointType>(m.jnt_type[j]) == JointType::ball) {
    if (ball_of_joint(m, j) < 0) return {zero, zero};
    const LimitReading<S> turn = ball_turn(m, e, j);
    const S above = narrow<S>(high - margin) - turn.gap;
    const Mask<S> beyond = above < zero;
    return {select(beyond, above, zero), select(beyond, -turn.rate, zero)};
  }
  if (m.coord_limited[dof] == 0) return {zero, zero};
  const Wide<S> q = e.qpos[m.jnt_qposadr[j]];
  const S lower = narrow<S>(q - low - margin), upper = narrow<S>(high - margin - q);
  const S v = e.qvel[dof];
  const Mask<S> below = lower < zero, above = !below && upper < zero;
  return {select(below, lower, select(above, upper, zero)),
          select(below, v, select(above, -v, zero))};
}

// Returns the force of the limit in the last interval, positive at either limit.
template <class S>
STICTION_FN S joint_limit_force(const ModelView& m, const EnvView<S>& e, int j) {
  const bool is_ball = static_cast<JointType>(m.jnt_type[j]) == JointType::ball;
  const int ball = is_ball ? ball_of_joint(m, j) : -1, dof = m.jnt_dofadr[j];
  if (is_ball ? ball < 0 : m.coord_limited[dof] == 0) return S(0.0);
  const int c = is_ball ? ball_coordinate(m, ball) : dof;
  const S v = is_ball ? coordinate_velocity(m, e, c, e.v) : e.v[dof];
  return S(m.opt.step_rate) * row_load(load_limits(e, m.coord_rowadr[c]), v);
}

// Returns whether p, in the frame of the shape, is inside the shape.
template <class W>
STICTION_FN Mask<W> inside_shape(GeomType type, const Vec3<W>& size, const Vec3<W>& p) {
  const W one = W(1.0);
  switch (type) {
    case GeomType::sphere: return dot(p, p) < size.x * size.x;
    case GeomType::ellipsoid: {
      const Vec3<W> q{p.x / size.x, p.y / size.y, p.z / size.z};
      return dot(q, q) < one;
    }
    case GeomType::box: return vabs(p.x) < size.x && vabs(p.y) < size.y && vabs(p.z) < size.z;
    case GeomType::cylinder: return p.x * p.x + p.y * p.y < size.x * size.x && vabs(p.z) < size.y;
    case GeomType::capsule: {
      const W z = p.z - clamp(p.z, -size.y, size.y);
      return p.x * p.x + p.y * p.y + z * z < size.x * size.x;
    }
    default: return one < W(0.0);
  }
}

// Returns 1 if the object is inside the site. For a body without mass the centre of its subtree counts, as in
// MuJoCo.
template <class S>
STICTION_FN S inside_site(const ModelView& m, const EnvView<S>& e, int i) {
  using W = Wide<S>;
  const int objtype = m.sensor_objtype[i], id = m.sensor_objid[i], site = m.sensor_refid[i];
  const Frame<S> zone = frame_of(m, e, static_cast<int>(ObjectType::site), site);
  Vec3<W> p = frame_of(m, e, objtype, id).pos;
  if (static_cast<ObjectType>(objtype) == ObjectType::body && id > 0 &&
      any_lane(e.body_mass[id] < S(1e-15))) {
    const Vec3<W> centre = subtree(m, e, id).com;
    const Mask<W> massless = widen(e.body_mass[id]) < W(1e-15);
    p = {select(massless, centre.x, p.x), select(massless, centre.y, p.y),
         select(massless, centre.z, p.z)};
  }
  const Vec3<S> size = load3(e.site_size, site);
  const Mask<W> inside = inside_shape<W>(static_cast<GeomType>(m.site_type[site]),
                                         {widen(size.x), widen(size.y), widen(size.z)},
                                         transposed(matrix(zone.quat), p - zone.pos));
  return narrow<S>(select(inside, W(1.0), W(0.0)));
}

template <class S>
STICTION_FN Vec3<S> magnetometer(const ModelView& m, const EnvView<S>& e, int site) {
  const Frame<S> f = frame_of(m, e, static_cast<int>(ObjectType::site), site);
  const double* const flux = m.opt.magnetic;
  return transposed(narrow_axes<S>(f.quat), Vec3<S>{S(flux[0]), S(flux[1]), S(flux[2])});
}

STICTION_PHYSICS_END

// Writes the readings of the sensors to sensordata, with MuJoCo's definitions; docs/mjcf.md lists them.
#pragma once

#include "physics/rays/rays.h"
#include "physics/sensor/sensor_actuator.h"
#include "physics/sensor/sensor_camera.h"
#include "physics/sensor/sensor_contact.h"
#include "physics/sensor/sensor_distance.h"
#include "physics/sensor/sensor_state.h"
#include "physics/tree/subtrees.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kMostReadings = 6;  // numbers of one sensor
template <class S>
struct Reading {
  S x[kMostReadings];
};
template <class S>
STICTION_FN Reading<S> reading(const Vec3<S>& v) {
  return {{v.x, v.y, v.z}};
}
template <class S>
STICTION_FN Reading<S> reading(S x) {
  return {{x}};
}
template <class S>
STICTION_FN Reading<S> reading(const Quat<Wide<S>>& q) {
  return {{narrow<S>(q.w), narrow<S>(q.x), narrow<S>(q.y), narrow<S>(q.z)}};
}

// Frame sensors of a state, relative to the reference frame p_r, R_r if there is one:
//   Rᵀ_r (p − p_r),  Rᵀ_r R,  Rᵀ_r (v − v_r − ω_r × (p − p_r)),  Rᵀ_r (ω − ω_r)
template <class S>
STICTION_FN Reading<S> frame_reading(const ModelView& m, const EnvView<S>& e, int i) {
  using T = SensorType;
  using W = Wide<S>;
  const bool relative = m.sensor_refid[i] >= 0;
  const Frame<S> obj = frame_of(m, e, m.sensor_objtype[i], m.sensor_objid[i]);
  const Frame<S> ref = relative ? frame_of(m, e, m.sensor_reftype[i], m.sensor_refid[i]) : obj;
  const Vec3<W> offset = relative ? obj.pos - ref.pos : obj.pos;
  const Quat<W> quat = relative ? conjugate(ref.quat) * obj.quat : obj.quat;
  const auto seen = [&](const Vec3<S>& v) {
    return reading(relative ? transposed(narrow_axes<S>(ref.quat), v) : v);
  };
  switch (static_cast<T>(m.sensor_type[i])) {
    case T::framepos:
      return reading(narrow3<S>(relative ? transposed(matrix(ref.quat), offset) : offset));
    case T::framequat: return reading<S>(quat);
    case T::framexaxis: return reading(narrow_axes<S>(quat).x);
    case T::frameyaxis: return reading(narrow_axes<S>(quat).y);
    case T::framezaxis: return reading(narrow_axes<S>(quat).z);
    case T::frameangvel: {
      const Vec3<S> w = load6(e.xvel, obj.body).a;
      return seen(relative ? w - load6(e.xvel, ref.body).a : w);
    }
    default: {
      const Vec3<S> v = point_velocity(e, obj.body, obj.pos);
      if (!relative) return reading(v);
      const Vec3<S> carried = point_velocity(e, ref.body, ref.pos) +
                              cross(load6(e.xvel, ref.body).a, narrow3<S>(offset));
      return seen(v - carried);
    }
  }
}

// Returns the distance along z of the site to the first geom of another body.
template <class S>
STICTION_OUTLINE S range(const ModelView& m, const EnvView<S>& e, int site) {
  const Frame<S> f = frame_of(m, e, static_cast<int>(ObjectType::site), site);
  const RayOptions others{kAllGeomGroups, true, f.body};
  return narrow<S>(cast_ray(m, e, others, f.pos, matrix(f.quat).z).distance);
}

template <class S>
STICTION_OUTLINE Reading<S> distance_reading(const ModelView& m, const EnvView<S>& e, int i) {
  using W = Wide<S>;
  const NearestPoints<W> n = nearest_points(m, e, i);
  switch (static_cast<SensorType>(m.sensor_type[i])) {
    case SensorType::distance: return reading(narrow<S>(n.distance));
    case SensorType::fromto: {
      const Vec3<S> from = narrow3<S>(n.from), to = narrow3<S>(n.to);
      return {{from.x, from.y, from.z, to.x, to.y, to.z}};
    }
    default: {
      const Vec3<W> way = n.to - n.from;
      const W length = norm(way);
      const Mask<W> any = length > W(0.0);
      return reading(narrow3<S>(select(any, W(1.0) / select(any, length, W(1.0)), W(0.0)) * way));
    }
  }
}

// Sensors of a state other than frame sensors.
template <class S>
STICTION_FN Reading<S> state_reading(const ModelView& m, const EnvView<S>& e, int i) {
  using T = SensorType;
  const int id = m.sensor_objid[i];
  switch (static_cast<T>(m.sensor_type[i])) {
    case T::clock: return reading(narrow<S>(e.time[0]));
    case T::jointpos: return reading(narrow<S>(e.qpos[m.jnt_qposadr[id]]));
    case T::jointvel: return reading(e.qvel[m.jnt_dofadr[id]]);
    case T::ballquat: return reading<S>(normalized(load4(e.qpos + m.jnt_qposadr[id], 0)));
    case T::ballangvel: return reading(load3(e.qvel + m.jnt_dofadr[id], 0));
    case T::actuatorpos: return reading(actuator_length(m, e, id));
    case T::actuatorvel: return reading(actuator_velocity<S>(m, e, id, e.qvel));
    case T::tendonpos: return reading(narrow<S>(e.ten_length[id]));
    case T::tendonvel: return reading(e.ten_velocity[id]);
    case T::tendonlimitpos: return reading(tendon_limit(m, e, id).gap);
    case T::tendonlimitvel: return reading(tendon_limit(m, e, id).rate);
    case T::rangefinder: return reading(range(m, e, id));
    case T::jointlimitpos: return reading(joint_limit(m, e, id).gap);
    case T::jointlimitvel: return reading(joint_limit(m, e, id).rate);
    case T::distance:
    case T::normal:
    case T::fromto: return distance_reading(m, e, i);
    case T::camprojection: {
      const Pixel<Wide<S>> at = projection(m, e, id, m.sensor_refid[i]);
      return {{narrow<S>(at.u), narrow<S>(at.v)}};
    }
    case T::insidesite: return reading(inside_site(m, e, i));
    case T::magnetometer: return reading(magnetometer(m, e, id));
    case T::e_potential: return reading(narrow<S>(potential_energy(m, e, true)));
    case T::e_kinetic: return reading(narrow<S>(motion_energy(m, e)));
    case T::subtreecom: return reading(narrow3<S>(subtree(m, e, id).com));
    case T::subtreelinvel: return reading(subtree(m, e, id).velocity);
    case T::subtreeangmom: return reading(subtree_angular_momentum(m, e, id));
    case T::gyro:
    case T::velocimeter: {
      const Frame<S> site = frame_of(m, e, m.sensor_objtype[i], id);
      const bool turns = static_cast<T>(m.sensor_type[i]) == T::gyro;
      const Vec3<S> v = turns ? load6(e.xvel, site.body).a : point_velocity(e, site.body, site.pos);
      return reading(transposed(narrow_axes<S>(site.quat), v));
    }
    default: return frame_reading(m, e, i);
  }
}

// Accelerations are relative to free fall, a − g, as an accelerometer measures them.
template <class S>
STICTION_FN Reading<S> interval_reading(const ModelView& m, const EnvView<S>& e, int i) {
  using T = SensorType;
  const int id = m.sensor_objid[i];
  const T type = static_cast<T>(m.sensor_type[i]);
  switch (type) {
    case T::touch: return reading(touch(m, e, id));
    case T::actuatorfrc: return reading(force_of_actuator(m, e, id));
    case T::tendonactuatorfrc: return reading(actuation_of_tendon(m, e, id));
    case T::jointlimitfrc: return reading(joint_limit_force(m, e, id));
    case T::tendonlimitfrc: return reading(tendon_limit_force(m, e, id));
    case T::jointactuatorfrc: return reading(e.qfrc_actuator[m.jnt_dofadr[id]]);
    case T::contact: {
      const ContactReading<S> c = contact_reading(m, e, i);
      if (m.sensor_dim[i] == 3) return reading(c.force);
      return {{c.found, c.force.x, c.force.y, c.force.z}};
    }
    default: break;
  }
  const Frame<S> f = frame_of(m, e, m.sensor_objtype[i], id);
  const Mat3<S> axes = narrow_axes<S>(f.quat);
  if (type == T::force || type == T::torque) {
    const Spatial<S> wrench = interaction(m, e, f.body, f.pos);
    return reading(transposed(axes, type == T::force ? wrench.l : wrench.a));
  }
  const PointMotion<S> p = point_motion(m, e, f.body, f.pos);
  if (type == T::frameangacc) return reading(p.alpha);
  const Vec3<S> a = p.acceleration - load3(e.gravity, 0);
  return reading(type == T::accelerometer ? transposed(axes, a) : a);
}

// Writes a reading, clamped to the cutoff; lanes outside `valid` keep their old one.
template <class S>
STICTION_FN void write_reading(const ModelView& m, EnvView<S>& e, int i, const Reading<S>& r,
                               const Mask<S>& valid) {
  const double cutoff = m.sensor_cutoff[i];
  for (int k = 0; k < m.sensor_dim[i]; ++k) {
    S& out = e.sensordata[m.sensor_adr[i] + k];
    const S x = cutoff > 0.0 ? clamp(r.x[k], S(-cutoff), S(cutoff)) : r.x[k];
    out = select(valid && is_finite(r.x[k]), x, out);
  }
}

// Sensors of the last interval, evaluated before the state moves. Reads the kinematics and velocities of the
// start of the step, qacc, v, the points of the solve, xfrc_contact, qfrc_actuator and the laws of
// the actuators. Frozen lanes and readings that are not finite keep the old ones.
template <class Team, class S>
STICTION_FN void interval_sensors(const Team& team, const ModelView& m, EnvView<S>& e) {
  const Mask<S> active = e.active[0] > S(0.5);
  team.for_each(m.nsensor, [&](int i) {
    if (!m.sensor_interval[i]) return;
    write_reading(m, e, i, interval_reading(m, e, i), active);
  });
}

// Sensors of the current state: qpos, qvel, time, and xpos, xquat, xmat, xvel of this state.
template <class Team, class S>
STICTION_FN void state_sensors(const Team& team, const ModelView& m, EnvView<S>& e) {
  const Mask<S> all = S(0.0) == S(0.0);
  team.for_each(m.nsensor, [&](int i) {
    if (m.sensor_interval[i]) return;
    write_reading(m, e, i, state_reading(m, e, i), all);
  });
}

STICTION_PHYSICS_END

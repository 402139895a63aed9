#include "reference/sensor/sensors.h"

#include <algorithm>

#include "reference/actuation/energies.h"
#include "reference/constraint/equalities.h"
#include "reference/contact/geom_distance.h"
#include "reference/rays/rays.h"
#include "reference/sensor/length_forces.h"
#include "reference/sensor/sensor_frames.h"
#include "reference/tree/dynamics.h"

namespace stiction::reference {
namespace {

// Poses and motion of all bodies at one state; accelerations are those for the given q̈.
struct World {
  Kinematics kin;
  std::vector<Motion> bodies;

  Vec3 velocity(int b, const Vec3& p) const {
    return bodies[at(b)].velocity_at(p - kin.xpos[at(b)]);
  }
  Vec3 acceleration(int b, const Vec3& p) const {
    return bodies[at(b)].acceleration_at(p - kin.xpos[at(b)]);
  }
};
World world(const Model& m, const StepInputs& in, std::span<const double> qpos,
            std::span<const double> qvel, const VecX& qacc) {
  World w{kinematics(m, qpos, in.mocap_pos, in.mocap_quat), {}};
  w.bodies = motion(m, w.kin, qvel, in.mocap_vel);
  for (int b = 1; b < m.nbody; ++b) {
    w.bodies[at(b)].acceleration += point_jacobian(m, w.kin, b, w.kin.xpos[at(b)]) * qacc;
    w.bodies[at(b)].alpha += rotation_jacobian(m, w.kin, b) * qacc;
  }
  return w;
}

bool descends(const Model& m, int b, int ancestor) {
  while (b > ancestor) b = m.body_parentid[at(b)];
  return b == ancestor;
}

VecX to_vec(const Quat& q) {
  return Eigen::Vector4d(q.w(), q.x(), q.y(), q.z());
}
VecX to_vec(double x) {
  return VecX::Constant(1, x);
}

VecX frame_sensor(const Model& m, const World& w, int i) {
  using T = SensorType;
  const Frame obj = frame_of(m, w.kin, m.sensor_objtype[at(i)], m.sensor_objid[at(i)]);
  const Frame ref = frame_of(m, w.kin, m.sensor_reftype[at(i)], m.sensor_refid[at(i)]);
  const Quat to_ref = ref.quat.conjugate();
  const Motion &a = w.bodies[at(obj.body)], &b = w.bodies[at(ref.body)];
  switch (m.sensor_type[at(i)]) {
    case T::framepos: return to_ref * (obj.pos - ref.pos);
    case T::framequat: return to_vec(to_ref * obj.quat);
    case T::framexaxis: return to_ref * (obj.quat * Vec3(Vec3::UnitX()));
    case T::frameyaxis: return to_ref * (obj.quat * Vec3(Vec3::UnitY()));
    case T::framezaxis: return to_ref * (obj.quat * Vec3(Vec3::UnitZ()));
    case T::frameangvel: return to_ref * (a.omega - b.omega);
    default:
      return to_ref * (w.velocity(obj.body, obj.pos) - w.velocity(ref.body, ref.pos) -
                       b.omega.cross(obj.pos - ref.pos));
  }
}

VecX subtree_sensor(const Model& m, const World& w, SensorType type, int root) {
  const Vec3 com = subtree_com(m, w.kin)[at(root)];
  double mass = 0;
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  for (int b = 0; b < m.nbody; ++b) {
    if (!descends(m, b, root)) continue;
    const Vec3 p = m.body_mass[at(b)] * w.velocity(b, w.kin.xipos[at(b)]);
    mass += m.body_mass[at(b)];
    linear += p;
    angular +=
        (w.kin.xipos[at(b)] - com).cross(p) + world_inertia(m, w.kin, b) * w.bodies[at(b)].omega;
  }
  if (type == SensorType::subtreecom) return com;
  if (type == SensorType::subtreeangmom) return angular;
  return mass > 0 ? Vec3(linear / mass) : linear;
}

// For a body without mass the centre of its subtree counts, as in MuJoCo.
bool inside_site(const Model& m, const World& w, int i) {
  const ObjectType type = m.sensor_objtype[at(i)];
  const int id = m.sensor_objid[at(i)], site = m.sensor_refid[at(i)];
  const Frame zone = frame_of(m, w.kin, ObjectType::site, site);
  const bool centre = type == ObjectType::body && id > 0 && m.body_mass[at(id)] < 1e-15;
  const Vec3 p = centre ? subtree_com(m, w.kin)[at(id)] : frame_of(m, w.kin, type, id).pos;
  const Vec3 local = zone.quat.conjugate() * (p - zone.pos);
  return inside(m.site_type[at(site)], row3(m.site_size, site), local);
}

// Returns the convex geoms of a geom or body.
std::vector<int> geoms_of(const Model& m, ObjectType type, int id) {
  std::vector<int> geoms;
  for (int g = 0; g < m.ngeom; ++g)
    if (is_convex(m, g) && id == (type == ObjectType::geom ? g : m.geom_bodyid[at(g)]))
      geoms.push_back(g);
  return geoms;
}

VecX distance_sensor(const Model& m, const World& w, int i) {
  const NearestPoints n = nearest_points(
      m, w.kin, geoms_of(m, m.sensor_objtype[at(i)], m.sensor_objid[at(i)]),
      geoms_of(m, m.sensor_reftype[at(i)], m.sensor_refid[at(i)]), m.sensor_cutoff[at(i)]);
  const SensorType type = m.sensor_type[at(i)];
  if (type == SensorType::distance) return to_vec(n.distance);
  if (type == SensorType::normal) return (n.to - n.from).normalized();
  return Eigen::Vector<double, 6>(n.from[0], n.from[1], n.from[2], n.to[0], n.to[1], n.to[2]);
}

VecX state_sensor(const Model& m, const Options& o, const StepInputs& in, const StepResult& s,
                  const World& w, int i) {
  using T = SensorType;
  const SensorType type = m.sensor_type[at(i)];
  const int id = m.sensor_objid[at(i)];
  const std::vector<Tendon> strings = tendons(m, w.kin, s.qpos);
  const auto actuators = [&] {
    return actuation(m, w.kin, strings, s.qpos, s.qvel, in.ctrl, in.act);
  };
  const auto energies = [&] { return totals(m, w.kin, w.bodies, s.qpos, s.qvel); };
  const auto rate = [&](int t) {
    return strings[at(t)].J.dot(Eigen::Map<const VecX>(s.qvel.data(), m.nv));
  };
  switch (type) {
    case T::clock: return to_vec(in.time + (any(s.status, kFrozen) ? 0 : *o.timestep));
    case T::jointpos: return to_vec(s.qpos[at(m.jnt_qposadr[at(id)])]);
    case T::jointvel: return to_vec(s.qvel[at(m.jnt_dofadr[at(id)])]);
    case T::ballquat:
      return to_vec(row4(std::span(s.qpos).subspan(at(m.jnt_qposadr[at(id)])), 0).normalized());
    case T::ballangvel: return row3(std::span(s.qvel).subspan(at(m.jnt_dofadr[at(id)])), 0);
    case T::actuatorpos: return to_vec(actuators()[at(id)].length);
    case T::actuatorvel: return to_vec(actuators()[at(id)].velocity);
    case T::tendonpos: return to_vec(strings[at(id)].length);
    case T::tendonvel: return to_vec(rate(id));
    case T::tendonlimitpos:
    case T::tendonlimitvel: {
      const double margin = m.tendon_margin[at(id)], l = strings[at(id)].length;
      const double below = l - m.tendon_range[at(2 * id)] - margin;
      const double above = m.tendon_range[at(2 * id + 1)] - margin - l;
      if (m.tendon_limited[at(id)] == 0 || (below >= 0 && above >= 0)) return to_vec(0);
      if (type == T::tendonlimitpos) return to_vec(below < 0 ? below : above);
      return to_vec(below < 0 ? rate(id) : -rate(id));
    }
    case T::rangefinder: {
      const Frame f = frame_of(m, w.kin, ObjectType::site, id);
      return to_vec(
          raycast(m, w.kin, f.pos, f.quat * Vec3(Vec3::UnitZ()), {.bodyexclude = f.body}).distance);
    }
    case T::jointlimitpos: return to_vec(joint_limit(m, s.qpos, s.qvel, id).first);
    case T::jointlimitvel: return to_vec(joint_limit(m, s.qpos, s.qvel, id).second);
    case T::distance:
    case T::normal:
    case T::fromto: return distance_sensor(m, w, i);
    case T::camprojection: return projection(m, w.kin, id, m.sensor_refid[at(i)]);
    case T::insidesite: return to_vec(inside_site(m, w, i) ? 1 : 0);
    case T::magnetometer:
      return frame_of(m, w.kin, ObjectType::site, id).quat.conjugate() * row3(m.magnetic, 0);
    case T::e_potential: return to_vec(energies().potential + energies().fixed_potential);
    case T::e_kinetic: return to_vec(energies().kinetic);
    case T::subtreecom:
    case T::subtreelinvel:
    case T::subtreeangmom: return subtree_sensor(m, w, type, id);
    case T::gyro:
    case T::velocimeter: {
      const Frame f = frame_of(m, w.kin, ObjectType::site, id);
      const Quat to_site = f.quat.conjugate();
      if (type == T::gyro) return to_site * w.bodies[at(f.body)].omega;
      return to_site * w.velocity(f.body, f.pos);
    }
    default: return frame_sensor(m, w, i);
  }
}

// ---- sensors of the interval

double touch(const Model& m, const Kinematics& kin, const StepResult& s, double dt, int site) {
  const Frame f = frame_of(m, kin, ObjectType::site, site);
  double force = 0;
  for (const Contact& c : s.contacts) {
    const bool first = m.geom_bodyid[at(c.geom1)] == f.body;
    const bool second = m.geom_bodyid[at(c.geom2)] == f.body;
    const Vec3 n = row3(c.normal, 0), outwards = second ? Vec3(-n) : n;
    const double impulse = n.dot(row3(c.impulse, 0));
    if ((first || second) && impulse > 0 &&
        ray_meets(m.site_type[at(site)], row3(m.site_size, site),
                  f.quat.conjugate() * (row3(c.pos, 0) - f.pos), f.quat.conjugate() * outwards))
      force += impulse / dt;
  }
  return force;
}

bool names_geom(const Model& m, ObjectType type, int id, int geom) {
  const int body = m.geom_bodyid[at(geom)];
  if (type == ObjectType::geom) return geom == id;
  if (type == ObjectType::body) return body == id;
  if (type == ObjectType::xbody) return descends(m, body, id);
  return true;
}

VecX contact(const Model& m, const StepResult& s, double dt, int i) {
  const auto first = [&](int geom) {
    return names_geom(m, m.sensor_objtype[at(i)], m.sensor_objid[at(i)], geom);
  };
  const auto second = [&](int geom) {
    return names_geom(m, m.sensor_reftype[at(i)], m.sensor_refid[at(i)], geom);
  };
  double found = 0;
  Vec3 force = Vec3::Zero();  // of the first object on the second
  for (const Contact& c : s.contacts) {
    const Vec3 impulse = row3(c.impulse, 0);
    if (impulse.isZero(0)) continue;
    const bool regular = first(c.geom1) && second(c.geom2);
    const bool reverse = first(c.geom2) && second(c.geom1);
    if (!regular && !reverse) continue;
    found += 1;
    force += (regular ? 1 : -1) * impulse / dt;
  }
  if (m.sensor_dim[at(i)] == 1) return to_vec(found);
  if (m.sensor_dim[at(i)] == 3) return force;
  return Eigen::Vector4d(found, force.x(), force.y(), force.z());
}

// Newton–Euler over the subtree of `root`: the force and torque of its parent on it, in the frame f.
VecX interaction(const Model& m, const World& w, const StepInputs& in, const StepResult& s,
                 SensorType type, const Frame& f) {
  const Vec3 gravity(m.gravity[0], m.gravity[1], m.gravity[2]);
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
  for (int b = f.body; b < m.nbody; ++b) {
    if (!descends(m, b, f.body)) continue;
    const Motion& a = w.bodies[at(b)];
    const Vec3& com = w.kin.xipos[at(b)];
    const Mat3 inertia = world_inertia(m, w.kin, b);
    Vec3 on = m.body_mass[at(b)] * (w.acceleration(b, com) - gravity);
    Vec3 about = inertia * a.alpha + a.omega.cross(inertia * a.omega);
    for (const std::span<const double> xfrc : {std::span(s.xfrc_contact), in.xfrc_applied}) {
      if (xfrc.empty()) continue;
      on -= row3(xfrc, 2 * b), about -= row3(xfrc, 2 * b + 1);
    }
    force += on;
    torque += about + (com - f.pos).cross(on);
  }
  const Wrench held = wrench_of_connections(m, w.kin, s.eq_force, f.body, f.pos);
  force -= held.force, torque -= held.torque;
  return f.quat.conjugate() * (type == SensorType::force ? force : torque);
}

VecX interval_sensor(const Model& m, const Options& o, const StepInputs& in, const StepResult& s,
                     const World& w, int i) {
  using T = SensorType;
  const SensorType type = m.sensor_type[at(i)];
  const int id = m.sensor_objid[at(i)];
  switch (type) {
    case T::touch: return to_vec(touch(m, w.kin, s, *o.timestep, id));
    case T::contact: return contact(m, s, *o.timestep, i);
    case T::actuatorfrc: return to_vec(actuator_forces(m, o, in, s)[id]);
    case T::jointactuatorfrc:
      return to_vec(joint_actuation(m, o, in, w.kin, actuator_forces(m, o, in, s), id));
    case T::tendonactuatorfrc: return to_vec(tendon_actuation(m, actuator_forces(m, o, in, s), id));
    case T::jointlimitfrc: return to_vec(joint_limit_force(m, o, in, s, w.kin, id));
    case T::tendonlimitfrc: return to_vec(tendon_limit_force(m, o, in, s, w.kin, id));
    default: break;
  }
  const Frame f = frame_of(m, w.kin, m.sensor_objtype[at(i)], id);
  if (type == T::force || type == T::torque) return interaction(m, w, in, s, type, f);
  if (type == T::frameangacc) return w.bodies[at(f.body)].alpha;
  const Vec3 a = w.acceleration(f.body, f.pos) - Vec3(m.gravity[0], m.gravity[1], m.gravity[2]);
  return type == T::accelerometer ? Vec3(f.quat.conjugate() * a) : a;
}

}  // namespace

std::vector<double> sensors(const Model& m, const Options& o, const StepInputs& in,
                            const StepResult& s) {
  std::vector<double> data(at(m.nsensordata), 0.0);
  if (m.nsensor == 0) return data;
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv), v(s.qvel.data(), m.nv);
  const World start = world(m, in, in.qpos, in.qvel, (v - v0) / *o.timestep);
  StepInputs next = in;
  next.mocap_pos = s.mocap_pos, next.mocap_quat = s.mocap_quat;
  const World end = world(m, next, s.qpos, s.qvel, VecX::Zero(m.nv));
  for (int i = 0; i < m.nsensor; ++i) {
    const bool interval = of_interval(m.sensor_type[at(i)]);
    if (interval && any(s.status, kFrozen)) continue;
    const VecX x =
        interval ? interval_sensor(m, o, in, s, start, i) : state_sensor(m, o, next, s, end, i);
    const double cutoff = has_cutoff(m.sensor_type[at(i)]) ? m.sensor_cutoff[at(i)] : 0;
    for (int k = 0; k < m.sensor_dim[at(i)]; ++k)
      data[at(m.sensor_adr[at(i)] + k)] = cutoff > 0 ? std::clamp(x[k], -cutoff, cutoff) : x[k];
  }
  return data;
}

}  // namespace stiction::reference

#include "stiction/reference.h"

#include <algorithm>

#include "reference/actuation/energies.h"
#include "reference/actuation/muscle.h"
#include "reference/checked_inputs.h"
#include "reference/constraint/equalities.h"
#include "reference/contact/adhesion.h"
#include "reference/rays/rays.h"
#include "reference/sensor/sensors.h"
#include "reference/step/jacobian.h"
#include "reference/tree/dynamics.h"
#include "reference/tree/fluid.h"
#include "reference/tree/springs.h"
#include "stiction/error.h"

namespace stiction {
namespace {

using namespace reference;

void append(std::vector<double>& out, const Vec3& v) {
  out.insert(out.end(), {v.x(), v.y(), v.z()});
}
void append(std::vector<double>& out, const Quat& q) {
  out.insert(out.end(), {q.w(), q.x(), q.y(), q.z()});
}
void append(std::vector<double>& out, const Mat3& r) {
  for (int i = 0; i < 3; ++i) append(out, Vec3(r.row(i)));
}
template <class T>
std::vector<double> flat(const std::vector<T>& rows) {
  std::vector<double> out;
  for (const T& row : rows) append(out, row);
  return out;
}
std::vector<double> flat(const VecX& v) {
  return {v.data(), v.data() + v.size()};
}

}  // namespace

StepResult Reference::step(std::span<const double> qpos, std::span<const double> qvel,
                           const Inputs& inputs) const {
  const CheckedInputs in(model(), qpos, qvel, inputs);
  StepResult s = reference::step(model(), options(), in.step);
  s.status |= in.status;
  s.sensordata = sensors(model(), options(), in.step, s);
  return s;
}

StepJacobian Reference::step_jacobian(std::span<const double> qpos, std::span<const double> qvel,
                                      const Inputs& inputs) const {
  Options exact = options();
  exact.solver_tolerance = 1e-14;  // below what round-off allows: iterates until it stalls
  const CheckedInputs in(model(), qpos, qvel, inputs);
  StepJacobian jacobian;
  jacobian.step = reference::step(model(), exact, in.step);
  jacobian.step.status |= in.status;
  jacobian.step.sensordata = sensors(model(), exact, in.step, jacobian.step);
  const Inputs checked{
      in.step.ctrl,       in.step.qfrc_applied, in.step.xfrc_applied, in.step.mocap_pos,
      in.step.mocap_quat, in.step.mocap_vel,    in.step.anchor,       in.step.friction_anchor,
      in.step.rebound,    in.step.eq_active,    in.step.act};
  differentiate(model(), exact, qpos, qvel, checked, jacobian);
  return jacobian;
}

RayHits<double> Reference::raycast(std::span<const double> qpos, std::span<const double> origins,
                                   std::span<const double> directions, const RayOptions& options,
                                   const Inputs& inputs) const {
  const Model& m = model();
  const std::vector<double> rest(at(m.nv), 0.0);
  const CheckedInputs in(m, qpos, rest, inputs);
  check_rays(m, origins, directions, options);
  const Kinematics kin = kinematics(m, in.step.qpos, in.step.mocap_pos, in.step.mocap_quat);
  RayHits<double> hits;
  for (int i = 0; at(3 * i) < origins.size(); ++i) {
    const RayHit hit = reference::raycast(m, kin, row3(origins, i), row3(directions, i), options);
    hits.distance.push_back(hit.distance);
    hits.geomid.push_back(hit.geom);
    append(hits.normal, hit.normal);
  }
  return hits;
}

ForwardResult Reference::forward(std::span<const double> qpos, std::span<const double> qvel,
                                 const Inputs& inputs) const {
  const Model& m = model();
  const CheckedInputs checked(m, qpos, qvel, inputs);
  const StepInputs& in = checked.step;
  const Kinematics kin = kinematics(m, in.qpos, in.mocap_pos, in.mocap_quat);
  const std::vector<Motion> bodies = motion(m, kin, in.qvel, in.mocap_vel);
  ForwardResult f;

  // poses
  f.xpos = flat(kin.xpos), f.xquat = flat(kin.xquat);
  f.xipos = flat(kin.xipos), f.ximat = flat(kin.ximat);
  f.xanchor = flat(kin.xanchor), f.xaxis = flat(kin.xaxis);
  f.geom_xpos = flat(kin.geom_xpos), f.geom_xmat = flat(kin.geom_xmat);
  f.site_xpos = flat(kin.site_xpos), f.site_xmat = flat(kin.site_xmat);
  f.subtree_com = flat(subtree_com(m, kin));
  for (const Motion& s : bodies) append(f.xvel, s.omega), append(f.xvel, s.velocity);

  // inertia and bias
  f.M.resize(at(m.nv * m.nv));
  const std::vector<Tendon> strings = tendons(m, kin, in.qpos);
  MatX M = mass_matrix(m, kin);
  for (int t = 0; t < m.ntendon; ++t)
    M += m.tendon_armature[at(t)] * strings[at(t)].J * strings[at(t)].J.transpose();
  Eigen::Map<RowMatX>(f.M.data(), m.nv, m.nv) = M;
  VecX bias = bias_force(m, kin, bodies);
  const std::vector<Real> turning = tendon_bias(m, kin, bodies);
  for (int t = 0; t < m.ntendon; ++t)
    bias += m.tendon_armature[at(t)] * turning[at(t)] * strings[at(t)].J;
  f.qfrc_bias = flat(bias);

  // passive forces
  const VecX v = Eigen::Map<const VecX>(in.qvel.data(), m.nv);
  const VecX spring = spring_force(m, in.qpos) + tendon_spring_force(m, strings);
  const VecX damper =
      -damper_coefficients(m, v).cwiseProduct(v) + tendon_damper_force(m, strings, v);
  const VecX gravcomp = gravity_compensation(m, kin), lifted = actuator_gravity(m, kin);
  const VecX medium = fluid_forces(m, kin, bodies).force;
  f.qfrc_spring = flat(spring), f.qfrc_damper = flat(damper), f.qfrc_gravcomp = flat(gravcomp);
  f.qfrc_fluid = flat(medium);
  f.qfrc_passive = flat(VecX(spring + damper + (gravcomp - lifted) + medium));

  // actuators
  VecX qfrc_actuator = VecX::Zero(m.nv);
  const std::vector<Actuation> actuators =
      actuation(m, kin, strings, in.qpos, in.qvel, in.ctrl, in.act);
  const std::vector<ContactPoint> points = candidate_points(m, options(), kin);
  for (int a = 0; a < m.nu; ++a) {
    const Actuation& act = actuators[at(a)];
    const VecX moment = m.actuator_trntype[at(a)] == Transmission::body
                            ? adhesion_moment(m, kin, points, a)
                            : act.moment;
    f.actuator_length.push_back(act.length);
    f.actuator_moment.insert(f.actuator_moment.end(), moment.data(), moment.data() + m.nv);
    f.actuator_velocity.push_back(act.velocity);
    f.actuator_force.push_back(actuator_force(m, a, act));
  }
  f.act_dot = activation_rates(m, in.ctrl, in.act);
  Eigen::Map<VecX> force(f.actuator_force.data(), m.nu);
  VecX clamped = force;
  clamp_tendon_actuation(m, clamped);
  force = clamped;
  for (int a = 0; a < m.nu; ++a) qfrc_actuator += force[a] * actuators[at(a)].moment;
  qfrc_actuator += lifted;
  clamp_joint_actuation(m, qfrc_actuator);
  qfrc_actuator += adhesion_force(m, kin, points, actuators);
  f.qfrc_actuator = flat(qfrc_actuator);

  // energy and momentum
  const Totals t = totals(m, kin, bodies, in.qpos, in.qvel);
  f.energy_kinetic = t.kinetic, f.energy_potential = t.potential;
  f.linear_momentum = array3(t.linear_momentum), f.angular_momentum = array3(t.angular_momentum);
  f.com = array3(t.com);

  // equality constraints
  f.eq_gap.assign(at(6 * m.neq), 0.0), f.eq_J.assign(at(6 * m.neq * m.nv), 0.0);
  for (int i = 0; i < m.neq; ++i) {
    Eigen::Map<RowMatX> J(f.eq_J.data() + 6 * i * m.nv, 6, m.nv);
    if (!is_connection(m, i)) {
      const Coupling c = coupling(m, in.qpos, strings, i);
      f.eq_gap[at(6 * i + 3)] = c.gap;
      J.row(3) = c.J.transpose();
      continue;
    }
    const Connection c = connection(m, kin, i);
    set_row3(f.eq_gap, 2 * i, c.turn), set_row3(f.eq_gap, 2 * i + 1, c.q - c.p);
    J = jacobian(m, kin, c);
  }

  for (const ContactPoint& p : points) f.contacts.push_back(contact(m, p));
  return f;
}

}  // namespace stiction

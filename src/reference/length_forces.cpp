#include "reference/length_forces.h"

#include "reference/adhesion.h"

namespace stiction::reference {

VecX actuator_forces(const Model& m, const Options& o, const StepInputs& in, const StepResult& s) {
  const Eigen::Map<const VecX> v(s.v.data(), m.nv);
  const Eigen::Map<const RowMatX> A(s.A.data(), m.nv, m.nv);
  const Kinematics kin = kinematics(m, in.qpos, in.mocap_pos, in.mocap_quat);
  const std::vector<Tendon> strings = tendons(m, kin, in.qpos);
  const std::vector<Actuation> all = actuation(m, kin, strings, in.qpos, in.qvel, in.ctrl, in.act);
  const std::vector<std::pair<int, ServoLaw>> servos =
      servo_laws(m, *o.timestep, in, DelassusScale(m, kin, A), kin, strings);
  VecX force(m.nu);
  for (int a = 0; a < m.nu; ++a) force[a] = actuator_force(m, a, all[at(a)]);
  clamp_tendon_actuation(m, force);
  for (const auto& [a, law] : servos)
    force[a] = law.at(all[at(a)].moment.dot(v)).impulse / *o.timestep;
  return force;
}

double tendon_actuation(const Model& m, const VecX& forces, int t) {
  double sum = 0;
  for (int a = 0; a < m.nu; ++a)
    if (m.actuator_trntype[at(a)] == Transmission::tendon && m.actuator_trnid[at(a)] == t)
      sum += forces[a];
  return sum;
}

double tendon_limit_force(const Model& m, const Options& o, const StepInputs& in,
                          const StepResult& s, const Kinematics& kin, int t) {
  const Eigen::Map<const VecX> v(s.v.data(), m.nv), v0(in.qvel.data(), m.nv);
  const Eigen::Map<const RowMatX> A(s.A.data(), m.nv, m.nv);
  const Eigen::Map<const VecX> v_star(s.v_star.data(), m.nv);
  const double dt = *o.timestep;
  const DelassusScale delassus(m, kin, A);
  const std::vector<Tendon> strings = tendons(m, kin, in.qpos);
  const VecX push = push_of(force_rows(m, dt, in, delassus, kin, strings), A, v_star, v0);
  double force = 0;
  for (const auto& [J, law] : tendon_limits(m, o, dt, t, strings[at(t)], v0, push, delassus))
    force += evaluate(law, J.dot(v)).impulse / dt;
  return force;
}

double joint_actuation(const Model& m, const Options& o, const StepInputs& in,
                       const Kinematics& kin, const VecX& forces, int joint) {
  const std::vector<Actuation> all =
      actuation(m, kin, tendons(m, kin, in.qpos), in.qpos, in.qvel, in.ctrl, in.act);
  VecX f = actuator_gravity(m, kin);
  for (int a = 0; a < m.nu; ++a) f += forces[a] * all[at(a)].moment;
  clamp_joint_actuation(m, f);
  std::vector<ContactPoint> points = candidate_points(m, o, kin);
  if (o.contact_pairs != ContactPairs::speculative) points = penetrating_deepest(points);
  f += adhesion_force(m, kin, points, all);
  return f[m.jnt_dofadr[at(joint)]];
}

}  // namespace stiction::reference

#include "reference/sensor/length_forces.h"

#include "reference/actuation/servos.h"
#include "reference/contact/adhesion.h"

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

std::pair<double, double> joint_limit(const Model& m, std::span<const double> qpos,
                                      std::span<const double> qvel, int j) {
  if (m.jnt_limited[at(j)] == 0) return {0, 0};
  const std::span<const double> pose = qpos.subspan(at(m.jnt_qposadr[at(j)]));
  const std::span<const double> v = qvel.subspan(at(m.jnt_dofadr[at(j)]));
  const double low = m.jnt_range[at(2 * j)], high = m.jnt_range[at(2 * j + 1)];
  const double margin = m.jnt_margin[at(j)];
  if (m.jnt_type[at(j)] == JointType::ball) {
    const Vec3 turn = log_quat(Quat(row4(pose, 0)));
    const double gap = high - margin - turn.norm();
    if (gap >= 0) return {0, 0};
    return {gap, -turn.normalized().dot(row3(v, 0))};
  }
  if (pose[0] - low < margin) return {pose[0] - low - margin, v[0]};
  if (high - pose[0] < margin) return {high - pose[0] - margin, -v[0]};
  return {0, 0};
}

namespace {

// Returns Σ impulses/δt of the rows that `rows(push, delassus, tendons)` returns.
template <class F>
double force_of(const Model& m, const Options& o, const StepInputs& in, const StepResult& s,
                const Kinematics& kin, const F& rows) {
  const Eigen::Map<const VecX> v(s.v.data(), m.nv), v0(in.qvel.data(), m.nv);
  const Eigen::Map<const RowMatX> A(s.A.data(), m.nv, m.nv);
  const Eigen::Map<const VecX> v_star(s.v_star.data(), m.nv);
  const double dt = *o.timestep;
  const DelassusScale delassus(m, kin, A);
  const std::vector<Tendon> strings = tendons(m, kin, in.qpos);
  const VecX push = push_of(force_rows(m, dt, in, delassus, kin, strings), A, v_star, v0);
  double force = 0;
  for (const RowConstraint& row : rows(push, delassus, strings))
    force += evaluate(row.law, row.J.dot(v)).impulse / dt;
  return force;
}

}  // namespace

double joint_limit_force(const Model& m, const Options& o, const StepInputs& in,
                         const StepResult& s, const Kinematics& kin, int j) {
  return force_of(m, o, in, s, kin,
                  [&](const VecX& push, const DelassusScale& delassus, const auto&) {
                    return joint_limits(m, o, *o.timestep, j, in, push, delassus);
                  });
}

double tendon_limit_force(const Model& m, const Options& o, const StepInputs& in,
                          const StepResult& s, const Kinematics& kin, int t) {
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  return force_of(m, o, in, s, kin,
                  [&](const VecX& push, const DelassusScale& delassus, const auto& strings) {
                    return tendon_limits(m, o, *o.timestep, t, strings[at(t)], v0, push, delassus);
                  });
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

#include "reference/forces.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/muscle.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

Vec3 quat_difference(std::span<const Real> q, std::span<const double> q0) {
  return log_quat(row4(q0, 0).normalized().conjugate() * row4(q, 0).normalized());
}

// q ⊖ q_spring on the dofs of joint j, zero-length where the joint has no spring.
VecX spring_deflection(const Model& m, int j, std::span<const Real> qpos) {
  const auto adr = at(m.jnt_qposadr[at(j)]);
  const auto q = qpos.subspan(adr);
  const auto rest = std::span<const double>(m.qpos_spring).subspan(adr);
  switch (m.jnt_type[at(j)]) {
    case JointType::free: {
      VecX d(6);
      d << row3(q, 0) - row3(rest, 0), quat_difference(q.subspan(3), rest.subspan(3));
      return d;
    }
    case JointType::ball: return quat_difference(q, rest);
    case JointType::slide:
    case JointType::hinge: break;
  }
  return VecX::Constant(1, q[0] - rest[0]);
}

// A position servo, gain times (ctrl - length), on a ball joint: goes the short way round, as in
// MuJoCo 4.
bool servo_of_ball(const Model& m, int a) {
  const double gain = m.actuator_gain[at(3 * a)];
  return m.actuator_trntype[at(a)] == Transmission::joint &&
         m.jnt_type[at(m.actuator_trnid[at(a)])] == JointType::ball && gain != 0 &&
         m.actuator_bias[at(3 * a + 1)] == -gain;
}

// The length nearest to `length` that names the same rotation as `target`: the period is 2π |gear|.
Real short_way_round(Real target, Real length, double gear) {
  if (gear == 0) return target;
  return length + remainder(target - length, 2 * std::numbers::pi * gear);
}

}  // namespace

VecX spring_force(const Model& m, std::span<const Real> qpos) {
  VecX f = VecX::Zero(m.nv);
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_stiffness[at(j)] == 0) continue;
    const VecX d = spring_deflection(m, j, qpos);
    f.segment(m.jnt_dofadr[at(j)], d.size()) = -m.jnt_stiffness[at(j)] * d;
  }
  return f;
}

Real spring_energy(const Model& m, std::span<const Real> qpos) {
  Real e = 0;
  for (int j = 0; j < m.njnt; ++j)
    if (m.jnt_stiffness[at(j)] != 0)
      e += 0.5 * m.jnt_stiffness[at(j)] * spring_deflection(m, j, qpos).squaredNorm();
  return e;
}

VecX spring_stiffness(const Model& m) {
  VecX k(m.nv);
  for (int i = 0; i < m.nv; ++i) k[i] = m.jnt_stiffness[at(m.dof_jntid[at(i)])];
  return k;
}

VecX gravity_compensation(const Model& m, const Kinematics& kin) {
  const Vec3 gravity(m.gravity[0], m.gravity[1], m.gravity[2]);
  VecX f = VecX::Zero(m.nv);
  for (int b = 1; b < m.nbody; ++b) {
    const double share = m.body_gravcomp[at(b)];
    if (share == 0) continue;
    const Mat3X jac = point_jacobian(m, kin, b, kin.xipos[at(b)]);
    f -= jac.transpose() * (share * m.body_mass[at(b)] * gravity);
  }
  return f;
}

VecX applied_wrenches(const Model& m, const Kinematics& kin, std::span<const double> xfrc) {
  VecX f = VecX::Zero(m.nv);
  if (xfrc.empty()) return f;
  for (int b = 1; b < m.nbody; ++b) {
    const Vec3 force = row3(xfrc, 2 * b), torque = row3(xfrc, 2 * b + 1);
    if (force.isZero(0) && torque.isZero(0)) continue;
    f += point_jacobian(m, kin, b, kin.xipos[at(b)]).transpose() * force +
         rotation_jacobian(m, kin, b).transpose() * torque;
  }
  return f;
}

std::vector<Actuation> actuation(const Model& m, const std::vector<Tendon>& tendons,
                                 std::span<const Real> qpos, std::span<const Real> qvel,
                                 std::span<const Real> ctrl, std::span<const double> act) {
  const std::vector<Real> inputs = actuator_inputs(m, ctrl, act);
  const Eigen::Map<const VecX> v(qvel.data(), m.nv);
  std::vector<Actuation> result(at(m.nu));
  for (int a = 0; a < m.nu; ++a) {
    Actuation& to = result[at(a)];
    const std::span<const double> gear =
        std::span<const double>(m.actuator_gear).subspan(at(6 * a), 6);
    to.moment = VecX::Zero(m.nv);

    // length and moment arm
    const int id = m.actuator_trnid[at(a)];
    if (m.actuator_trntype[at(a)] == Transmission::tendon) {
      to.length = gear[0] * tendons[at(id)].length;
      to.moment = gear[0] * tendons[at(id)].J;
    } else {
      const auto q = qpos.subspan(at(m.jnt_qposadr[at(id)]));
      const int dof = m.jnt_dofadr[at(id)];
      switch (m.jnt_type[at(id)]) {
        case JointType::free:
          for (int k = 0; k < 6; ++k) to.moment[dof + k] = gear[at(k)];
          break;
        case JointType::ball:
          to.length = row3(gear, 0).dot(log_quat(row4(q, 0).normalized()));
          to.moment.segment<3>(dof) = row3(gear, 0);
          break;
        case JointType::slide:
        case JointType::hinge:
          to.length = gear[0] * q[0];
          to.moment[dof] = gear[0];
          break;
      }
    }
    to.velocity = to.moment.dot(v);

    // force
    Real u = inputs[at(a)];
    if (servo_of_ball(m, a)) u = short_way_round(u, to.length, value(row3(gear, 0).norm()));
    const Vec3 gain = m.actuator_gainmuscle[at(a)] != 0 ? muscle_gain(m, a, to.length, to.velocity)
                                                        : row3(m.actuator_gain, a);
    const Vec3 bias = m.actuator_biasmuscle[at(a)] != 0 ? muscle_bias(m, a, to.length, to.velocity)
                                                        : row3(m.actuator_bias, a);
    to.law = u * gain + bias;
  }
  return result;
}

Real actuator_force(const Model& m, int a, const Actuation& act) {
  const Real f = act.law.dot(Vec3(1, act.length, act.velocity));
  if (m.actuator_forcelimited[at(a)] == 0) return f;
  return std::clamp<Real>(f, m.actuator_forcerange[at(2 * a)],
                          m.actuator_forcerange[at(2 * a + 1)]);
}

void clamp_joint_actuation(const Model& m, VecX& qfrc_actuator) {
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_actfrclimited[at(j)] == 0) continue;
    Real& f = qfrc_actuator[m.jnt_dofadr[at(j)]];
    f = std::clamp<Real>(f, m.jnt_actfrcrange[at(2 * j)], m.jnt_actfrcrange[at(2 * j + 1)]);
  }
}

}  // namespace stiction::reference::inline STICTION_REAL

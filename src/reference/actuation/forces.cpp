#include "reference/actuation/forces.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "reference/actuation/muscle.h"
#include "reference/base/polynomial.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Returns the gear of a rotation whose servo takes the shorter way round, as in MuJoCo 4: a position servo, gain times
// (ctrl - length), on a ball joint or on the rotation of a site relative to its reference; else zero.
Vec3 gear_of_rotation(const Model& m, int a) {
  const std::span<const double> gear = std::span(m.actuator_gear).subspan(at(6 * a), 6);
  const double gain = m.actuator_gain[at(3 * a)];
  if (gain == 0 || m.actuator_bias[at(3 * a + 1)] != -gain) return Vec3::Zero();
  const int id = m.actuator_trnid[at(a)];
  switch (m.actuator_trntype[at(a)]) {
    case Transmission::joint:
    case Transmission::jointinparent:
      return m.jnt_type[at(id)] == JointType::ball ? row3(gear, 0) : Vec3(Vec3::Zero());
    case Transmission::site:
      return m.actuator_refid[at(a)] >= 0 && row3(gear, 0).isZero(0) ? row3(gear, 1)
                                                                     : Vec3(Vec3::Zero());
    default: return Vec3::Zero();
  }
}

// Returns, among the lengths that represent the same rotation as `target`, that nearest to `length`; period 2π |gear|.
Real short_way_round(Real target, Real length, double gear) {
  if (gear == 0) return target;
  return length + remainder(target - length, 2 * std::numbers::pi * gear);
}

bool moves(const Model& m, int dof, int body) {
  int b = body;
  while (b > 0 && b != m.dof_bodyid[at(dof)]) b = m.body_parentid[at(b)];
  return b > 0;
}

// Length and moment arm of an actuator on a site, relative to its reference site if it has one, or of a slider
// moved by a rod from the crank.
std::pair<Real, VecX> site_transmission(const Model& m, const Kinematics& kin, int a) {
  const std::span<const double> gear =
      std::span<const double>(m.actuator_gear).subspan(at(6 * a), 6);
  const int site = m.actuator_trnid[at(a)], ref = m.actuator_refid[at(a)];
  const int body = m.site_bodyid[at(site)];
  const Vec3& p = kin.site_xpos[at(site)];
  const Mat3X J = point_jacobian(m, kin, body, p), Jr = rotation_jacobian(m, kin, body);
  if (ref < 0) {
    const Mat3& R = kin.site_xmat[at(site)];
    return {0, J.transpose() * (R * row3(gear, 0)) + Jr.transpose() * (R * row3(gear, 1))};
  }

  // dofs that move both sites have a zero moment arm
  const int ref_body = m.site_bodyid[at(ref)];
  const Vec3& p0 = kin.site_xpos[at(ref)];
  const Mat3& R = kin.site_xmat[at(ref)];
  const Vec3 v = p - p0, axis = R.col(2);
  const auto apart = [&](Mat3X of_site, Mat3X of_ref) {
    for (int i = 0; i < m.nv; ++i)
      if (moves(m, i, body) && moves(m, i, ref_body))
        of_site.col(i).setZero(), of_ref.col(i).setZero();
    return std::pair<Mat3X, Mat3X>(of_site, of_ref);
  };
  const auto [Jp, Jp0] = apart(J, point_jacobian(m, kin, ref_body, p0));
  const auto [Jw, Jw0] = apart(Jr, rotation_jacobian(m, kin, ref_body));
  if (m.actuator_trntype[at(a)] == Transmission::site) {
    const Quat from = kin.xquat[at(ref_body)] * row4(m.site_quat, ref);
    const Quat turned = from.conjugate() * (kin.xquat[at(body)] * row4(m.site_quat, site));
    const Real length =
        row3(gear, 0).dot(R.transpose() * v) + row3(gear, 1).dot(log_quat(turned.normalized()));
    return {length, (Jp - Jp0).transpose() * (R * row3(gear, 0)) +
                        (Jw - Jw0).transpose() * (R * row3(gear, 1))};
  }

  // l = a·v − √((a·v)² + r² − v·v), a the slider's axis; where the rod is too short l = a·v
  const double rod = m.actuator_cranklength[at(a)];
  const Real along = axis.dot(v), square = along * along + rod * rod - v.squaredNorm();
  const Real root = square > 0 ? Real(sqrt(square)) : Real(0);
  const Real share = square > 0 ? Real(1 - along / root) : Real(1);
  Vec3 by_v = share * axis;
  if (square > 0) by_v += v / root;
  const Vec3 by_axis = share * v;
  const VecX arm = (Jp - Jp0).transpose() * by_v + Jw0.transpose() * axis.cross(by_axis);
  return {gear[0] * (along - root), gear[0] * arm};
}

}  // namespace

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

VecX actuator_gravity(const Model& m, const Kinematics& kin) {
  if (std::ranges::count(m.jnt_actgravcomp, 1) == 0) return VecX::Zero(m.nv);
  VecX f = gravity_compensation(m, kin);
  for (int i = 0; i < m.nv; ++i)
    if (m.jnt_actgravcomp[at(m.dof_jntid[at(i)])] == 0) f[i] = 0;
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

std::vector<Actuation> actuation(const Model& m, const Kinematics& kin,
                                 const std::vector<Tendon>& tendons, std::span<const Real> qpos,
                                 std::span<const Real> qvel, std::span<const Real> ctrl,
                                 std::span<const double> act) {
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
    if (is_on_site(m.actuator_trntype[at(a)])) {
      std::tie(to.length, to.moment) = site_transmission(m, kin, a);
    } else if (m.actuator_trntype[at(a)] == Transmission::jointinparent) {
      const bool free = m.jnt_type[at(id)] == JointType::free;
      const int dof = m.jnt_dofadr[at(id)];
      const Quat q = row4(qpos.subspan(at(m.jnt_qposadr[at(id)] + (free ? 3 : 0))), 0).normalized();
      const Vec3 axis = q.conjugate() * row3(gear, free ? 1 : 0);
      if (free) to.moment.segment<3>(dof) = row3(gear, 0);
      to.moment.segment<3>(free ? dof + 3 : dof) = axis;
      if (!free) to.length = axis.dot(log_quat(q));
    } else if (m.actuator_trntype[at(a)] == Transmission::body) {
      // the moment arm depends on the contacts: adhesion.h
    } else if (m.actuator_trntype[at(a)] == Transmission::tendon) {
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
    u = short_way_round(u, to.length, value(gear_of_rotation(m, a).norm()));
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
  for (int i = 0; i < m.nv; ++i) {
    const int j = m.dof_jntid[at(i)];
    if (m.jnt_actfrclimited[at(j)] == 0) continue;
    Real& f = qfrc_actuator[i];
    f = std::clamp<Real>(f, m.jnt_actfrcrange[at(2 * j)], m.jnt_actfrcrange[at(2 * j + 1)]);
  }
}

}  // namespace stiction::reference::inline STICTION_REAL

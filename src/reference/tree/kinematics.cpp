#include "reference/tree/kinematics.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Makes the three dofs from `dof` on rotations about the columns of `axes` through `anchor`.
void set_rotation_dofs(Kinematics& kin, int dof, const Mat3& axes, const Vec3& anchor) {
  for (int k = 0; k < 3; ++k) {
    kin.dof_axis[at(dof + k)] = axes.col(k);
    kin.dof_anchor[at(dof + k)] = anchor;
    kin.dof_rotates[at(dof + k)] = true;
  }
}

// Moves the pose (pos, quat) of a body through joint j, and records the joint's axes.
void apply_joint(const Model& m, int j, std::span<const Real> qpos, Vec3& pos, Quat& quat,
                 Kinematics& kin) {
  const int adr = m.jnt_qposadr[at(j)], dof = m.jnt_dofadr[at(j)];
  const std::span<const Real> q = qpos.subspan(at(adr));

  if (m.jnt_type[at(j)] == JointType::free) {
    pos = row3(q, 0);
    quat = Quat(q[3], q[4], q[5], q[6]).normalized();
    kin.xanchor[at(j)] = pos;
    kin.xaxis[at(j)] = row3(m.jnt_axis, j);
    for (int k = 0; k < 3; ++k) kin.dof_axis[at(dof + k)] = Vec3::Unit(k);
    set_rotation_dofs(kin, dof + 3, quat.toRotationMatrix(), pos);
    return;
  }

  const Vec3 offset = row3(m.jnt_pos, j), axis = row3(m.jnt_axis, j);
  const Vec3 anchor = pos + quat * offset;
  kin.xanchor[at(j)] = anchor;
  kin.xaxis[at(j)] = quat * axis;
  switch (m.jnt_type[at(j)]) {
    case JointType::slide:
      pos += kin.xaxis[at(j)] * (q[0] - m.qpos0[at(adr)]);
      kin.dof_axis[at(dof)] = kin.xaxis[at(j)];
      break;
    case JointType::hinge:
      quat = (quat * exp_quat(axis * (q[0] - m.qpos0[at(adr)]))).normalized();
      pos = anchor - quat * offset;
      kin.dof_axis[at(dof)] = kin.xaxis[at(j)];
      kin.dof_anchor[at(dof)] = anchor;
      kin.dof_rotates[at(dof)] = true;
      break;
    case JointType::ball:
      quat = (quat * row4(q, 0).normalized()).normalized();
      pos = anchor - quat * offset;
      set_rotation_dofs(kin, dof, quat.toRotationMatrix(), anchor);
      break;
    case JointType::free: break;
  }
}

// Visits the dofs that move body b, last first.
template <class F>
void for_each_dof(const Model& m, int b, F&& f) {
  const int weld = m.body_weldid[at(b)];
  if (weld == 0) return;
  for (int i = m.body_dofadr[at(weld)] + m.body_dofnum[at(weld)] - 1; i >= 0;
       i = m.dof_parentid[at(i)])
    f(i);
}

}  // namespace

Kinematics kinematics(const Model& m, std::span<const Real> qpos, std::span<const double> mocap_pos,
                      std::span<const double> mocap_quat) {
  Kinematics kin;
  const auto nb = at(m.nbody), nv = at(m.nv);
  kin.xpos.assign(nb, Vec3::Zero());
  kin.xquat.assign(nb, Quat::Identity());
  kin.xanchor.resize(at(m.njnt));
  kin.xaxis.resize(at(m.njnt));
  kin.dof_axis.assign(nv, Vec3::Zero());
  kin.dof_anchor.assign(nv, Vec3::Zero());
  kin.dof_rotates.assign(nv, false);

  // body frames, parents first
  for (int b = 1; b < m.nbody; ++b) {
    Vec3 pos = row3(m.body_pos, b);
    Quat quat = row4(m.body_quat, b);
    if (const int k = m.body_mocapid[at(b)]; k >= 0) {
      if (!mocap_pos.empty()) pos = row3(mocap_pos, k);
      if (!mocap_quat.empty()) quat = row4(mocap_quat, k).normalized();
    }
    const auto p = at(m.body_parentid[at(b)]);
    pos = kin.xpos[p] + kin.xquat[p] * pos;
    quat = (kin.xquat[p] * quat).normalized();
    for (int j = 0; j < m.body_jntnum[at(b)]; ++j)
      apply_joint(m, m.body_jntadr[at(b)] + j, qpos, pos, quat, kin);
    kin.xpos[at(b)] = pos;
    kin.xquat[at(b)] = quat;
  }

  // frames fixed to the bodies
  for (int b = 0; b < m.nbody; ++b) {
    const Quat& q = kin.xquat[at(b)];
    kin.xmat.push_back(q.toRotationMatrix());
    kin.xipos.push_back(kin.xpos[at(b)] + q * row3(m.body_ipos, b));
    kin.ximat.push_back((q * row4(m.body_iquat, b)).toRotationMatrix());
  }
  for (int g = 0; g < m.ngeom; ++g) {
    const auto b = at(m.geom_bodyid[at(g)]);
    kin.geom_xpos.push_back(kin.xpos[b] + kin.xquat[b] * row3(m.geom_pos, g));
    kin.geom_xmat.push_back((kin.xquat[b] * row4(m.geom_quat, g)).toRotationMatrix());
  }
  for (int s = 0; s < m.nsite; ++s) {
    const auto b = at(m.site_bodyid[at(s)]);
    kin.site_xpos.push_back(kin.xpos[b] + kin.xquat[b] * row3(m.site_pos, s));
    kin.site_xmat.push_back((kin.xquat[b] * row4(m.site_quat, s)).toRotationMatrix());
  }
  return kin;
}

Mat3X point_jacobian(const Model& m, const Kinematics& kin, int b, const Vec3& p) {
  Mat3X jac = Mat3X::Zero(3, m.nv);
  for_each_dof(m, b, [&](int i) {
    const Vec3& axis = kin.dof_axis[at(i)];
    jac.col(i) = kin.dof_rotates[at(i)] ? Vec3(axis.cross(p - kin.dof_anchor[at(i)])) : axis;
  });
  return jac;
}

Mat3X rotation_jacobian(const Model& m, const Kinematics& kin, int b) {
  Mat3X jac = Mat3X::Zero(3, m.nv);
  for_each_dof(m, b, [&](int i) {
    if (kin.dof_rotates[at(i)]) jac.col(i) = kin.dof_axis[at(i)];
  });
  return jac;
}

bool is_carried(const Model& m, int b) {
  while (b > 0 && m.body_mocapid[at(b)] < 0) b = m.body_parentid[at(b)];
  return b > 0;
}

std::vector<Motion> motion(const Model& m, const Kinematics& kin, std::span<const Real> qvel,
                           std::span<const double> mocap_vel) {
  std::vector<Motion> result(at(m.nbody));
  for (int b = 1; b < m.nbody; ++b) {
    // start with the motion of the parent, at the parent's origin
    Motion s = result[at(m.body_parentid[at(b)])];
    Vec3 at_point = kin.xpos[at(m.body_parentid[at(b)])];
    const auto move_to = [&](const Vec3& p) {
      const Vec3 r = p - at_point;
      s.velocity = s.velocity_at(r), s.acceleration = s.acceleration_at(r);
      at_point = p;
    };

    // then add the motion of each joint
    for (int k = 0; k < m.body_jntnum[at(b)]; ++k) {
      const int j = m.body_jntadr[at(b)] + k, dof = m.jnt_dofadr[at(j)];
      const auto rate = [&](int i) { return kin.dof_axis[at(i)] * qvel[at(i)]; };
      switch (m.jnt_type[at(j)]) {
        case JointType::free:
          s = Motion{};
          s.velocity = rate(dof) + rate(dof + 1) + rate(dof + 2);
          s.omega = rate(dof + 3) + rate(dof + 4) + rate(dof + 5);
          at_point = kin.xpos[at(b)];
          break;
        case JointType::slide:  // Coriolis: 2 ω × ṡ
          move_to(kin.xanchor[at(j)]);
          s.velocity += rate(dof);
          s.acceleration += 2 * s.omega.cross(rate(dof));
          break;
        case JointType::hinge:
        case JointType::ball: {  // α += ω × ω_rel: the axes rotate with the parent
          move_to(kin.xanchor[at(j)]);
          Vec3 relative = rate(dof);
          if (m.jnt_type[at(j)] == JointType::ball) relative += rate(dof + 1) + rate(dof + 2);
          s.alpha += s.omega.cross(relative);
          s.omega += relative;
          break;
        }
      }
    }
    move_to(kin.xpos[at(b)]);
    if (const int k = m.body_mocapid[at(b)]; k >= 0 && !mocap_vel.empty())
      s.omega = row3(mocap_vel, 2 * k), s.velocity = row3(mocap_vel, 2 * k + 1);
    result[at(b)] = s;
  }
  return result;
}

std::vector<Vec3> subtree_com(const Model& m, const Kinematics& kin) {
  std::vector<Vec3> com(at(m.nbody), Vec3::Zero());
  for (int b = m.nbody - 1; b >= 0; --b) {
    com[at(b)] += m.body_mass[at(b)] * kin.xipos[at(b)];
    if (b > 0) com[at(m.body_parentid[at(b)])] += com[at(b)];
  }
  for (int b = 0; b < m.nbody; ++b) {
    const Real mass = m.body_subtreemass[at(b)];
    com[at(b)] = mass > 0 ? Vec3(com[at(b)] / mass) : kin.xipos[at(b)];
  }
  return com;
}

VecX integrate_position(const Model& m, std::span<const Real> qpos, const VecX& v, double dt) {
  VecX q = Eigen::Map<const VecX>(qpos.data(), m.nq);
  // adding +0 turns -0 into +0, so that the sign of a zero does not propagate
  const auto advance_quat = [&](int adr, const Vec3& omega) {
    const Quat now = Quat(q[adr], q[adr + 1], q[adr + 2], q[adr + 3]).normalized();
    const Quat next = (now * exp_quat(dt * omega)).normalized();
    q.segment<4>(adr) << next.w() + 0.0, next.x() + 0.0, next.y() + 0.0, next.z() + 0.0;
  };
  for (int j = 0; j < m.njnt; ++j) {
    const int adr = m.jnt_qposadr[at(j)], dof = m.jnt_dofadr[at(j)];
    switch (m.jnt_type[at(j)]) {
      case JointType::free:
        for (int k = 0; k < 3; ++k) q[adr + k] = q[adr + k] + dt * v[dof + k] + 0.0;
        advance_quat(adr + 3, v.segment<3>(dof + 3));
        break;
      case JointType::ball: advance_quat(adr, v.segment<3>(dof)); break;
      case JointType::slide:
      case JointType::hinge: q[adr] = q[adr] + dt * v[dof] + 0.0; break;
    }
  }
  return q;
}

}  // namespace stiction::reference::inline STICTION_REAL

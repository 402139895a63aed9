#include "reference/tree/dynamics.h"

namespace stiction::reference::inline STICTION_REAL {

bool moves(const Model& m, int b) {
  const int weld = m.body_weldid[at(b)];
  return m.body_dofnum[at(weld)] > 0;
}

Vec3 com_velocity(const Kinematics& kin, const std::vector<Motion>& motion, int b) {
  const Motion& s = motion[at(b)];
  return s.velocity_at(kin.xipos[at(b)] - kin.xpos[at(b)]);
}

Mat3 world_inertia(const Model& m, const Kinematics& kin, int b) {
  const Mat3& r = kin.ximat[at(b)];
  return r * row3(m.body_inertia, b).asDiagonal() * r.transpose();
}

MatX mass_matrix(const Model& m, const Kinematics& kin) {
  MatX M = MatX::Zero(m.nv, m.nv);
  for (int b = 1; b < m.nbody; ++b) {
    if (!moves(m, b)) continue;
    const Mat3X jv = point_jacobian(m, kin, b, kin.xipos[at(b)]);
    const Mat3X jw = rotation_jacobian(m, kin, b);
    M += m.body_mass[at(b)] * jv.transpose() * jv + jw.transpose() * world_inertia(m, kin, b) * jw;
  }
  for (int i = 0; i < m.nv; ++i) M(i, i) += m.dof_armature[at(i)];
  return 0.5 * (M + M.transpose());
}

VecX bias_force(const Model& m, const Kinematics& kin, const std::vector<Motion>& motion) {
  const Vec3 gravity(m.gravity[0], m.gravity[1], m.gravity[2]);
  VecX bias = VecX::Zero(m.nv);
  for (int b = 1; b < m.nbody; ++b) {
    if (!moves(m, b)) continue;
    const Motion& s = motion[at(b)];
    const Vec3 r = kin.xipos[at(b)] - kin.xpos[at(b)];
    const Mat3 inertia = world_inertia(m, kin, b);

    const Vec3 force = m.body_mass[at(b)] * (s.acceleration_at(r) - gravity);
    const Vec3 torque = inertia * s.alpha + s.omega.cross(inertia * s.omega);
    bias += point_jacobian(m, kin, b, kin.xipos[at(b)]).transpose() * force +
            rotation_jacobian(m, kin, b).transpose() * torque;
  }
  return bias;
}

}  // namespace stiction::reference::inline STICTION_REAL

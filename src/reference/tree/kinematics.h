// Poses, Jacobians and velocities of the tree. World axes throughout.
#pragma once

#include <span>
#include <vector>

#include "reference/base/real.h"
#include "stiction/model.h"

namespace stiction::reference::inline STICTION_REAL {

// Poses at qpos. dof_axis and dof_anchor describe each column of the Jacobians: a rotation about an
// axis through the anchor, or a translation along the axis.
struct Kinematics {
  std::vector<Vec3> xpos, xipos;     // (nbody)  frame origin, centre of mass
  std::vector<Quat> xquat;           // (nbody)
  std::vector<Mat3> xmat, ximat;     // (nbody)  body axes, principal axes
  std::vector<Vec3> xanchor, xaxis;  // (njnt)
  std::vector<Vec3> geom_xpos, site_xpos;
  std::vector<Mat3> geom_xmat, site_xmat;
  std::vector<Vec3> dof_axis, dof_anchor;  // (nv)
  std::vector<bool> dof_rotates;           // (nv)
};

Kinematics kinematics(const Model& m, std::span<const Real> qpos, std::span<const double> mocap_pos,
                      std::span<const double> mocap_quat);

// 3 x nv: jacobian * qvel is the velocity of the point `p` fixed to body b.
Mat3X point_jacobian(const Model& m, const Kinematics& kin, int b, const Vec3& p);
// 3 x nv: angular velocity of body b.
Mat3X rotation_jacobian(const Model& m, const Kinematics& kin, int b);

// Motion of each body's frame: angular velocity and acceleration, velocity and acceleration of the
// frame's origin, at qacc = 0 and without gravity.
struct Motion {
  Vec3 omega = Vec3::Zero(), alpha = Vec3::Zero();
  Vec3 velocity = Vec3::Zero(), acceleration = Vec3::Zero();

  // Velocity and acceleration of the point at r from that origin: v + ω × r, a + α × r + ω × (ω × r).
  Vec3 velocity_at(const Vec3& r) const { return velocity + omega.cross(r); }
  Vec3 acceleration_at(const Vec3& r) const {
    return acceleration + alpha.cross(r) + omega.cross(omega.cross(r));
  }
};
// mocap_vel (nmocap,6): angular, linear; empty: mocap bodies are at rest.
std::vector<Motion> motion(const Model& m, const Kinematics& kin, std::span<const Real> qvel,
                           std::span<const double> mocap_vel);

// Returns whether a mocap body carries body b.
bool is_carried(const Model& m, int b);

// Centre of mass of the subtree of each body (the body's own position if the subtree has no mass).
std::vector<Vec3> subtree_com(const Model& m, const Kinematics& kin);

// q ⊕ δt v: positions add, quaternions advance by the exponential map and stay unit.
VecX integrate_position(const Model& m, std::span<const Real> qpos, const VecX& v, double dt);

}  // namespace stiction::reference::inline STICTION_REAL

// Generalized forces other than contact: gravity compensation, actuators, wrenches.
#pragma once

#include "reference/actuation/tendons.h"

namespace stiction::reference::inline STICTION_REAL {

VecX gravity_compensation(const Model& m, const Kinematics& kin);
// The part of it that the actuators carry: on joints with actuatorgravcomp.
VecX actuator_gravity(const Model& m, const Kinematics& kin);

// Returns force and torque at the centres of mass, (nbody,6), as a generalized force.
VecX applied_wrenches(const Model& m, const Kinematics& kin, std::span<const double> xfrc);

// An actuator at a state: its moment arm (velocity = moment · qvel), and its force before clamping as
// law · (1, length, velocity), law = gain u + bias with u from actuator_inputs (muscle.h); for a muscle the tangent
// plane of its force.
struct Actuation {
  Real length = 0, velocity = 0;
  Vec3 law = Vec3::Zero();
  VecX moment;  // (nv)
};
std::vector<Actuation> actuation(const Model& m, const Kinematics& kin,
                                 const std::vector<Tendon>& tendons, std::span<const Real> qpos,
                                 std::span<const Real> qvel, std::span<const Real> ctrl,
                                 std::span<const double> act);

// Returns law · (1, length, velocity), clamped to forcerange.
Real actuator_force(const Model& m, int a, const Actuation& act);

// Clamps the sum of actuator forces on each joint to its actuatorfrcrange.
void clamp_joint_actuation(const Model& m, VecX& qfrc_actuator);

}  // namespace stiction::reference::inline STICTION_REAL

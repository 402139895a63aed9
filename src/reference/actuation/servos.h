// Actuators as servos: their implicit laws, and the explicit part of the actuation.
#pragma once

#include <utility>
#include <vector>

#include "reference/actuation/forces.h"
#include "reference/base/step_inputs.h"

namespace stiction::reference::inline STICTION_REAL {

// Returns whether the actuator is a servo for some control.
inline bool may_be_servo(const Model& m, int a) {
  const Vec3 gain = row3(m.actuator_gain, a), bias = row3(m.actuator_bias, a);
  return bias[1] < 0 || bias[2] < 0 || gain[1] != 0 || gain[2] != 0 ||
         m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0;
}

// Returns the actuators with implicit feedback, and their laws.
std::vector<std::pair<int, ServoLaw>> servo_laws(const Model& m, double dt, const StepInputs& in,
                                                 const DelassusScale& delassus,
                                                 const Kinematics& kin,
                                                 const std::vector<Tendon>& tendons);

// Returns the generalized force of the actuators without restoring feedback; servos are rows.
VecX explicit_actuation(const Model& m, const Kinematics& kin, const std::vector<Tendon>& tendons,
                        std::span<const Real> qpos, std::span<const Real> qvel,
                        std::span<const Real> ctrl, std::span<const double> act);

}  // namespace stiction::reference::inline STICTION_REAL

// Forces of a step along the lengths of actuators and tendons, for sensors.
#pragma once

#include "reference/actuation/forces.h"
#include "reference/step/results.h"

namespace stiction::reference {

// (nu) Forces at the start of the step; for servos at its end.
VecX actuator_forces(const Model& m, const Options& o, const StepInputs& in, const StepResult& s);
// Sum of these forces on tendon t, or on the dof of a joint.
double tendon_actuation(const Model& m, const VecX& forces, int t);
double joint_actuation(const Model& m, const Options& o, const StepInputs& in,
                       const Kinematics& kin, const VecX& forces, int joint);
// Returns how far joint j is beyond its limit, and the rate at which that gap opens; 0 within the range.
std::pair<double, double> joint_limit(const Model& m, std::span<const double> qpos,
                                      std::span<const double> qvel, int j);
// Force of both limits of joint j or tendon t, at the end of the step.
double joint_limit_force(const Model& m, const Options& o, const StepInputs& in,
                         const StepResult& s, const Kinematics& kin, int j);
double tendon_limit_force(const Model& m, const Options& o, const StepInputs& in,
                          const StepResult& s, const Kinematics& kin, int t);

}  // namespace stiction::reference

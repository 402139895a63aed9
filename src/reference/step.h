// One time step: free motion, constraints, solve, integrate, results.
#pragma once

#include "reference/contacts.h"
#include "reference/dynamics.h"
#include "reference/forces.h"
#include "reference/gyroscopic.h"
#include "reference/newton.h"

namespace stiction::reference {

// Inputs with defaults filled in: all spans have their full size and finite numbers.
struct StepInputs {
  std::span<const double> qpos, qvel, ctrl, qfrc_applied, xfrc_applied, mocap_pos, mocap_quat,
      anchor;
  double time = 0;
};

// Free motion: A (v* − v0) = δt k with A = M + δt D + δt² K.
struct FreeMotion {
  MatX A;
  VecX v_star;
  std::vector<Turning> turning;  // with Gyroscopic::midpoint; its first half is in v_star
  bool solved = false;           // false: A is not positive definite, v_star is v0
};
FreeMotion free_motion(const Model& m, const Options& o, const Kinematics& kin,
                       const StepInputs& in);

// The actuators whose feedback is implicit, with their laws.
std::vector<std::pair<int, ServoLaw>> servo_laws(const Model& m, double dt, const StepInputs& in,
                                                 const DelassusScale& delassus);

// Servo, limit and dry-friction rows.
std::vector<RowConstraint> joint_rows(const Model& m, const Options& o, double dt,
                                      const FreeMotion& free, const StepInputs& in,
                                      const DelassusScale& delassus);

// Generalized force of the actuators without feedback that pulls back; servos are rows.
VecX explicit_actuation(const Model& m, const StepInputs& in);

// Throws ArgumentError where a model asks for something the step can't compute.
void check_model(const Model& m, const Options& o);

StepResult step(const Model& m, const Options& o, const StepInputs& in);

}  // namespace stiction::reference

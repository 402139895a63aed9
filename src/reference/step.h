// One time step: free motion, constraints, solve, integrate, results.
#pragma once

#include "reference/contacts.h"
#include "reference/dynamics.h"
#include "reference/forces.h"
#include "reference/gyroscopic.h"
#include "reference/newton.h"

namespace stiction::reference::inline STICTION_REAL {

// Inputs with defaults filled in: all spans have their full size and finite numbers.
struct StepInputs {
  std::span<const Real> qpos, qvel, ctrl;
  std::span<const double> qfrc_applied, xfrc_applied, mocap_pos, mocap_quat, anchor,
      friction_anchor;
  double time = 0;
  std::span<const Real> more_friction = {};  // (npair) added to the coefficients; empty: zero
  std::span<const double> eq_active = {};    // (neq)
  std::span<const double> act = {};          // (na)
};

// Where in a step its forces are taken, as shares of its end: the θ-method of the SAP paper, (7)-(12).
struct Theta {
  double force = 1;     // θ: q and v of the forces
  double position = 1;  // θ_qv: v that moves q
};
Theta theta(Scheme scheme);

// Free motion: A (v* − v0) = δt k with A = M + δt D + δt² K.
struct FreeMotion {
  MatX A;
  VecX v_star;
  std::vector<Turning> turning;  // with Gyroscopic::midpoint; its first half is in v_star
  bool solved = false;           // false: A is not positive definite, v_star is v0
  bool converged = true;         // false: of the midpoint rule's implicit equation
};
FreeMotion free_motion(const Model& m, const Options& o, const Kinematics& kin,
                       const StepInputs& in);

// The actuators whose feedback is implicit, with their laws.
std::vector<std::pair<int, ServoLaw>> servo_laws(const Model& m, double dt, const StepInputs& in,
                                                 const DelassusScale& delassus,
                                                 const Kinematics& kin,
                                                 const std::vector<Tendon>& tendons);

// Rows that depend on no others: springs, dampers and armature of tendons, then servos.
std::vector<RowConstraint> force_rows(const Model& m, double dt, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons);
// Of joint j, both limits; none within a joint that has none. `push`: of push_of().
std::vector<RowConstraint> joint_limits(const Model& m, const Options& o, double dt, int j,
                                        const StepInputs& in, const VecX& push,
                                        const DelassusScale& delassus);
// Generalized impulses of the step at v0, without limits: A (v* − v0) and those rows.
VecX push_of(const std::vector<RowConstraint>& forces, const MatX& A, const VecX& v_star,
             const VecX& v0);

// All rows: those, limits and dry friction.
std::vector<RowConstraint> joint_rows(const Model& m, const Options& o, double dt,
                                      const FreeMotion& free, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons);

// Generalized force of the actuators without feedback that pulls back; servos are rows.
VecX explicit_actuation(const Model& m, const Kinematics& kin, const std::vector<Tendon>& tendons,
                        std::span<const Real> qpos, std::span<const Real> qvel,
                        std::span<const Real> ctrl, std::span<const double> act);

// Throws ArgumentError where a model asks for something the step can't compute.
void check_model(const Model& m, const Options& o);

struct LeftOut {
  Mat3X J;
  Reach reach;
  Real gap;
};

// Contact points in the problem, and those without an impulse in this step.
struct Contacts {
  std::vector<ContactPoint> points;
  std::vector<LeftOut> left_out;
};

// All that a step computes. Where the status froze it, what comes after the reason is empty.
struct Step {
  Status status = Status::ok;
  Kinematics kin;
  FreeMotion free;
  Problem problem;
  Contacts contacts;
  Solution solution;
  VecX q, v, v_end;  // next position, minimum of the problem, next velocity
};
Step take_step(const Model& m, const Options& o, const StepInputs& in);

}  // namespace stiction::reference::inline STICTION_REAL

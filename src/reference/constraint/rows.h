// Joint and tendon rows of the convex problem.
#pragma once

#include "reference/actuation/free_motion.h"
#include "reference/actuation/tendons.h"

namespace stiction::reference::inline STICTION_REAL {

// Rows that depend on no others: springs, dampers and armature of tendons, then servos.
std::vector<RowConstraint> force_rows(const Model& m, double dt, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons);
// Both limits of joint j; none if the joint has no limits. `push`: from push_of().
std::vector<RowConstraint> joint_limits(const Model& m, const Options& o, double dt, int j,
                                        const StepInputs& in, const VecX& push,
                                        const DelassusScale& delassus);
// Generalized impulses of the step at v0, without limits: A (v* − v0) and the force rows.
VecX push_of(const std::vector<RowConstraint>& forces, const MatX& A, const VecX& v_star,
             const VecX& v0);

// All rows: force rows, limits and dry friction.
std::vector<RowConstraint> joint_rows(const Model& m, const Options& o, double dt,
                                      const FreeMotion& free, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons);

}  // namespace stiction::reference::inline STICTION_REAL

// Joint and tendon rows of the convex problem.
#pragma once

#include "reference/actuation/free_motion.h"
#include "reference/actuation/tendons.h"

namespace stiction::reference::inline STICTION_REAL {

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

}  // namespace stiction::reference::inline STICTION_REAL

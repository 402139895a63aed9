// One time step: free motion, constraints, solve, integrate, results.
#pragma once

#include "reference/actuation/free_motion.h"
#include "reference/constraint/rows.h"
#include "reference/contact/contacts.h"
#include "reference/solver/newton.h"

namespace stiction::reference::inline STICTION_REAL {

struct LeftOut {
  Mat3X J;
  Reach reach;
  Real gap;
  Vec3 drift;  // added to J v
};

// Contact points in the problem, and the points left out as they have no impulse in this step.
struct Contacts {
  std::vector<ContactPoint> points;
  std::vector<LeftOut> left_out;
};

// Everything that a step computes. If a status bit froze it, members computed after that are empty.
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

// The free motion: the velocity without constraint impulses, by the scheme of the options.
#pragma once

#include <vector>

#include "reference/base/step_inputs.h"
#include "reference/tree/gyroscopic.h"
#include "stiction/options.h"

namespace stiction::reference::inline STICTION_REAL {

// The time within a step at which its forces are taken, 0 start to 1 end: the θ-method of the SAP paper, (7)-(12).
struct Theta {
  double force = 1;     // θ: q and v of the forces
  double position = 1;  // θ_qv: v that moves q
};
Theta theta(Scheme scheme);

// Free motion: A (v* − v0) = δt k with A = M + δt D + δt² K.
struct FreeMotion {
  MatX A;
  VecX v_star;
  std::vector<Turning> turning;  // with Gyroscopic::midpoint; the first half is included in v_star
  bool solved = false;           // false: A is not positive definite, v_star is v0
  bool converged = true;         // whether the implicit equation of the midpoint rule converged
};
FreeMotion free_motion(const Model& m, const Options& o, const Kinematics& kin,
                       const StepInputs& in);

}  // namespace stiction::reference::inline STICTION_REAL

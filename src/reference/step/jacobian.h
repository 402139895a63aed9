// Derivative of a step. The stages are compiled a second time, in dual numbers (real.h), and taken in a few
// directions at a time; the solve alone does not differentiate its iteration but the optimality
// condition (differentiated() in newton.h).
#pragma once

#include "stiction/reference.h"

namespace stiction::reference {

// Fills all but `jacobian.step`, which is the step with these arguments: checked, and of full size.
void differentiate(const Model& m, const Options& o, std::span<const double> qpos,
                   std::span<const double> qvel, const Inputs& in, StepJacobian& jacobian);

}  // namespace stiction::reference

// Derivative of a step. The stages are compiled a second time, with dual numbers (real.h), and evaluated in a few
// directions at a time; only in the solve the optimality condition is differentiated instead of the iteration
// (differentiated() in newton.h).
#pragma once

#include "stiction/reference.h"

namespace stiction::reference {

// Fills all members except `jacobian.step`, which must be the step with these arguments: checked, and of full size.
void differentiate(const Model& m, const Options& o, std::span<const double> qpos,
                   std::span<const double> qvel, const Inputs& in, StepJacobian& jacobian);

}  // namespace stiction::reference

// The solvers, one file each; solver.cpp names them.
#pragma once

#include "lab/src/solver.h"

namespace stiction::lab {

using Run = Iterates(const ContactProblem&, const DualProblem&, const Settings&);
Run lcp, ccp, ncp, raisim, admm, staggered, sap, lagged, similar, interior;

}  // namespace stiction::lab

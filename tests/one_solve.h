// The law of a step that is one convex problem, so that two solvers have one answer.
#pragma once

#include "stiction/options.h"

namespace stiction::test {

// Friction is bounded by the normal impulse of the step before.
inline Options one_solve() {
  Options o;
  o.friction_iterations = 1;
  return o;
}

}  // namespace stiction::test

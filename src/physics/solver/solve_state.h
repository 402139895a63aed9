// State of the Newton iteration of an environment that is not in its fields.
#pragma once

#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

// Masks of lanes and counters during the iteration; the same bits in all threads of a team.
template <class S>
struct SolveState {
  Mask<S> active;
  Mask<S> bad, failed, stalled, not_converged;
  S residual, scale;          // ‖D r‖/scale, scale = max(‖D A v‖, ‖D Jᵀγ‖)
  S last_residual, decrease;  // of the previous iteration; ½ |r·Δv| of it
  Mask<S> full_step;          // α > ½ in the previous iteration
  S small_steps, flat_steps;  // consecutive
  S iterations, evaluations;
  S solves;
  S renewals, relaxation;  // of the friction bounds; θ of the last renewal
  S round;                 // iterations in the current solve
  Mask<S> moved;           // the iterate has moved since judge()
  Mask<S> open;            // convergence of the solve has not been tested yet
  Mask<S> bounded;         // the last iteration had bounding curvatures
  Mask<S> follows;         // the friction bounds moved with the last iteration
  int lanes;               // number of lanes iterating when convergence was last tested
};

STICTION_PHYSICS_END

// What the iteration of an environment knows of itself beside its fields.
#pragma once

#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

// Masks of lanes and counters during the iteration; the same bits in all threads of a team.
template <class S>
struct SolveState {
  Mask<S> active;
  Mask<S> bad, failed, stalled, not_converged;
  S residual, scale;          // ‖D r‖/scale, scale = max(‖D A v‖, ‖D Jᵀγ‖)
  S last_residual, decrease;  // of the step before; ½ |r·Δv| of it
  Mask<S> full_step;          // α > ½ in it
  S small_steps, flat_steps;  // in a row
  S iterations, evaluations;
  S solves;
  S renewals, relaxation;  // of the bounds of friction; θ of the last one
  S round;                 // iterations of this solve
  Mask<S> moved;           // the iterate, since judge()
  Mask<S> open;            // the end of the solve has not been looked at
  Mask<S> bounded;         // the last iteration had bounding curvatures
  Mask<S> follows;         // the bounds of friction moved with it
  int lanes;               // that iterated when ends of solves were last looked at
};

STICTION_PHYSICS_END

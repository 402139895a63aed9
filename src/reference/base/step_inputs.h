// The arguments of which one step of one environment is a function, besides its model and options.
#pragma once

#include <span>

#include "reference/base/real.h"

namespace stiction::reference::inline STICTION_REAL {

// Inputs with defaults filled in: every span has its full size and finite numbers.
struct StepInputs {
  std::span<const Real> qpos, qvel, ctrl;
  std::span<const double> qfrc_applied, xfrc_applied, mocap_pos, mocap_quat, mocap_vel, anchor,
      friction_anchor, rebound;
  double time = 0;
  std::span<const Real> more_friction = {};  // (npair) added to the coefficients; empty: zero
  std::span<const double> eq_active = {};    // (neq)
  std::span<const double> act = {};          // (na)
};

}  // namespace stiction::reference::inline STICTION_REAL

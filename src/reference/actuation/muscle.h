// The force of a muscle, a function of length and velocity, and the activations of stateful actuators.
#pragma once

#include <vector>

#include "reference/base/real.h"
#include "stiction/model.h"

namespace stiction::reference::inline STICTION_REAL {

// c · (1, length, velocity): the tangent plane of a force at (length, velocity).
//
//   gain = −F0 FL(L) FV(V),   bias = −F0 FP(L)
//   L = range0 + (length − lengthrange0)/L0,   V = velocity/(L0 vmax)
//   L0 = (lengthrange1 − lengthrange0)/(range1 − range0)
Vec3 muscle_gain(const Model& m, int a, Real length, Real velocity);
Vec3 muscle_bias(const Model& m, int a, Real length, Real velocity);

// (na) Rates of the activations at the clamped controls, and the activations after a timestep.
std::vector<Real> activation_rates(const Model& m, std::span<const Real> ctrl,
                                   std::span<const double> act);
std::vector<Real> next_activations(const Model& m, std::span<const Real> ctrl,
                                   std::span<const double> act);

// (nu) The inputs that the gains of the actuators multiply: the clamped control or the activation, with actearly the
// activation after the step.
std::vector<Real> actuator_inputs(const Model& m, std::span<const Real> ctrl,
                                  std::span<const double> act);

}  // namespace stiction::reference::inline STICTION_REAL

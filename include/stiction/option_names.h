// Names of the choices in Options, in the order of their enumerations.
#pragma once

#include <array>
#include <string_view>

#include "stiction/options.h"

namespace stiction {

template <std::size_t N>
using ChoiceNames = std::array<std::string_view, N>;

constexpr ChoiceNames<3> choice_names(ContactModel) {
  return {"lagged", "similar", "sap"};
}
constexpr ChoiceNames<2> choice_names(Stiction) {
  return {"regularized", "anchored"};
}
constexpr ChoiceNames<2> choice_names(ContactPairs) {
  return {"speculative", "penetrating_deepest"};
}
constexpr ChoiceNames<3> choice_names(Limits) {
  return {"auto", "solref", "near_rigid"};
}
constexpr ChoiceNames<2> choice_names(FrictionCombination) {
  return {"mujoco", "harmonic"};
}
constexpr ChoiceNames<3> choice_names(Gyroscopic) {
  return {"auto", "midpoint", "explicit_euler"};
}
constexpr ChoiceNames<2> choice_names(LinearSolver) {
  return {"cholesky", "cusolver"};
}
constexpr ChoiceNames<4> choice_names(Scheme) {
  return {"implicit_euler", "symplectic_euler", "explicit_euler", "midpoint"};
}
constexpr ChoiceNames<3> choice_names(NormalLaw) {
  return {"hunt_crossley", "log_barrier", "ipc_barrier"};
}
constexpr ChoiceNames<3> choice_names(MocapVelocity) {
  return {"difference", "given", "none"};
}

template <class E>
constexpr std::string_view name_of(E choice) {
  return choice_names(choice)[static_cast<std::size_t>(choice)];
}

// Of friction_iterations: the name of kAutoFriction or kFixedPointFriction.
inline constexpr std::string_view kAutoName = "auto", kFixedPointName = "fixed_point";

}  // namespace stiction

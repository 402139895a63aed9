// The status bits that an environment has accumulated since its reset, kept beside its fields, and the
// definition of a reset.
#pragma once

#include <cstdint>
#include <type_traits>

#include "physics/base/views.h"
#include "stiction/types.h"

namespace stiction::physics {

// Arrays over all environments, (num_envs) each.
struct StatusArrays {
  std::uint32_t* status;      // bits of Status
  std::int32_t* status_step;  // step at which the first bit was set; -1: none
  std::int32_t* steps;        // steps since the reset
};

template <FieldKind kind>
using KindConstant = std::integral_constant<FieldKind, kind>;

}  // namespace stiction::physics

STICTION_PHYSICS_BEGIN

STICTION_FN bool is_frozen(const StatusArrays& a, int env) {
  return (a.status[env] & static_cast<std::uint32_t>(kFrozen)) != 0;
}

// Records the status bits of a step; called by one thread of a team.
STICTION_FN void record_status(const StatusArrays& a, int env, Status bits) {
  if (bits == Status::ok) return;
  if (a.status[env] == 0) a.status_step[env] = a.steps[env];
  a.status[env] |= static_cast<std::uint32_t>(bits);
}

// ---- A reset, wherever the fields of an environment are stored: fields of these kinds take the values
// of the reference state, and the step count becomes zero. Parameters stay; outputs are those of the
// refresh that must follow.

template <class F>
STICTION_FN void for_reset_kinds(const F& f) {
  f(KindConstant<FieldKind::state>());
  f(KindConstant<FieldKind::input>());
}
STICTION_FN void clear_status(const StatusArrays& a, int env) {
  a.status[env] = 0, a.status_step[env] = -1, a.steps[env] = 0;
}
// write_reference(kind) copies the reference values of all fields of that kind into the environment.
template <class Team, class Write>
STICTION_FN void reset_environment(const Team& team, const StatusArrays& a, int env,
                                   const Write& write_reference) {
  for_reset_kinds(write_reference);
  team.once([&] { clear_status(a, env); });
}

// Returns whether a quaternion is long enough to be normalized to a rotation.
STICTION_FN bool has_direction(const double* q) {
  return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > kShortestQuat2;
}

STICTION_PHYSICS_END

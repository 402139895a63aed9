// What the steps since its reset have said of an environment, kept beside its fields; and what a
// reset is.
#pragma once

#include <cstdint>
#include <type_traits>

#include "physics/base/views.h"
#include "stiction/types.h"

namespace stiction::physics {

// Of all environments, (num_envs) each.
struct StatusArrays {
  std::uint32_t* status;      // bits of Status
  std::int32_t* status_step;  // step of the first bit; -1: none
  std::int32_t* steps;        // since the reset
};

template <FieldKind kind>
using KindConstant = std::integral_constant<FieldKind, kind>;

}  // namespace stiction::physics

STICTION_PHYSICS_BEGIN

STICTION_FN bool is_frozen(const StatusArrays& a, int env) {
  return (a.status[env] & static_cast<std::uint32_t>(kFrozen)) != 0;
}

// By one thread of a team.
STICTION_FN void record_status(const StatusArrays& a, int env, Status bits) {
  if (bits == Status::ok) return;
  if (a.status[env] == 0) a.status_step[env] = a.steps[env];
  a.status[env] |= static_cast<std::uint32_t>(bits);
}

// ---- A reset, wherever the rows of an environment are: the fields of these kinds get the
// reference's numbers, and no step has been. Parameters stay; outputs are those of the refresh that
// must follow.

template <class F>
STICTION_FN void for_reset_kinds(const F& f) {
  f(KindConstant<FieldKind::state>());
  f(KindConstant<FieldKind::input>());
}
STICTION_FN void clear_status(const StatusArrays& a, int env) {
  a.status[env] = 0, a.status_step[env] = -1, a.steps[env] = 0;
}
// write_reference(kind) copies the reference's numbers of the environment's fields of that kind.
template <class Team, class Write>
STICTION_FN void reset_environment(const Team& team, const StatusArrays& a, int env,
                                   const Write& write_reference) {
  for_reset_kinds(write_reference);
  team.once([&] { clear_status(a, env); });
}

// A quaternion that names a rotation.
STICTION_FN bool has_direction(const double* q) {
  return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > kShortestQuat2;
}

STICTION_PHYSICS_END

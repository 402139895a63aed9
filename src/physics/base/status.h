// Status bits of a step: one number per bit and lane, 1 where the step sets that bit.
#pragma once

#include "physics/base/views.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

// Returns the row of e.flags that holds a status bit.
STICTION_FN constexpr int flag_index(Status bit) {
  int i = 0;
  while ((static_cast<std::uint32_t>(bit) >> i) > 1u) ++i;
  return i;
}

// Sets a status bit where the mask is true; called by one thread of the team.
template <class S>
STICTION_FN void raise_flag(EnvView<S>& e, Status bit, const Mask<S>& where) {
  S& flag = e.flags[flag_index(bit)];
  flag = select(where, S(1.0), flag);
}

template <class S>
STICTION_FN Mask<S> has_flag(const EnvView<S>& e, Status bit) {
  return e.flags[flag_index(bit)] > S(0.5);
}

STICTION_PHYSICS_END

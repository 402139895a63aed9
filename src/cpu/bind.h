// Views of blocked fields.
#pragma once

#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

// Returns a view of fields that begin at the given addresses, in the order of fields.def.
template <class S>
inline EnvView<S> bind(void* const* address) {
  EnvView<S> e;
  int i = 0;
#define X(kind, type, name, rows, columns, producer, meaning) \
  e.name = static_cast<typename EnvView<S>::type*>(address[i++]);
#include "physics/base/fields.def"
#undef X
  return e;
}

STICTION_PHYSICS_END

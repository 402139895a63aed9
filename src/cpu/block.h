// The blocked working set: the fields of one pack of environments, S by S.
#pragma once

#include <cstddef>

#include "cpu/layout.h"

STICTION_PHYSICS_BEGIN

inline constexpr std::size_t kBlockAlignment = 64;

// Bytes of a field in the block of number type S, rounded up to whole cache lines.
template <class S>
inline std::size_t block_bytes(const cpu::FieldSpec& f) {
  const std::size_t one = f.type == FieldType::wide   ? sizeof(Wide<S>)
                          : f.type == FieldType::real ? sizeof(S)
                                                      : sizeof(int);
  const std::size_t bytes = one * static_cast<std::size_t>(f.size());
  return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

// A view of fields that begin at the given addresses, in the order of fields.def.
template <class S>
inline EnvView<S> bind(void* const* address) {
  EnvView<S> e;
  int i = 0;
#define X(kind, type, name, rows, columns, producer, meaning) \
  e.name = static_cast<typename EnvView<S>::type*>(address[i++]);
#include "physics/fields.def"
#undef X
  return e;
}

STICTION_PHYSICS_END

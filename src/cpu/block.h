// The blocked working set: the fields of one pack of environments, interleaved in units of S.
#pragma once

#include <cstddef>

#include "cpu/bind.h"
#include "cpu/layout.h"

STICTION_PHYSICS_BEGIN

inline constexpr std::size_t kBlockAlignment = 64;

// Returns the bytes of a field in the block of number type S, rounded up to whole cache lines.
template <class S>
inline std::size_t block_bytes(const cpu::FieldSpec& f) {
  const std::size_t one = f.type == FieldType::wide   ? sizeof(Wide<S>)
                          : f.type == FieldType::real ? sizeof(S)
                                                      : sizeof(int);
  const std::size_t bytes = one * static_cast<std::size_t>(f.size());
  return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

STICTION_PHYSICS_END

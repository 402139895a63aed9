// Names, kinds and sizes of the fields, from physics/fields.def, for code that handles all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "physics/views.h"

namespace stiction::cpu {

using physics::Field;
using physics::FieldKind;
using physics::FieldType;
using physics::kFields;

struct FieldSpec {
  const char* name;
  FieldKind kind;
  FieldType type;
  int rows, columns;
  const char *producer, *meaning;

  int size() const { return rows * columns; }  // numbers per environment
};
using FieldSpecs = std::array<FieldSpec, kFields>;

FieldSpecs field_specs(const physics::SizesView& sizes);

constexpr int index(Field f) {
  return static_cast<int>(f);
}

// What nobody wrote: NaN as a float and as a double, and an index beyond every array.
inline constexpr std::uint32_t kUnwritten = 0x7fffffff;

// Whole words.
inline void spoil(void* memory, std::size_t bytes) {
  std::fill_n(static_cast<std::uint32_t*>(memory), bytes / sizeof kUnwritten, kUnwritten);
}

}  // namespace stiction::cpu

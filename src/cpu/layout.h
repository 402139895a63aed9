// Names, kinds and sizes of the fields, from physics/base/fields.def, for code that handles all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "physics/base/views.h"

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

// An entry of physics/base/quantities.def.
struct QuantitySpec {
  const char* name;
  int rows, columns;
  const char* meaning;

  int size() const { return rows * columns; }
};
using QuantitySpecs = std::array<QuantitySpec, physics::kQuantities>;

QuantitySpecs quantity_specs(const physics::SizesView& sizes);

constexpr int index(Field f) {
  return static_cast<int>(f);
}

// A word that marks unwritten memory: NaN in a float and in a double, and as an index beyond every
// array. Tests fill memory with it.
inline constexpr std::uint32_t kUnwritten = 0x7fffffff;

// Fills memory, in whole words.
inline void fill_unwritten(void* memory, std::size_t bytes) {
  std::fill_n(static_cast<std::uint32_t*>(memory), bytes / sizeof kUnwritten, kUnwritten);
}

}  // namespace stiction::cpu

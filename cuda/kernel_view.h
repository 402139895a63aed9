// The view of a kernel for a tile or a block: pointers only to the fields that the kernel uses (view_fields.h), since
// the view lies in shared memory, one for each environment. Use of a field that is missing there does not
// compile. STICTION_KERNEL names the kernel.
#pragma once

#include "cuda/arena.h"
#include "cuda/view_fields.h"

#define STICTION_VIEW_OF(kernel) STICTION_VIEW_OF_(kernel)
#define STICTION_VIEW_OF_(kernel) STICTION_FIELDS_OF_##kernel

STICTION_PHYSICS_BEGIN

struct AllFields {
  using wide = double;
  using real = float;
  using index = int;
#define X(kind, type, name, rows, columns, producer, meaning) type* name;
#include "physics/base/fields.def"
#undef X
};
// clang-format off
template <>
struct EnvView<float> {
#define V(name) decltype(AllFields::name) name;  // NOLINT(bugprone-macro-parentheses)
  STICTION_VIEW_OF(STICTION_KERNEL)(V)
#undef V
};
// clang-format on

STICTION_PHYSICS_END

namespace stiction::cuda {
namespace {

// clang-format off
constexpr ViewFields kView = {
    0
#define V(name) + 1
    STICTION_VIEW_OF(STICTION_KERNEL)(V)
#undef V
    , {
#define V(name) static_cast<std::uint8_t>(physics::Field::name),
    STICTION_VIEW_OF(STICTION_KERNEL)(V)
#undef V
    }};
// clang-format on

// Returns whether the view has all fields that a kernel may place in the arena.
constexpr bool has_arena_fields(Kernel kernel) {
  bool all = true;
  const auto take = [&](physics::Field f, bool, bool, bool) {
    all = all && place_in(kView, static_cast<int>(f)) >= 0;
  };
  ArenaLists(kernel, {true, true, true}, take);
  return all;
}

}  // namespace
}  // namespace stiction::cuda

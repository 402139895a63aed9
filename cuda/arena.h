// Which scratch of a kernel lies in fast memory. Fields that only one kernel touches are taken in
// the order of their lists until the share of the group is used; the rest stays in the
// environment's rows, behind the same pointer.
#pragma once

#include <cstdint>

#include "physics/views.h"

namespace stiction::cuda {

struct ArenaEntry {
  std::int32_t field;
  std::int32_t bytes;  // of the whole field, or of one active point
  bool per_point;
};

inline constexpr int kArenaEntries = 64;
struct Arena {
  std::int32_t bytes;  // share of a group
  std::int32_t count;
  ArenaEntry entry[kArenaEntries];
};

// Fields of the factor's structure that a dense matrix needs no list for, and the factor itself: no
// rows on a device.
constexpr bool unused_on_device(physics::Field f) {
  using physics::Field;
  switch (f) {
    case Field::L:
    case Field::A_placed:
    case Field::row_parent:
    case Field::row_num:
    case Field::run_adr:
    case Field::run_first:
    case Field::run_end:
    case Field::below_adr:
    case Field::below_row:
    case Field::below_place: return true;
    default: return false;
  }
}

}  // namespace stiction::cuda

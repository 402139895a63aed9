// What the warps of a launch executed, in order: what a replay in time (multiprocessor.h) needs of it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace stiction::ptx {

struct Executed {
  int instruction;            // of the module
  std::uint32_t sectors = 0;  // the first of Trace::sectors
  std::uint16_t count = 0;    // of them: of global and local memory
  std::uint16_t waves = 0;    // of shared memory
  static constexpr std::uint32_t kLocal = std::uint32_t{1} << 31;  // of a sector's number
};

struct WarpTrace {
  int block = 0;
  std::vector<Executed> executed;
};

struct Trace {
  std::deque<WarpTrace> warps;         // in the order of their blocks
  std::vector<std::uint32_t> sectors;  // of 32 bytes, each number once per access

  void clear() { warps.clear(), sectors.clear(); }
};

}  // namespace stiction::ptx

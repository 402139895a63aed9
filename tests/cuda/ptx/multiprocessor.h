// A replay in time of what warps executed, on one multiprocessor of an H100: four schedulers, each of which
// issues an instruction of one of its warps per cycle, the oldest that can; the instructions of a warp issue
// in order, each when its operands are there and its unit is free. A block starts when another has left.
//
// What it knows: latencies and throughputs of units (costs.h), the first cache, which all warps of the
// multiprocessor share, this one's share of the second cache and of the bandwidth of both and of memory,
// and a cache of instructions, of 128 KiB as on cards before. What it does not: which registers ptxas
// spills, what it makes predicates of, conflicts between the banks of registers, the smaller caches of
// instructions, how long requests of other multiprocessors are in the way.
#pragma once

#include <array>
#include <list>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cuda/ptx/costs.h"
#include "cuda/ptx/trace.h"

namespace stiction::ptx {

// What a warp does with a cycle in which it is resident.
enum class Spent : std::uint8_t {
  issued,
  arithmetic,  // waits for a result of integers, floats, doubles
  special,     // of a root, a quotient, a conversion
  shuffle,     // of a shuffle or a vote
  shared,      // for what it loads from shared memory
  first_cache,
  second_cache,
  memory,
  unit,     // its unit, or the way to memory, is taken
  slot,     // another warp issues
  branch,   // goes on elsewhere
  fetch,    // for instructions
  barrier,  // for others of its block
  kinds
};
inline constexpr int kSpent = static_cast<int>(Spent::kinds);
inline constexpr std::array<const char*, kSpent> kSpentNames = {
    "issued", "arithmetic", "special", "shuffle", "shared", "first_cache", "second_cache",
    "memory", "unit",       "slot",    "branch",  "fetch",  "barrier"};

// Sectors in lines of 128 bytes, the line that was not used for longest goes first; of each sector, when it is there.
class TimedCache {
 public:
  void resize(std::uint64_t bytes) { lines_most_ = bytes / 128; }
  void clear() { lines_.clear(), find_.clear(); }
  // The cycle at which the sector is there; null: it was not, and is to be fetched; what is to be written
  // back before: `changed` grows.
  double* find(std::uint32_t sector, bool store, int& changed);
  // New launches begin at cycle 0.
  void restart();

 private:
  struct Line {
    std::uint32_t number;
    std::uint8_t there = 0, changed = 0;
    std::array<double, 4> at{};
  };
  std::uint64_t lines_most_ = 0;
  std::list<Line> lines_;
  std::unordered_map<std::uint32_t, std::list<Line>::iterator> find_;
};

struct MultiprocessorWarp {
  const WarpTrace* trace;
  int copy;  // the sectors that only its block touches are others for each copy
};
// Blocks of a launch, the warps of each side by side.
struct Share {
  std::span<const MultiprocessorWarp> warps;
  int warps_of_block;
  const std::unordered_set<std::uint32_t>& own;  // sectors that no two blocks touch
  const std::vector<std::uint32_t>& sectors;     // of the trace
};

struct Timed {
  double cycles = 0;
  std::array<double, kSpent> spent{};  // cycles of warps
  std::array<double, kSpent> last{};   // of the one that leaves last
  double issued = 0;                   // instructions of the machine
  double slots = 0;                    // cycles of schedulers, while any warp is there
};

class Multiprocessor {
 public:
  Multiprocessor(const Latencies& latencies, TimedCache& second) : l_(latencies), second_(second) {}

  // So many blocks are resident at a time. `cycles`, where given: by instruction, of what waited there.
  Timed run(const MachineCode& code, const Share& share, int resident_blocks,
            std::uint64_t first_cache, std::vector<double>* cycles);
  // 128 bytes each, that were fetched in the last run.
  std::size_t lines_of_code() const { return code_lines_.size(); }

 private:
  struct Running;
  struct Access {
    double ready;
    Spent where;
  };
  bool advance(Running& w);
  void issue(Running& w, double now);
  double unit_free(const Running& w) const;
  Access access(const Executed& e, const Instruction& i, double now, int copy);
  std::uint32_t moved(std::uint32_t sector, int copy) const {
    return copy > 0 && share_->own.contains(sector)
               ? sector + static_cast<std::uint32_t>(copy) * kApart
               : sector;
  }
  static constexpr std::uint32_t kApart = 1 << 24;

  const Latencies& l_;
  TimedCache& second_;
  TimedCache first_;
  const MachineCode* code_ = nullptr;
  const Share* share_ = nullptr;
  // Lines of instructions, the one that was not used for longest goes first; when each is there.
  double& line_of_code(std::uint32_t line);
  struct CodeLine {
    std::uint32_t number;
    double at = -1;  // nobody has asked for it
  };
  std::list<CodeLine> fetched_;
  std::unordered_map<std::uint32_t, std::list<CodeLine>::iterator> find_code_;
  std::unordered_set<std::uint32_t> code_lines_;
  struct Scheduler {
    double slot = 0, integer = 0, single = 0, wide = 0, special = 0;  // free from this cycle on
  };
  std::array<Scheduler, 4> schedulers_;
  double way_ = 0, second_way_ = 0, memory_way_ = 0;  // the same of what all share
};

}  // namespace stiction::ptx

// Thirty-two lanes that execute an instruction together where they are at the same one. Lanes that are
// apart run by the deepest call, then by the lowest instruction, until they meet; shuffles, votes and
// barriers wait for the lanes of their masks, as hardware does since Volta.
#pragma once

#include <array>
#include <vector>

#include "cuda/ptx/memory.h"
#include "cuda/ptx/program.h"

namespace stiction::ptx {

class Races;
class Counter;
struct WarpTrace;

// What the warps of a block share.
struct Block {
  const Module* module = nullptr;
  const Function* entry = nullptr;
  Region global, shared, parameters;
  Races* races = nullptr;      // null: not looked for
  Counter* counter = nullptr;  // null: memory is not counted
  unsigned index[2] = {}, threads = 0, blocks = 0;
};

struct Warp {
  enum class Stop { left, at_barrier };

  Warp(const Block& of, int number, std::uint32_t* registers, Lanes* unwritten, std::byte* local,
       Mark* local_marks, std::uint32_t local_bytes, Lanes lanes);

  // Until all lanes have left, or all that have not wait for the block.
  Stop run();
  // The block has met.
  void pass_barrier();

  template <class T>
  T* row(int r) {
    return reinterpret_cast<T*>(registers + static_cast<std::ptrdiff_t>(r) * kLanes);
  }
  std::uint64_t address(const Instruction& i, int lane) {
    return i.offset + (i.wide_address ? row<std::uint64_t>(i.from[0])[lane]
                                      : row<std::uint32_t>(i.from[0])[lane]);
  }
  // Lanes whose value in a register depends on memory that nobody wrote; those that i takes part with.
  Lanes unwritten_in(int r) const { return r < 0 ? 0 : unwritten[r]; }
  void depends(int r, Lanes on) { unwritten[r] = (unwritten[r] & ~active) | (on & active); }

  // Where a lane's address points, and how far into that region. Null: nowhere.
  const Region* region(std::uint64_t address, int lane, std::uint64_t& at) const {
    switch (static_cast<Space>(address >> kSpaceBit)) {
      case Space::global:
        at = address - reinterpret_cast<std::uint64_t>(block->global.data);
        return &block->global;
      case Space::shared: at = address - window(Space::shared); return &block->shared;
      case Space::local: at = address - window(Space::local); return &local[lane];
      case Space::param: at = address - window(Space::param); return &block->parameters;
      case Space::generic: break;
    }
    return nullptr;
  }

  [[noreturn]] void fail(const Instruction& i, int lane, const std::string& what) const;

  const Block* block;
  int number;
  std::uint32_t* registers;
  Lanes* unwritten;  // of each row
  Lanes active = 0;  // of the instruction that is executed
  std::array<Region, kLanes> local;
  std::uint64_t instructions = 0, lane_instructions = 0;
  std::uint64_t splits = 0;  // branches that some lanes take and some don't

 private:
  // Lanes at one place; those that wait have arrived at a barrier.
  struct Group {
    int depth, pc;
    Lanes lanes;
    bool waits;
  };
  void run_group();
  bool next_group();
  void go(int depth, int pc, Lanes lanes);
  bool synchronize(const Instruction& i, Lanes& lanes);
  Lanes members(const Instruction& i, int lane);
  void leave(Lanes leaving);
  void call(const Instruction& i);
  void copy_local(const std::vector<Copy>& list, Lanes lanes) const;
  [[noreturn]] void fail_apart() const;

  const std::vector<Instruction>& code_;
  std::uint64_t* executed_ = nullptr;  // of the counter, by instruction
  WarpTrace* trace_ = nullptr;         // of the counter, where it keeps one
  std::vector<Group> groups_;
  Group now_{};
  int limit_ = 0;  // of now_: where the next group is
  Lanes alive_;
  std::vector<std::array<int, kLanes>> callers_;  // by depth, of each lane: the call
};

}  // namespace stiction::ptx

// Two lanes at one word, one of them writes, and no barrier between: whoever comes first decides. In a
// warp bar.warp.sync orders the lanes of its mask, in a block bar.sync all; between blocks nothing does.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cuda/ptx/warp.h"

namespace stiction::ptx {

// Of a launch whose blocks run one after another.
class Races {
 public:
  void begin_block(int warps);
  void pass_barrier() { ++epoch_; }
  // The active lanes have met, each with those of its mask.
  void meet(const Warp& w, const Lanes* masks);
  // `changes`: of a store, whether another number is there afterwards.
  void access(const Warp& w, const Instruction& i, int lane, std::uint64_t address, int bytes,
              bool store, bool changes);

 private:
  // When: the block, its barriers so far and the warp's.
  struct Time {
    int block = -1, warp = -1, epoch = 0, meetings = 0;
  };
  struct Word {
    Time written, read;
    int writer = 0, write_line = 0, read_line = 0;
    Lanes readers = 0;
    bool many = false;  // lanes of several warps have read it since the block's last barrier
  };
  // Of a warp: meetings so far, the last one of all lanes, and of each two.
  struct Meetings {
    int now = 0, all = 0;
    std::array<std::array<int, kLanes>, kLanes> of{};
  };

  bool ordered(const Time& before, int lane_before, const Warp& w, int lane) const;
  void touch(const Warp& w, const Instruction& i, int lane, Word& word, bool store, bool changes);
  [[noreturn]] void fail(const Warp& w, const Instruction& i, int lane, bool store,
                         const Time& other, int other_lane, int line, bool wrote) const;

  int block_ = -1, epoch_ = 0;
  std::vector<Meetings> warps_;
  std::unordered_map<std::uint64_t, Word> words_;
};

}  // namespace stiction::ptx

// What a kernel's accesses to memory cost: sectors of 32 bytes, waves of shared memory, and two caches.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "cuda/ptx/trace.h"
#include "cuda/ptx/warp.h"

namespace stiction::ptx {

struct Counts {
  std::uint64_t launches = 0, warp_instructions = 0, lane_instructions = 0, divergent = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, local_requests = 0, local_sectors = 0;
  std::uint64_t shared_requests = 0, shared_waves = 0;
  // sectors between the first cache and the second one, and between that and the card's memory
  std::uint64_t l2_sectors = 0, hbm_sectors = 0;
};

// Lines of 128 bytes with four sectors each; the line that was not used for longest goes first.
class Cache {
 public:
  void resize(std::uint64_t bytes) { lines_most_ = bytes / 128; }
  void clear();
  struct Sectors {
    std::uint64_t fetched = 0, written = 0;
  };
  // Fetches what is not there. keeps: a store stays until its line goes; else it is written at once.
  void touch(std::uint64_t sector, bool store, bool keeps, Sectors& moved);

 private:
  struct Line {
    std::uint64_t number;
    std::uint8_t there, changed;
  };
  std::uint64_t lines_most_ = 0;
  std::list<Line> lines_;
  std::unordered_map<std::uint64_t, std::list<Line>::iterator> find_;
};

// The accesses of a launch; the second cache lasts from one to the next.
class Counter {
 public:
  // Bytes of the first cache for the block that runs, and of the second one for all environments
  // that there are.
  void resize(std::uint64_t first, std::uint64_t second) {
    first_.resize(first), second_.resize(second);
  }
  void begin_block() { first_.clear(); }
  // By instruction of a module, how many warps have executed it.
  std::vector<std::uint64_t>& executed(const Module& m) {
    std::vector<std::uint64_t>& times = executed_[&m];
    times.resize(m.code().size());
    return times;
  }
  const auto& executed() const { return executed_; }
  void clear_executed() { executed_.clear(); }
  void access(Warp& w, const Instruction& i, int bytes, bool store);
  Counts counts;

  // What warps execute is kept here, where it is given, instruction by instruction.
  Trace* trace = nullptr;
  WarpTrace* trace_warp(unsigned block) {
    if (trace == nullptr) return nullptr;
    return &trace->warps.emplace_back(WarpTrace{static_cast<int>(block), {}});
  }
  // The next access is that of this instruction.
  void trace_access_of(Executed& e) { tracing_ = &e; }

 private:
  void shared(const std::uint64_t* address, int n, int bytes);
  void cached(std::vector<std::uint64_t>& sectors, bool store);

  Cache first_, second_;
  std::vector<std::uint64_t> sectors_;
  Executed* tracing_ = nullptr;
  std::map<const Module*, std::vector<std::uint64_t>> executed_;
};

}  // namespace stiction::ptx

// How long an H100 would take for the kernels of many environments, of which a few were executed: the
// blocks that a multiprocessor has as its share are replayed on one (multiprocessor.h).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cuda/ptx/card.h"
#include "cuda/ptx/multiprocessor.h"

namespace stiction::ptx {

class KernelTimes {
 public:
  // Of what executed environments stand for all.
  KernelTimes(const Latencies& latencies, int executed, int all)
      : latencies_(latencies), executed_(executed), all_(all) {}

  struct Kernel {
    int launches = 0;
    double us = 0, us_most = 0;  // of all launches; of the slowest multiprocessor
    Timed timed;  // of multiprocessors, and of the slowest one the warp that leaves last
    double slowest = 0;
    int multiprocessors = 0;
    double code = 0;  // bytes that were executed, of the last launch
    std::map<const Module*, std::vector<double>> cycles;  // by instruction
  };
  void add(const Launching& how, const Module& module, const Function& entry,
           const LaunchSize& size, const Trace& trace, bool counts);
  const std::map<std::string, Kernel>& kernels() const { return kernels_; }

 private:
  Latencies latencies_;
  int executed_, all_;
  std::map<const Function*, std::unique_ptr<MachineCode>> codes_;
  std::map<int, TimedCache> second_;  // of each multiprocessor
  std::map<std::string, Kernel> kernels_;
};

// The first cache of a multiprocessor, whose blocks have so much shared memory.
std::uint64_t first_cache(std::size_t shared);
inline constexpr std::uint64_t kSecondCache = 50 << 20;

}  // namespace stiction::ptx

// Measures the time of each kernel with CUDA events before and after it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/arena.h"
#include "cuda/memory.h"

namespace stiction::cuda {

class KernelClock {
 public:
  struct Time {
    std::uint64_t launches = 0;
    double seconds = 0;
  };

  void before(Kernel kernel, cudaStream_t stream) {
    if (used_ == kMost) collect();
    if (used_ == laps_.size()) laps_.emplace_back();
    laps_[used_].kernel = kernel;
    record(laps_[used_].begin, stream);
  }
  void after(cudaStream_t stream) { record(laps_[used_++].end, stream); }

  // Returns the total of all launches so far; waits for them.
  const Time& time(Kernel kernel) {
    collect();
    return times_[static_cast<std::size_t>(kernel)];
  }

 private:
  static constexpr std::size_t kMost = 4096;  // measurements before they are summed
  struct Lap {
    Kernel kernel{};
    Event begin = timed_event(), end = timed_event();
  };
  static Event timed_event() {
    cudaEvent_t e = nullptr;
    check(cudaEventCreate(&e), "making an event");
    return Event(e);
  }
  static void record(const Event& e, cudaStream_t stream) {
    check(cudaEventRecord(e.get(), stream), "recording an event");
  }
  void collect() {
    for (; used_ > 0; --used_) {
      const Lap& lap = laps_[used_ - 1];
      float ms = 0;
      check(cudaEventSynchronize(lap.end.get()), "waiting for a kernel");
      check(cudaEventElapsedTime(&ms, lap.begin.get(), lap.end.get()), "timing a kernel");
      Time& t = times_[static_cast<std::size_t>(lap.kernel)];
      ++t.launches, t.seconds += 1e-3 * static_cast<double>(ms);
    }
  }

  std::vector<Lap> laps_;
  std::size_t used_ = 0;
  std::array<Time, kKernels> times_{};
};

}  // namespace stiction::cuda

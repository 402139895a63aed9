// Local memory: the stack and the register spills of a kernel. The driver reserves it for as many threads as can
// be resident on the GPU, once for the kernel that needs most, at its first launch.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace stiction::cuda {

// Upper bound on what a thread gets beyond its need.
inline constexpr std::size_t kLocalRounding = 512;

constexpr std::size_t local_memory(int bytes_per_thread, int threads_per_multiprocessor,
                                   int multiprocessors) {
  if (bytes_per_thread <= 0) return 0;
  return (static_cast<std::size_t>(bytes_per_thread) + kLocalRounding) *
         static_cast<std::size_t>(threads_per_multiprocessor) *
         static_cast<std::size_t>(multiprocessors);
}

// Local memory that this process has reserved on each device: it is never returned.
class LocalMemory {
 public:
  // require(more) throws unless this much more than the process has is available.
  template <class F>
  void take(int device, std::size_t bytes, const F& require) {
    const std::lock_guard lock(mutex_);
    std::size_t& taken = taken_[device];
    if (bytes <= taken) return require(std::size_t{0});
    require(bytes - taken);
    taken = bytes;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::size_t> taken_;
};

inline std::string megabytes(std::size_t bytes) {
  return std::to_string((bytes + 999999) / 1000000) + " MB";
}

// Returns why `bytes` in addition to `local` of local memory are not available; "": they are.
inline std::string why_no_room(std::size_t bytes, std::size_t local, std::size_t free,
                               std::size_t total) {
  if (bytes + local <= free) return "";
  const std::string stacks = local > 0 ? " and " + megabytes(local) + " of local memory" : "";
  return "needs " + megabytes(bytes) + stacks + ", " + megabytes(free) + " of " + megabytes(total) +
         " are free; reduce num_envs";
}

}  // namespace stiction::cuda

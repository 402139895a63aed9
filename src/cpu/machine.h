// Resources that this process may use: processors and memory, within the limits of the control
// groups that it belongs to (containers, systemd, batch systems).
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace stiction::cpu {

// The smallest limits over the process's cgroup and its ancestors, version 1 or 2.
struct GroupLimits {
  double processors = std::numeric_limits<double>::infinity();  // processor seconds per second
  // Bytes; `memory_left` is what may still be allocated, not counting the kernel's file cache.
  std::size_t memory = std::numeric_limits<std::size_t>::max();
  std::size_t memory_left = std::numeric_limits<std::size_t>::max();
};
// `root` is prepended to /proc and all paths that it names: for tests.
GroupLimits group_limits(const std::string& root = "");

// Returns the number of processors that this process may use: those of its affinity, and no more than the
// time quota of its groups, rounded up. At least 1.
int available_processors();
int processors_within(int affinity, double quota);

std::size_t physical_memory();  // 0: unknown

}  // namespace stiction::cpu

// What this process may use of the machine: processors and memory, within the limits of the control
// groups that it is in (containers, systemd, batch systems).
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace stiction::cpu {

// The smallest limits of the process's control groups and all groups around them, version 1 or 2.
struct GroupLimits {
  double processors = std::numeric_limits<double>::infinity();  // processor time in a second
  // Bytes; `memory_left` is what may still be taken, files that the kernel keeps in memory not counted.
  std::size_t memory = std::numeric_limits<std::size_t>::max();
  std::size_t memory_left = std::numeric_limits<std::size_t>::max();
};
// `root` stands before /proc and all that it names: for tests.
GroupLimits group_limits(const std::string& root = "");

// Number of processors that this process may use: those of its affinity, and no more than its groups'
// quota of time, rounded up. At least 1.
int available_processors();
int processors_within(int affinity, double quota);

std::size_t physical_memory();  // 0: unknown

}  // namespace stiction::cpu

// Environment variables for measurements on a GPU, read when a batch is made.
#pragma once

#include <cstdlib>
#include <string>

#include "cuda/launch.h"
#include "stiction/error.h"

namespace stiction::cuda {

// The group of threads that works on an environment: one, a tile of 4, 8, 16 or 32, or a block; chosen:
// group_of decides.
enum class Group { chosen, thread, tile4, tile8, tile16, warp, block };
// What STICTION_CUDA_GROUP calls them.
struct GroupName {
  const char* name;
  Group group;
  int lanes;
};
inline constexpr GroupName kGroups[] = {{"thread", Group::thread, 1}, {"4", Group::tile4, 4},
                                        {"8", Group::tile8, 8},       {"16", Group::tile16, 16},
                                        {"warp", Group::warp, 32},    {"block", Group::block, 128}};
constexpr int lanes_of(Group group) {
  for (const GroupName& g : kGroups)
    if (g.group == group) return g.lanes;
  return 0;
}

// Small models leave lanes of a large tile idle, and a large model needs more of the caches than many of it
// find there. Few environments get more lanes, as long as all of them are resident at a time.
inline constexpr int kResidentWarps = 2640;  // of an H100, at 96 registers
constexpr Group group_of(const physics::SizesView& m, Group wanted, int num_envs) {
  if (wanted != Group::chosen) return wanted;
  if (fits_thread(m)) return Group::thread;
  if (m.nv > kMostTileOrder) return Group::block;
  const auto resident = [&](int tiles_of_warp) {
    return num_envs <= kResidentWarps * tiles_of_warp;
  };
  if (resident(1)) return Group::warp;
  return m.nv <= 16 && !resident(2) ? Group::tile8 : Group::tile16;
}

struct Switches {
  Group group;         // STICTION_CUDA_GROUP
  bool graphs;         // STICTION_CUDA_GRAPHS, 1
  bool times;          // STICTION_CUDA_TIMES, 0: events around each kernel, which rules out graphs
  int arena_percent;   // STICTION_CUDA_ARENA: of the shared memory that registers leave
  int collide_blocks;  // STICTION_CUDA_COLLIDE_BLOCKS: per multiprocessor, by registers; 0: as tuned
  int solve_blocks;    // STICTION_CUDA_SOLVE_BLOCKS: the same of `solve` by a warp
};

// Shared memory and first cache are one: of the 228 KiB of an H100 71 % fit into the step of 164, which
// leaves 92 KiB to the cache; a little more takes the step of 196.
inline constexpr int kArenaPercent = 71;

// Throws ArgumentError on anything but a whole number from low to high.
inline int switch_value(const char* name, int otherwise, int low, int high) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < low || value > high)
    throw ArgumentError(std::string(name) + " = '" + text + "': must be a whole number, " +
                        std::to_string(low) + " to " + std::to_string(high));
  return static_cast<int>(value);
}

inline Group group_switch() {
  const char* const text = std::getenv("STICTION_CUDA_GROUP");
  const std::string name = text == nullptr ? "" : text;
  if (name.empty()) return Group::chosen;
  for (const GroupName& g : kGroups)
    if (name == g.name) return g.group;
  throw ArgumentError("STICTION_CUDA_GROUP = '" + name +
                      "': must be thread, 4, 8, 16, warp or block");
}

inline Switches read_switches() {
  Switches s{};
  s.group = group_switch();
  s.times = switch_value("STICTION_CUDA_TIMES", 0, 0, 1) != 0;
  s.graphs = switch_value("STICTION_CUDA_GRAPHS", 1, 0, 1) != 0 && !s.times;
  s.arena_percent = switch_value("STICTION_CUDA_ARENA", kArenaPercent, 0, 100);
  s.solve_blocks = switch_value("STICTION_CUDA_SOLVE_BLOCKS", 0, 0, 16);
  s.collide_blocks = switch_value("STICTION_CUDA_COLLIDE_BLOCKS", 0, 0, 16);
  return s;
}

}  // namespace stiction::cuda

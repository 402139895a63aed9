// Environment variables for measurements on a GPU, read when a batch is constructed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/arena.h"
#include "cuda/group_team.h"
#include "cuda/launch.h"
#include "stiction/error.h"

namespace stiction::cuda {

// The group of threads that works on an environment: one, a tile of 4, 8, 16 or 32, or a block; chosen:
// decided by group_of.
enum class Group { chosen, thread, tile4, tile8, tile16, warp, block };
// Their names in STICTION_CUDA_GROUP.
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

// Steps and refresh may use different groups; a block is used by `solve` only.
inline constexpr int kGroupedKernels = 5;
static_assert(static_cast<int>(Kernel::refresh) + 1 == kGroupedKernels);
struct Groups {
  Group of[kGroupedKernels];
  // With a library's rounds all kernels use warps.
  constexpr Group operator[](Kernel k) const {
    return static_cast<int>(k) < kGroupedKernels ? of[static_cast<int>(k)] : Group::warp;
  }
  constexpr bool thread() const { return (*this)[Kernel::solve] == Group::thread; }
};
constexpr Groups all_in(Group g) {
  return {{g, g, g, g, g}};
}

// Returns the warps of a kernel resident on an H100, limited by registers.
constexpr int resident_warps(const physics::SizesView& m, Kernel k) {
  constexpr int kMultiprocessors = 132;
  if (k != Kernel::refresh) return kMultiprocessors * kStepWarps;
  return kMultiprocessors * (physics::drives_of(m) > physics::Drives::plain ? 8 : 20);
}

// A warp waits for each of its instructions, so a kernel takes as long as its chain of instructions: more lanes shorten
// it as long as all warps are resident. With four lanes a step executes 15 to 38 % less than with eight, but
// its chain is a quarter to two thirds longer, and the views of 128 environments leave no room in the L1 cache.
constexpr Group group_of(const physics::SizesView& m, Kernel k, Group wanted, int num_envs) {
  if (wanted == Group::chosen && fits_thread(m)) return Group::thread;
  if (wanted == Group::block || (wanted == Group::chosen && m.nv > kMostTileOrder))
    return k == Kernel::solve ? Group::block : Group::warp;
  if (wanted != Group::chosen) return wanted;
  const int warps = resident_warps(m, k);
  return num_envs <= warps ? Group::warp : num_envs <= 2 * warps ? Group::tile16 : Group::tile8;
}
constexpr Groups groups_of(const physics::ModelView& m, const Groups& wanted, int num_envs) {
  Groups found = wanted;
  for (int k = 0; k < kGroupedKernels; ++k)
    found.of[k] = group_of(m, static_cast<Kernel>(k), wanted.of[k], num_envs);
  return found;
}

// Returns the warps per block of `step`: as many as registers allow on a multiprocessor, or, if the environments do not
// fill the GPU, an even share.
constexpr int step_warps_of(int lanes, int num_envs, int multiprocessors) {
  const int per_warp = physics::kWarp / lanes, all = (num_envs + per_warp - 1) / per_warp;
  return std::min(kStepWarps, (all + multiprocessors - 1) / multiprocessors);
}

struct Switches {
  Groups groups;  // STICTION_CUDA_GROUP
  bool graphs;    // STICTION_CUDA_GRAPHS, 1
  bool times;  // STICTION_CUDA_TIMES, 0: events around each kernel; disables graphs and whole steps
  int arena_percent;  // STICTION_CUDA_ARENA: % of shared memory for resident blocks
  bool step;          // STICTION_CUDA_STEP, 1: all kernels of the steps in one launch
  int step_warps;     // STICTION_CUDA_STEP_WARPS: warps per block of `step`; 0: automatic
  int barriers;       // STICTION_CUDA_BARRIERS: bit k, barrier after kernel k of `step`
};

// Shared memory and L1 cache share one memory: of the 228 KiB of an H100 71 % fit into a carve-out of 164, which
// leaves 92 KiB to the cache; slightly more takes a carve-out of 196.
inline constexpr int kArenaPercent = 71;

inline constexpr int kAllBarriers = (1 << kStepKernels) - 1;

// Throws ArgumentError unless the variable is an integer from low to high.
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

// One group for all kernels, or two tiles separated by a comma: for the kernels of a step, for refresh.
inline Groups group_switch() {
  const char* const text = std::getenv("STICTION_CUDA_GROUP");
  const std::string names = text == nullptr ? "" : text;
  if (names.empty()) return all_in(Group::chosen);
  std::istringstream parts(names);
  std::vector<Group> groups;
  for (std::string name; std::getline(parts, name, ',');)
    for (const GroupName& g : kGroups)
      if (name == g.name) groups.push_back(g.group);
  const auto commas = static_cast<std::size_t>(std::count(names.begin(), names.end(), ','));
  const bool tiles = std::all_of(groups.begin(), groups.end(),
                                 [](Group g) { return g != Group::thread && g != Group::block; });
  if (groups.size() != commas + 1 || commas > 1 || (commas == 1 && !tiles))
    throw ArgumentError("STICTION_CUDA_GROUP = '" + names +
                        "': must be thread, 4, 8, 16, warp or block, or two tiles, as 8,warp");
  Groups each = all_in(groups.front());
  each.of[static_cast<int>(Kernel::refresh)] = groups.back();
  return each;
}

inline Switches read_switches() {
  Switches s{};
  s.groups = group_switch();
  s.times = switch_value("STICTION_CUDA_TIMES", 0, 0, 1) != 0;
  s.graphs = switch_value("STICTION_CUDA_GRAPHS", 1, 0, 1) != 0 && !s.times;
  s.arena_percent = switch_value("STICTION_CUDA_ARENA", kArenaPercent, 0, 100);
  s.step = switch_value("STICTION_CUDA_STEP", 1, 0, 1) != 0 && !s.times;
  s.step_warps = switch_value("STICTION_CUDA_STEP_WARPS", 0, 0, 16);
  s.barriers = switch_value("STICTION_CUDA_BARRIERS", kAllBarriers, 0, kAllBarriers);
  return s;
}

}  // namespace stiction::cuda

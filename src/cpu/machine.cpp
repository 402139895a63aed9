#include "cpu/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

namespace stiction::cpu {
namespace {

namespace fs = std::filesystem;

// A mounted cgroup hierarchy: its group `root` is mounted at the folder `at`.
struct Mount {
  std::string root, at;
  bool unified;             // version 2
  std::string controllers;  // version 1: "rw,cpu,cpuacct"
};

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string w; std::getline(words, w, ',');)
    if (w == word) return true;
  return false;
}

// Lines of mountinfo: id, parent, device, root, mount point, options, ..., "-", type, source, options.
std::vector<Mount> mounts(const std::string& root) {
  std::vector<Mount> found;
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line), back(line.substr(dash + 3));
    std::string id, parent, device, type, source, options;
    Mount m;
    front >> id >> parent >> device >> m.root >> m.at;
    back >> type >> source >> options;
    if (!front || !back || (type != "cgroup" && type != "cgroup2")) continue;
    m.unified = type == "cgroup2";
    m.controllers = options;
    found.push_back(m);
  }
  return found;
}

// Returns the folders of the process's cgroup of a controller and of all its ancestors, innermost first.
std::vector<std::string> groups(const std::string& root, const std::vector<Mount>& mounts,
                                const std::string& controller, bool unified) {
  std::string path;  // of the group within its hierarchy
  bool in_one = false;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; !in_one && std::getline(in, line);) {  // "4:cpu,cpuacct:/path", "0::/path"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    in_one = unified ? names.empty() : has_word(names, controller);
    if (in_one) path = line.substr(second + 1);
  }
  if (!in_one) return {};
  for (const Mount& m : mounts) {
    if (m.unified != unified || (!unified && !has_word(m.controllers, controller))) continue;
    // groups above the mounted one are invisible: in a container often all of them
    const bool below = m.root != "/" && path.rfind(m.root, 0) == 0 &&
                       (path.size() == m.root.size() || path[m.root.size()] == '/');
    // a group outside of a container's view of the hierarchy is "/../..."
    const bool outside = path.find("/..") != std::string::npos;
    const fs::path inner = outside ? "" : below ? path.substr(m.root.size()) : path;
    std::vector<std::string> folders;
    for (fs::path p = inner.relative_path(); !p.empty(); p = p.parent_path())
      if (std::error_code no; fs::is_directory(root + m.at + "/" + p.string(), no))
        folders.push_back(root + m.at + "/" + p.string());
    folders.push_back(root + m.at);
    return folders;
  }
  return {};
}

// Returns the first number of a file; nothing if there is no such file or it says "max".
std::optional<double> number(const std::string& path, double* second = nullptr) {
  std::ifstream in(path);
  double x = 0, y = 0;
  if (!(in >> x)) return std::nullopt;
  if (second != nullptr && in >> y) *second = y;
  return x;
}

// Returns a value from lines "name number".
double stat(const std::string& path, const std::string& name) {
  std::ifstream in(path);
  std::string key;
  for (double x = 0; in >> key >> x;)
    if (key == name) return x;
  return 0;
}

std::size_t bytes(double x) {
  return x >= static_cast<double>(std::numeric_limits<std::int64_t>::max())
             ? std::numeric_limits<std::size_t>::max()
             : static_cast<std::size_t>(std::max(0.0, x));
}

void limit_memory(GroupLimits& limits, const std::string& group, bool unified) {
  const auto most = number(group + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
  // version 1 expresses no limit as a number of pages beyond all memory
  if (!most || *most >= 0x1p60) return;
  const double used =
      number(group + (unified ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0);
  const std::string total = unified ? "" : "total_", file = group + "/memory.stat";
  const double cache = stat(file, total + "inactive_file") + stat(file, total + "active_file");
  limits.memory = std::min(limits.memory, bytes(*most));
  limits.memory_left = std::min(limits.memory_left, bytes(*most - std::max(0.0, used - cache)));
}

void limit_processors(GroupLimits& limits, const std::string& group, bool unified) {
  double period = 0;
  std::optional<double> quota;
  if (unified) {
    quota = number(group + "/cpu.max", &period);
  } else {
    quota = number(group + "/cpu.cfs_quota_us");  // -1: none
    period = number(group + "/cpu.cfs_period_us").value_or(0);
  }
  if (quota && *quota > 0 && period > 0)
    limits.processors = std::min(limits.processors, *quota / period);
}

int processors_of_affinity() {
  // at least as large as the kernel's set, which may exceed the 1024 of cpu_set_t
  for (std::size_t most = CPU_SETSIZE; most <= (std::size_t{1} << 20); most *= 2) {
    cpu_set_t* const set = CPU_ALLOC(most);
    if (set == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(most);
    const int failed = sched_getaffinity(0, size, set);
    const int count = failed == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

GroupLimits group_limits(const std::string& root) {
  GroupLimits limits;
  const std::vector<Mount> all = mounts(root);
  for (const bool unified : {true, false}) {
    for (const std::string& group : groups(root, all, "memory", unified))
      limit_memory(limits, group, unified);
    for (const std::string& group : groups(root, all, "cpu", unified))
      limit_processors(limits, group, unified);
  }
  return limits;
}

int processors_within(int affinity, double quota) {
  return std::max(1, static_cast<int>(std::min<double>(affinity, std::ceil(quota))));
}

int available_processors() {
  return processors_within(processors_of_affinity(), group_limits().processors);
}

std::size_t physical_memory() {
  const auto pages = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  return pages * static_cast<std::size_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
}

}  // namespace stiction::cpu

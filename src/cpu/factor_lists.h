// The entries of the factor in the order in which many threads make them: lists of cuda/linear_algebra.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "physics/structure.h"

namespace stiction::cpu {

struct FactorLists {
  std::vector<int> last, level_adr, entry;
};

// Of an elimination tree. A row is in the first level in which all rows up to its last one are done: those between
// that lack its column, where dofs of two branches are linked, are read with a weight of zero.
inline FactorLists factor_lists(const std::vector<int>& parent) {
  const std::size_t n = parent.size();
  FactorLists lists;
  std::vector<int> level(n, 0);
  for (std::size_t i = 0; i < n; ++i) lists.last.push_back(static_cast<int>(i));
  for (std::size_t i = n; i-- > 0;) {
    if (parent[i] < 0) continue;
    const auto p = static_cast<std::size_t>(parent[i]);
    lists.last[p] = std::max(lists.last[p], lists.last[i]);
  }
  for (std::size_t i = n; i-- > 0;)
    for (auto k = static_cast<std::size_t>(lists.last[i]); k > i; --k)
      level[i] = std::max(level[i], level[k] + 1);
  const int levels = n == 0 ? 0 : *std::max_element(level.begin(), level.end()) + 1;
  lists.level_adr.push_back(0);
  for (int l = 0; l < levels; ++l) {
    for (std::size_t i = 0; i < n; ++i) {
      if (level[i] != l) continue;
      for (int j = static_cast<int>(i); j >= 0; j = parent[static_cast<std::size_t>(j)])
        lists.entry.push_back(physics::pack_entry({static_cast<int>(i), j, lists.last[i]}));
    }
    lists.level_adr.push_back(static_cast<int>(lists.entry.size()));
  }
  return lists;
}

}  // namespace stiction::cpu

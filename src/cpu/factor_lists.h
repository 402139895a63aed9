// The panels of the factor in the order in which many threads compute them: lists for cuda/linear_algebra.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "physics/solver/structure.h"

namespace stiction::cpu {

struct FactorLists {
  std::vector<int> last, level_adr, panel;
};

// Lists for an elimination tree. Rows are in the first level at which all rows down to their last one are done. Rows in
// between that lack one of their columns, where dofs of two branches are linked, are read with weight zero.
inline FactorLists factor_lists(const std::vector<int>& parent) {
  const auto n = static_cast<int>(parent.size());
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  FactorLists lists;
  std::vector<int>& last = lists.last;
  for (int i = 0; i < n; ++i) last.push_back(i);
  for (int i = n - 1; i >= 0; --i)
    if (const int p = parent[at(i)]; p >= 0) last[at(p)] = std::max(last[at(p)], last[at(i)]);

  struct Rows {
    int first, count, level;
  };
  std::vector<Rows> blocks;
  for (int i = 0; i < n; i += blocks.back().count)
    blocks.push_back({i, physics::panel_rows(last.data(), i), 0});
  int levels = 0;
  for (std::size_t k = blocks.size(); k-- > 0;) {
    Rows& rows = blocks[k];
    for (std::size_t below = k + 1; below < blocks.size(); ++below)
      if (blocks[below].first <= last[at(rows.first)])
        rows.level = std::max(rows.level, blocks[below].level + 1);
    levels = std::max(levels, rows.level + 1);
  }
  std::vector<int> packed = last;
  for (const Rows& rows : blocks)
    packed[at(rows.first)] = physics::pack_last(last[at(rows.first)], rows.count);
  lists.level_adr.push_back(0);
  for (int l = 0; l < levels; ++l) {
    for (const Rows& rows : blocks) {
      if (rows.level != l) continue;
      for (int j = rows.first; j >= 0; j = parent[at(j)])
        lists.panel.push_back(
            physics::pack_panel({rows.first, rows.count, j, last[at(rows.first)]}));
    }
    lists.level_adr.push_back(static_cast<int>(lists.panel.size()));
  }
  last = packed;
  return lists;
}

}  // namespace stiction::cpu

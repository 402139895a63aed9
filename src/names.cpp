#include "names.h"

#include <algorithm>
#include <numeric>

#include "stiction/text.h"

namespace stiction {
namespace {

// Levenshtein distance: least number of inserted, removed and replaced characters.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_names(const std::vector<std::string>& names, const std::string& wanted) {
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& name : names)
    if (!name.empty()) ranked.emplace_back(edit_distance(name, wanted), &name);
  if (ranked.empty()) return "";

  const auto count = std::min<std::size_t>(3, ranked.size());
  const auto closer = [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first < y.first : *x.second < *y.second;
  };
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end(), closer);
  std::string text = "; nearest: ";
  for (std::size_t i = 0; i < count; ++i)
    text += (i > 0 ? ", '" : "'") + visible(*ranked[i].second) + "'";
  return text;
}

}  // namespace stiction

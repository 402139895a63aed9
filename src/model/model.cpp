#include "stiction/model.h"

#include <algorithm>
#include <numeric>

#include "stiction/error.h"

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

// "; nearest: 'a', 'b', 'c'", at most three.
std::string nearest(const Names& names, const std::string& wanted) {
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& name : names)
    if (!name.empty()) ranked.emplace_back(edit_distance(name, wanted), &name);
  if (ranked.empty()) return "; the model names none";

  const auto count = std::min<std::size_t>(3, ranked.size());
  const auto closer = [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first < y.first : *x.second < *y.second;
  };
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end(), closer);
  std::string text = "; nearest: ";
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? ", '" : "'") + *ranked[i].second + "'";
  return text;
}

int find(const char* kind, const Names& names, const std::string& wanted) {
  const auto it = wanted.empty() ? names.end() : std::find(names.begin(), names.end(), wanted);
  if (it != names.end()) return static_cast<int>(it - names.begin());
  throw ArgumentError(std::string("no ") + kind + " named '" + wanted + "'" +
                      nearest(names, wanted));
}

}  // namespace

int Model::body(const std::string& n) const {
  return find("body", body_names, n);
}
int Model::joint(const std::string& n) const {
  return find("joint", jnt_names, n);
}
int Model::geom(const std::string& n) const {
  return find("geom", geom_names, n);
}
int Model::site(const std::string& n) const {
  return find("site", site_names, n);
}
int Model::actuator(const std::string& n) const {
  return find("actuator", actuator_names, n);
}
int Model::sensor(const std::string& n) const {
  return find("sensor", sensor_names, n);
}
int Model::key(const std::string& n) const {
  return find("key", key_names, n);
}

}  // namespace stiction

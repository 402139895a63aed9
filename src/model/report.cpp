#include <algorithm>
#include <array>
#include <map>

#include "stiction/load.h"
#include "stiction/text.h"

namespace stiction {
namespace {

const char* word(Use use) {
  switch (use) {
    case Use::used: return "used";
    case Use::mapped: return "mapped";
    case Use::ignored: return "ignored";
    case Use::refused: return "refused";
  }
  return "?";
}

std::string what(const ReportEntry& e) {
  std::string s = "<" + e.element;
  if (!e.attribute.empty()) s += " " + e.attribute + "=\"" + e.value + "\"";
  return s + ">";
}

// Entries that differ only in the line number form one row with a count.
struct Group {
  const ReportEntry* first;
  int count;
};

std::vector<Group> grouped(const std::vector<ReportEntry>& entries, bool all) {
  std::vector<Group> groups;
  for (const auto& e : entries) {
    if (e.use == Use::used && !all) continue;
    const auto same = [&](const Group& g) {
      return g.first->use == e.use && g.first->physics == e.physics && g.first->file == e.file &&
             g.first->element == e.element && g.first->attribute == e.attribute &&
             g.first->value == e.value && g.first->note == e.note;
    };
    const auto it = all ? groups.end() : std::find_if(groups.begin(), groups.end(), same);
    if (it != groups.end())
      ++it->count;
    else
      groups.push_back({&e, 1});
  }
  return groups;
}

// "no collider: 6 pairs box-box: 'a' and 'b', ..."; with `all` every pair by name.
std::vector<std::string> pair_lines(const std::vector<LoadReport::MissingCollider>& pairs,
                                    bool all) {
  constexpr int kShown = 3;
  std::vector<std::string> lines;
  std::map<std::string, std::vector<const LoadReport::MissingCollider*>> by_types;
  for (const auto& p : pairs) by_types[p.type1 + "-" + p.type2].push_back(&p);
  for (const auto& [types, group] : by_types) {
    const int n = static_cast<int>(group.size());
    std::string line =
        "no collider: " + std::to_string(n) + (n == 1 ? " pair " : " pairs ") + types + ": ";
    int shown = 0;
    for (const auto* p : group) {
      if (!all && shown == kShown) break;
      line += (shown++ > 0 ? ", " : "") + p->name1 + " and " + p->name2;
    }
    if (shown < n) line += ", and " + std::to_string(n - shown) + " more";
    lines.push_back(line);
  }
  return lines;
}

// Ignored physics, the gravest first: whole elements before attributes, frequent before rare ones.
std::vector<std::string> physics_lines(const std::vector<ReportEntry>& entries) {
  std::map<std::array<std::string, 3>, std::pair<int, const ReportEntry*>> kinds;
  for (const auto& e : entries) {
    if (e.use != Use::ignored || !e.physics) continue;
    // the name of an element is not a kind
    const std::string attribute = e.attribute == "name" ? "" : e.attribute;
    auto& kind = kinds[{attribute, e.element, e.note}];
    if (kind.first++ == 0) kind.second = &e;
  }
  std::vector<std::pair<int, std::string>> ranked;
  constexpr int kElement = 1 << 20;
  for (const auto& [key, kind] : kinds) {
    const auto& [count, first] = kind;
    std::string line = first->file;
    if (first->line > 0) line += ":" + std::to_string(first->line);
    line += ": " + what(*first);
    if (count > 1) line += " and " + std::to_string(count - 1) + " more";
    ranked.emplace_back(count + (key[0].empty() ? kElement : 0), line + ": " + first->note);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  for (auto& [rank, line] : ranked) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

int LoadReport::count(Use use) const {
  return static_cast<int>(std::count_if(entries.begin(), entries.end(),
                                        [&](const ReportEntry& e) { return e.use == use; }));
}

bool LoadReport::complete() const {
  return pairs_without_collider.empty() &&
         std::none_of(entries.begin(), entries.end(), [](const ReportEntry& e) {
           return e.use == Use::refused || (e.use == Use::ignored && e.physics);
         });
}

std::string summary(const LoadReport& report) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> lines = pair_lines(report.pairs_without_collider, false);
  for (auto& line : physics_lines(report.entries)) lines.push_back(std::move(line));
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, lines.size()); ++i)
    out += (i > 0 ? "\n" : "") + visible(lines[i]);
  if (lines.size() > kShown) out += "\nand " + std::to_string(lines.size() - kShown) + " more";
  return out;
}

std::string LoadReport::table(bool all) const {
  const std::vector<Group> groups = grouped(entries, all);
  std::vector<std::array<std::string, 2>> rows;  // line and use
  std::array<std::size_t, 2> width{4, 4};        // of "line", "used"
  for (const auto& g : groups) {
    std::string at = g.first->line > 0 ? std::to_string(g.first->line) : "-";  // -: the whole model
    if (g.count > 1) at += " +" + std::to_string(g.count - 1);
    rows.push_back({at, std::string(word(g.first->use)) + (g.first->physics ? " PHYSICS" : "")});
    for (std::size_t i = 0; i < 2; ++i) width[i] = std::max(width[i], rows.back()[i].size());
  }
  std::string out;
  const std::string* file = nullptr;  // file of the preceding rows
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReportEntry& e = *groups[i].first;
    if (file == nullptr || *file != e.file) out += visible(e.file) + "\n";
    file = &e.file;
    const auto& [at, use] = rows[i];
    out += "  " + std::string(width[0] - at.size(), ' ') + at + "  " + use +
           std::string(width[1] - use.size() + 2, ' ') + visible(what(e)) +
           (e.note.empty() ? "" : "  " + visible(e.note)) + "\n";
  }
  for (const auto& line : pair_lines(pairs_without_collider, all)) out += visible(line) + "\n";
  out += std::to_string(count(Use::used)) + " used, " + std::to_string(count(Use::mapped)) +
         " mapped, " + std::to_string(count(Use::ignored)) + " ignored (" +
         std::to_string(std::count_if(
             entries.begin(), entries.end(),
             [](const ReportEntry& e) { return e.use == Use::ignored && e.physics; })) +
         " of them physics), " + std::to_string(count(Use::refused)) + " refused, " +
         std::to_string(pairs_without_collider.size()) + " geom pairs without a collider\n";
  return out;
}

}  // namespace stiction

// LoadReport: what the reader did with the file.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "module.h"
#include "stiction/error.h"
#include "stiction/load.h"
#include "stiction/text.h"

namespace stiction::python {
namespace {

constexpr std::array<std::pair<Use, const char*>, 4> kUses{{{Use::used, "used"},
                                                            {Use::mapped, "mapped"},
                                                            {Use::ignored, "ignored"},
                                                            {Use::refused, "refused"}}};

const char* use_name(Use use) {
  return kUses[static_cast<std::size_t>(use)].second;
}

Use use_of(const std::string& name) {
  for (const auto& [use, text] : kUses)
    if (name == text) return use;
  throw ArgumentError("use = '" + name +
                      "': must be one of 'used', 'mapped', 'ignored', 'refused'");
}

// What pickle keeps of each class: a ModelError and its report come through a process pool.
using Missing = LoadReport::MissingCollider;
using EntryState =
    std::tuple<int, bool, std::string, int, std::string, std::string, std::string, std::string>;
using MissingState = std::tuple<int, int, std::string, std::string, std::string, std::string>;
using ReportState = std::tuple<std::vector<EntryState>, std::vector<MissingState>>;

EntryState state_of(const ReportEntry& e) {
  return {
      static_cast<int>(e.use), e.physics, e.file, e.line, e.element, e.attribute, e.value, e.note};
}
ReportEntry from_state(const EntryState& s) {
  const auto& [use, physics, file, line, element, attribute, value, note] = s;
  if (use < 0 || use >= static_cast<int>(kUses.size()))
    throw ArgumentError("ReportEntry: no use has the number " + std::to_string(use));
  return {static_cast<Use>(use), physics, file, line, element, attribute, value, note};
}
MissingState state_of(const Missing& p) {
  return {p.geom1, p.geom2, p.name1, p.name2, p.type1, p.type2};
}
Missing from_state(const MissingState& s) {
  return std::make_from_tuple<Missing>(s);
}
ReportState state_of(const LoadReport& r) {
  ReportState s;
  for (const ReportEntry& e : r.entries) std::get<0>(s).push_back(state_of(e));
  for (const Missing& p : r.pairs_without_collider) std::get<1>(s).push_back(state_of(p));
  return s;
}
LoadReport from_state(const ReportState& s) {
  LoadReport r;
  for (const EntryState& e : std::get<0>(s)) r.entries.push_back(from_state(e));
  for (const MissingState& p : std::get<1>(s)) r.pairs_without_collider.push_back(from_state(p));
  return r;
}

template <class State, class T>
void def_pickle(nb::class_<T>& c) {
  c.def("__getstate__", [](const T& x) { return state_of(x); });
  c.def("__setstate__", [](T& x, const State& s) { new (&x) T(from_state(s)); });
}

}  // namespace

void bind_report(nb::module_& m) {
  nb::class_<ReportEntry> entry(m, "ReportEntry", "One element or attribute of the file.");
  def_pickle<EntryState>(entry);
  entry
      .def_prop_ro(
          "use", [](const ReportEntry& e) { return use_name(e.use); },
          "'used' as MuJoCo defines it, 'mapped' to an equivalent, 'ignored' or 'refused'")
      .def_ro("physics", &ReportEntry::physics, "ignored, but would have changed the motion")
      .def_ro("file", &ReportEntry::file)
      .def_ro("line", &ReportEntry::line)
      .def_ro("element", &ReportEntry::element)
      .def_ro("attribute", &ReportEntry::attribute, "empty: the element itself")
      .def_ro("value", &ReportEntry::value, "as written in the file")
      .def_ro("note", &ReportEntry::note, "why, and what to do")
      .def("__repr__", [](const ReportEntry& e) {
        std::string what = e.element;
        if (!e.attribute.empty()) what += "." + e.attribute + "=" + e.value;
        return visible("<ReportEntry " + std::string(use_name(e.use)) + " " + e.file + ":" +
                       std::to_string(e.line) + " " + what + ">");
      });

  nb::class_<Missing> missing(m, "MissingCollider",
                              "A geom pair that would touch in MuJoCo but not here.");
  def_pickle<MissingState>(missing);
  missing.def_ro("geom1", &Missing::geom1)
      .def_ro("geom2", &Missing::geom2)
      .def_ro("name1", &Missing::name1)
      .def_ro("name2", &Missing::name2)
      .def_ro("type1", &Missing::type1)
      .def_ro("type2", &Missing::type2)
      .def("__repr__", [](const Missing& p) {
        return "<MissingCollider " + p.type1 + " " + p.name1 + " - " + p.type2 + " " + p.name2 +
               ">";
      });

  nb::class_<LoadReport> report(m, "LoadReport",
                                "What the reader did with every element of a model file.");
  def_pickle<ReportState>(report);
  report.def_ro("entries", &LoadReport::entries, "list of ReportEntry, in file order")
      .def_ro("pairs_without_collider", &LoadReport::pairs_without_collider,
              "list of MissingCollider: pairs that pass the filters, but get no contact")
      .def_prop_ro("complete", &LoadReport::complete, "nothing refused and no physics ignored")
      .def(
          "count", [](const LoadReport& r, const std::string& use) { return r.count(use_of(use)); },
          nb::arg("use"),
          "Number of entries with this use: 'used', 'mapped', 'ignored', 'refused'.")
      .def("table", &LoadReport::table, nb::arg("all") = false,
           "Readable table; with `all` also what was used as it is.")
      .def(
          "summary", [](const LoadReport& r) { return summary(r); },
          "What is not computed, in a few lines, the gravest first; '' if the report is complete.")
      .def("__str__", [](const LoadReport& r) { return r.table(false); })
      .def("__repr__", [](const LoadReport& r) {
        std::string s = "<LoadReport";
        for (const auto& [use, text] : kUses)
          s += std::string(" ") + text + "=" + std::to_string(r.count(use));
        return s + " pairs_without_collider=" + std::to_string(r.pairs_without_collider.size()) +
               ">";
      });
}

}  // namespace stiction::python

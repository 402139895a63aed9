// LoadReport: what the reader did with the file.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <utility>

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

}  // namespace

void bind_report(nb::module_& m) {
  nb::class_<ReportEntry>(m, "ReportEntry", "One element or attribute of the file.")
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

  using Missing = LoadReport::MissingCollider;
  nb::class_<Missing>(m, "MissingCollider", "A geom pair that would touch in MuJoCo but not here.")
      .def_ro("geom1", &Missing::geom1)
      .def_ro("geom2", &Missing::geom2)
      .def_ro("name1", &Missing::name1)
      .def_ro("name2", &Missing::name2)
      .def_ro("type1", &Missing::type1)
      .def_ro("type2", &Missing::type2)
      .def("__repr__", [](const Missing& p) {
        return "<MissingCollider " + p.type1 + " " + p.name1 + " - " + p.type2 + " " + p.name2 +
               ">";
      });

  nb::class_<LoadReport>(m, "LoadReport", "What the reader did with every element of a model file.")
      .def_ro("entries", &LoadReport::entries, "list of ReportEntry, in file order")
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

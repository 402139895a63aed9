// Verdicts on attributes that no code reads, and the report of all verdicts.
#include <set>
#include <tuple>

#include "model/xml/schema.h"
#include "model/xml/xml.h"

namespace stiction::model {
namespace {

struct Rule {
  const char* elements;    // words; "*": any
  const char* attributes;  // words; "*": any
  Use use;
  bool physics;
  const char* note;
};

constexpr const char* kGraphics = "graphics";
constexpr const char* kSolver = "the convex step has its own solver and exits";
constexpr const char* kUser = "user data";

// The first rule that matches decides.
constexpr Rule kRules[] = {
    {"*", "name class", Use::used, false, ""},
    {"*", "user", Use::ignored, false, kUser},
    {"*", "noise", Use::ignored, false, "readings are without noise, as in MuJoCo"},
    {"*", "group material rgba", Use::ignored, false, kGraphics},
    {"camera", "*", Use::ignored, false, kGraphics},
    {"geom site", "castshadow", Use::ignored, false, kGraphics},
    {"site", "mesh", Use::ignored, false, kGraphics},
    {"joint", "solimplimit solreffriction solimpfriction", Use::mapped, false,
     "limits and dry friction are as stiff as the step resolves"},
    {"fixed tendon spatial", "solimplimit solreffriction solimpfriction", Use::mapped, false,
     "limits and dry friction are as stiff as the step resolves"},
    {"joint", "springyield", Use::ignored, false, "no joint takes it"},
    {"geom", "adhesion", Use::ignored, false, "no geom takes it"},
    {"fixed tendon spatial", "width", Use::ignored, false, kGraphics},
    {"fixed tendon spatial", "springyield", Use::ignored, false, "no tendon takes it"},
    {"body", "fuse simple sleep", Use::ignored, false, "the motion is the same"},
    {"pair", "solreffriction adhesion", Use::ignored, false, "no pair takes it"},
    {"pair", "gap", Use::ignored, false, "widens detection only"},
    {"general motor position velocity damper intvelocity cylinder muscle", "interp", Use::ignored,
     false, "has no effect on this kind of actuator"},
    {"general motor position velocity damper intvelocity cylinder muscle",
     "damping armature delay nsample input velrange ffrange", Use::ignored, false,
     "no actuator takes it"},
    {"compiler", "texturedir", Use::ignored, false, "asset files are not opened"},
    {"compiler", "*", Use::ignored, false, "does not change the motion"},
    {"lengthrange", "*", Use::ignored, false, "ranges are not found by simulation"},
    {"option",
     "solver iterations tolerance ls_iterations ls_tolerance noslip_iterations "
     "noslip_tolerance jacobian ccd_iterations ccd_tolerance sdf_initpoints "
     "sdf_iterations sleep_tolerance",
     Use::ignored, false, kSolver},
    {"option", "o_margin o_solref o_solimp o_friction", Use::ignored, false,
     "takes effect only with flag override"},
    {"option", "actuatorgroupdisable", Use::refused, true,
     "remove the actuators of the disabled groups"},
    {"flag", "*", Use::ignored, false, kSolver},
    {"mesh", "file", Use::used, false, ""},
    {"mesh", "builtin params", Use::ignored, false, "shapes that MuJoCo builds are not made"},
    {"mesh", "*", Use::ignored, false, kGraphics},
    {"hfield", "file", Use::used, false, ""},
    {"hfield", "*", Use::ignored, false, kGraphics},
    {"key", "plastic", Use::ignored, false, "springs are elastic"},
    {"numeric", "*", Use::used, false, ""},
    {"*", "*", Use::ignored, true, "is not computed"},
};

bool fits(std::string_view list, std::string_view word) {
  if (list == "*") return true;
  for (std::size_t i = list.find(word); i != list.npos; i = list.find(word, i + 1)) {
    const std::size_t end = i + word.size();
    if ((i == 0 || list[i - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

Verdict judge(const Element& e, const Attribute& a) {
  if (a.verdict) return *a.verdict;
  if (a.touched) return {};
  for (const Rule& r : kRules) {
    if (fits(r.elements, e.name) && fits(r.attributes, a.name)) return {r.use, r.physics, r.note};
  }
  return {};
}

// Marks sections without any physics, and those that need code from elsewhere.
void judge_sections(Element& e) {
  for (const char* name : {"visual", "statistic", "size"}) {
    if (e.name == name) mark(e, Use::ignored, false, "does not change the motion");
  }
  if (e.name == "deformable" && !e.children.empty()) {
    mark(e, Use::refused, true, "flexible bodies are not computed; remove them");
  }
}

ReportEntry entry(const Element& e, const Verdict& v) {
  return {v.use, v.physics, *e.file, e.line, shown(e.name), "", "", v.note};
}

// Collects entries, but skips one of a copied element that repeats an earlier one.
class Report {
 public:
  explicit Report(LoadReport& report) : report_(report) {}

  void add(const Element& e, ReportEntry entry) {
    if (e.origin == Origin::wrapper) return;
    const bool is_new =
        seen_.emplace(e.file, e.line, entry.element, entry.attribute, entry.use, entry.note).second;
    if (is_new || e.origin == Origin::written) report_.entries.push_back(std::move(entry));
  }

 private:
  LoadReport& report_;
  std::set<std::tuple<const std::string*, int, std::string, std::string, Use, std::string>> seen_;
};

void collect_into(Element& e, Report& report) {
  judge_sections(e);
  if (e.verdict) {
    ReportEntry whole = entry(e, *e.verdict);
    if (const auto* name = e.find("name")) {
      whole.attribute = "name";
      whole.value = shown(name->value);
    }
    report.add(e, std::move(whole));
    // the whole element is ignored, unless an attribute has a worse verdict
    for (const auto& a : e.attributes) {
      if (!a.verdict || (a.verdict->use != Use::refused && !a.verdict->physics)) continue;
      report.add(e, {a.verdict->use, a.verdict->physics, *e.file, e.line, shown(e.name), a.name,
                     shown(a.value), a.verdict->note});
    }
    return;
  }
  for (const auto& a : e.attributes) {
    const Verdict v = judge(e, a);
    report.add(e,
               {v.use, v.physics, *e.file, e.line, shown(e.name), a.name, shown(a.value), v.note});
  }
  for (auto& child : e.children) collect_into(child, report);
}

}  // namespace

void collect(Element& root, LoadReport& report) {
  Report all(report);
  collect_into(root, all);
}

}  // namespace stiction::model

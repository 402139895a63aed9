// Merges <option> of a model and of one that it attaches.
#include <algorithm>

#include "model/attach/assemble.h"

namespace stiction::model {
namespace {

enum class Conflict { warning, merge, error };

Element* last(Element& root, std::string_view section) {
  Element* found = nullptr;
  for (Element& e : root.children)
    if (e.name == section && e.scope == 0) found = &e;
  return found;
}

Attribute* given(Element& root, std::string_view section, std::string_view attribute) {
  Attribute* found = nullptr;
  for (Element& e : root.children)
    if (e.name == section)
      if (Attribute* a = e.find(attribute)) found = a;
  return found;
}

// Returns whether a flag is off by default.
bool is_enabling(std::string_view flag) {
  for (const char* name :
       {"override", "energy", "fwdinv", "invdiscrete", "sleep", "diagexact", "ipc", "speculative"})
    if (flag == name) return true;
  return false;
}

// Options that the step uses; the others belong to MuJoCo's solver.
constexpr const char* kOptions[] = {"timestep", "gravity",   "wind",     "magnetic",
                                    "density",  "viscosity", "impratio", "cone"};

Element& option_of(Element& parent) {
  if (Element* e = last(parent, "option")) return *e;
  Element& e = add_child(parent, "option", parent);
  e.origin = Origin::copied;
  return e;
}

bool same(Element& a, Element& b, const char* attribute) {
  return numbers(a, attribute) == numbers(b, attribute);
}

void merge_flags(Element& parent, const Element& flags) {
  for (const Attribute& a : flags.attributes) {
    if (a.value != (is_enabling(a.name) ? "enable" : "disable"))
      continue;  // the parent's value, or the default
    Element& option = option_of(parent);
    const auto found = std::find_if(option.children.begin(), option.children.end(),
                                    [](const Element& e) { return e.name == "flag"; });
    Element& flag = found != option.children.end() ? *found : add_child(option, "flag", flags);
    if (Attribute* own = flag.find(a.name))
      own->value = a.value;
    else
      set_attribute(flag, a.name.c_str(), a.value);
  }
}

}  // namespace

void merge_options(Element& parent, Element& child, const Element& attach,
                   std::vector<ReportEntry>& remarks) {
  Conflict mode = Conflict::warning;
  for (Element& e : parent.children)
    if (e.name == "compiler" && e.scope == 0)
      if (const auto i = choice(e, "conflict", {"warning", "merge", "error"}))
        mode = static_cast<Conflict>(*i);
  for (Element& e : child.children) {
    if (e.name != "option") continue;
    for (Attribute& a : e.attributes) {
      if (std::find(std::begin(kOptions), std::end(kOptions), a.name) == std::end(kOptions))
        continue;
      const char* name = a.name.c_str();
      Attribute* own = given(parent, "option", name);
      Element* const owner = own ? last(parent, "option") : nullptr;
      const bool words = a.name == "cone";
      if (own && (words ? own->value == a.value : owner->has(name) && same(*owner, e, name)))
        continue;
      if (own && mode == Conflict::error)
        fail(attach, std::string(name) + " of the attached model is " + shown(a.value) +
                         ", here it is " + shown(own->value) + ", and conflict=\"error\"");
      if (mode == Conflict::merge) {
        if (!own) {
          set_attribute(option_of(parent), name, a.value);
        } else if (a.name == "timestep") {
          if (*number(e, name) < *number(*owner, name)) own->value = a.value;
        } else {
          fail(attach, std::string(name) + " of the attached model is " + shown(a.value) +
                           ", here it is " + shown(own->value) + ": can't be merged");
        }
        continue;
      }
      remarks.push_back({Use::ignored, false, *e.file, e.line, "option", a.name, shown(a.value),
                         "of an attached model, as in MuJoCo: what the model says holds; "
                         "conflict=\"merge\" takes it"});
    }
    for (const Element& flags : e.children)
      if (mode == Conflict::merge && flags.name == "flag") merge_flags(parent, flags);
  }
}

}  // namespace stiction::model

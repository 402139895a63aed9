#include "model/read/references.h"

#include <algorithm>
#include <vector>

namespace stiction::model {
namespace {

struct Attributes {
  const char* name;
  const char* kind;
};
constexpr Attributes kReferences[] = {
    {"joint", "joint"},         {"joint1", "joint"},      {"joint2", "joint"},
    {"jointinparent", "joint"}, {"site", "site"},         {"site1", "site"},
    {"site2", "site"},          {"refsite", "site"},      {"slidersite", "site"},
    {"cranksite", "site"},      {"sidesite", "site"},     {"geom", "geom"},
    {"geom1", "geom"},          {"geom2", "geom"},        {"body", "body"},
    {"body1", "body"},          {"body2", "body"},        {"subtree1", "body"},
    {"subtree2", "body"},       {"tendon", "tendon"},     {"tendon1", "tendon"},
    {"tendon2", "tendon"},      {"actuator", "actuator"}, {"camera", "camera"},
};

struct Reference {
  Attribute* attribute;
  std::string kind;
  std::size_t start = 0;  // start of the name in the attribute's value

  std::string name() const { return attribute->value.substr(start); }
  bool there(const NameSets& names, const std::string& name) const {
    const auto it = names.find(kind);
    return it != names.end() && it->second.contains(name);
  }
  bool there(const NameSets& names) const { return there(names, name()); }
  bool there(const NameSets& names, const Renaming& r) const { return there(names, r(name())); }
  void rename(const Renaming& r) {
    attribute->value = attribute->value.substr(0, start) + r(name());
  }
};

std::string value_of(Element& e, std::string_view attribute) {
  const Attribute* a = e.find(attribute);
  return a ? a->value : std::string();
}

// Returns the references of this element alone, in the order in which they are written.
std::vector<Reference> references(Element& e, std::string_view section) {
  std::vector<Reference> found;
  if (section == "custom") {
    const std::size_t at = native_object(e);
    if (at != std::string::npos)
      found.push_back({e.find("name"),
                       e.find("name")->value.starts_with("stiction_equality") ? "equality" : "geom",
                       at});
    return found;
  }
  for (Attribute& a : e.attributes) {
    if (a.value.empty()) continue;
    for (const Attributes& r : kReferences)
      if (a.name == r.name) found.push_back({&a, r.kind});
    if (a.name != "objname" && a.name != "refname") continue;
    const std::string type = value_of(e, a.name == "objname" ? "objtype" : "reftype");
    found.push_back({&a, type == "xbody" ? "body" : type});
  }
  return found;
}

bool is_tree(std::string_view name) {
  return name == "body" || name == "joint" || name == "freejoint" || name == "geom" ||
         name == "site" || name == "camera" || name == "light" || name == "frame";
}

template <class F>
void each_name(const Element& tree, const F& use) {
  if (is_tree(tree.name)) {
    for (const Attribute& a : tree.attributes)
      if (a.name == "name" && !a.value.empty())
        use(tree.name == "freejoint" ? "joint" : tree.name, a.value);
  }
  for (const Element& child : tree.children) each_name(child, use);
}

void rename(Element& e, std::string_view attribute, const Renaming& r) {
  if (Attribute* a = e.find(attribute); a && !a->value.empty()) a->value = r(a->value);
}

// Renames an element of a tendon's path: both names refer to the copy, or both are unchanged. -1: neither exists.
int rename_wrap(Element& wrap, const Renaming& r, const NameSets& names) {
  std::vector<Reference> found = references(wrap, "tendon");
  if (found.empty()) return 0;
  const auto all = [&](const auto& there) {
    return std::all_of(found.begin(), found.end(), there);
  };
  if (all([&](const Reference& f) { return f.there(names, r); })) {
    for (Reference& f : found) f.rename(r);
    return 1;
  }
  return all([&](const Reference& f) { return f.there(names); }) ? 0 : -1;
}

bool rename_path(Element& tendon, const Renaming& r, const NameSets& names) {
  int renamed = 0;
  for (Element& wrap : tendon.children) {
    const int n = rename_wrap(wrap, r, names);
    if (n < 0) return false;
    renamed += n;
  }
  return renamed > 0;
}

bool rename_objects(Element& e, std::string_view section, const Renaming& r,
                    const NameSets& names) {
  std::vector<Reference> found = references(e, section);
  const bool one_may_stay = (section == "contact" || section == "sensor") && found.size() == 2;
  std::size_t renamed = 0;
  for (Reference& f : found) {
    if (!f.there(names, r)) continue;
    f.rename(r);
    ++renamed;
  }
  if (renamed == found.size()) return true;
  if (!one_may_stay || renamed == 0) return false;
  return std::all_of(found.begin(), found.end(),
                     [&](const Reference& f) { return f.there(names); });
}

}  // namespace

std::size_t native_object(const Element& custom) {
  for (const Attribute& a : custom.attributes) {
    if (a.name != "name") continue;
    for (const char* key : {"stiction_contact/", "stiction_equality/", "stiction_meshes/"})
      if (a.value.starts_with(key)) return a.value.find('/') + 1;
  }
  return std::string::npos;
}

std::string kind_of(const Element& e, std::string_view section) {
  if (section == "tendon" || section == "equality" || section == "actuator")
    return std::string(section);
  return is_tree(e.name) ? (e.name == "freejoint" ? "joint" : e.name) : std::string();
}

void rename_tree(Element& e, const Renaming& r) {
  if (is_tree(e.name)) rename(e, "name", r);
  rename(e, "target", r);
  if (r.foreign)
    for (const char* attribute : {"class", "childclass", "mesh", "hfield", "material"})
      rename(e, attribute, r);
  for (Element& child : e.children) rename_tree(child, r);
}

void add_names(const Element& tree, NameSets& names) {
  each_name(tree,
            [&](const std::string& kind, const std::string& name) { names[kind].insert(name); });
}

void remove_names(const Element& tree, NameSets& names) {
  each_name(tree,
            [&](const std::string& kind, const std::string& name) { names[kind].erase(name); });
}

bool may_refer(Element& e, std::string_view section, const Renaming& r, const NameSets& names) {
  bool refers_at_all = false;
  const auto one_is_there = [&](Element& part) {
    for (const Reference& f : references(part, section)) {
      refers_at_all = true;
      if (f.there(names, r)) return true;
    }
    return false;
  };
  return one_is_there(e) || std::any_of(e.children.begin(), e.children.end(), one_is_there) ||
         !refers_at_all;
}

bool rename_relation(Element& e, std::string_view section, const Renaming& r,
                     const NameSets& names) {
  Element copy = e;
  const bool refers =
      section == "tendon" ? rename_path(copy, r, names) : rename_objects(copy, section, r, names);
  if (!refers) return false;
  if (section != "custom") rename(copy, "name", r);
  if (r.foreign) rename(copy, "class", r);
  if (r.foreign && section == "custom")
    for (Element& mesh : copy.children) rename(mesh, "objname", r);
  e = std::move(copy);
  return true;
}

bool resolves(Element& e, std::string_view section, const NameSets& names) {
  for (const Reference& f : references(e, section))
    if (!f.there(names)) return false;
  for (Element& wrap : e.children)
    for (const Reference& f : references(wrap, section))
      if (!f.there(names)) return false;
  return true;
}

}  // namespace stiction::model

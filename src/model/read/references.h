// Names in an element tree: what is called so, what refers to it, and both under another name.
#pragma once

#include <map>
#include <set>
#include <string>

#include "model/xml/xml.h"

namespace stiction::model {

// By kind: "body", "joint", "site", ...
using NameSets = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// What a copy is called.
struct Renaming {
  std::string prefix, suffix;
  bool foreign = false;  // from another model: its default classes and assets are renamed, too

  std::string operator()(const std::string& name) const { return prefix + name + suffix; }
};

// Elements that refer to others by name are in these sections, in the order in which they can be copied.
inline constexpr const char* kRelations[] = {"contact",  "tendon", "equality",
                                             "actuator", "sensor", "custom"};

// The name, where this kind of element has one that others refer to: "" otherwise.
std::string kind_of(const Element& e, std::string_view section);

// Bodies and what is attached to them: names, classes and assets.
void rename_tree(Element& e, const Renaming& renaming);
void add_names(const Element& tree, NameSets& names);
void remove_names(const Element& tree, NameSets& names);

// Whether rename_relation() may do something: it names what the copy has, or nothing at all.
bool may_refer(Element& e, std::string_view section, const Renaming& r, const NameSets& names);

// Renames an element of a section and what it refers to, as MuJoCo does: of a pair, an exclude and a sensor one
// of two objects may be another than the copied ones, of a tendon all but one, elsewhere none. False: it
// does not refer to what is copied, and stays as it was.
bool rename_relation(Element& e, std::string_view section, const Renaming& renaming,
                     const NameSets& names);
// Whether everything is there that it refers to.
bool resolves(Element& e, std::string_view section, const NameSets& names);

// "stiction_contact/left" of a <numeric> or <tuple>: where the name of the object begins; npos: none.
std::size_t native_object(const Element& custom);

}  // namespace stiction::model

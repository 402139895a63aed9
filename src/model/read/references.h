// Names in an element tree: the elements that have them, the elements that refer to them, and renaming of both.
#pragma once

#include <map>
#include <set>
#include <string>

#include "model/xml/xml.h"

namespace stiction::model {

// Sets of names by kind: "body", "joint", "site", ...
using NameSets = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// The names of a copy.
struct Renaming {
  std::string prefix, suffix;
  bool foreign = false;  // from another model: default classes and assets are renamed, too

  std::string operator()(const std::string& name) const { return prefix + name + suffix; }
};

// Sections whose elements refer to others by name, in the order in which they can be copied.
inline constexpr const char* kRelations[] = {"contact",  "tendon", "equality",
                                             "actuator", "sensor", "custom"};

// Returns the kind of name of an element that others may refer to; "": none.
std::string kind_of(const Element& e, std::string_view section);

// Rename, add or remove names of bodies and of what is attached to them, including classes and assets.
void rename_tree(Element& e, const Renaming& renaming);
void add_names(const Element& tree, NameSets& names);
void remove_names(const Element& tree, NameSets& names);

// Returns whether rename_relation() may have an effect: the element refers to names of the copy, or to nothing.
bool may_refer(Element& e, std::string_view section, const Renaming& r, const NameSets& names);

// Renames an element of a section and its references, as MuJoCo does: of a pair, an exclude and a sensor one
// of two objects may be outside of the copy, of a tendon all but one, otherwise none. Returns false if the
// element does not refer to what is copied; it is then unchanged.
bool rename_relation(Element& e, std::string_view section, const Renaming& renaming,
                     const NameSets& names);
// Returns whether everything that the element refers to exists.
bool resolves(Element& e, std::string_view section, const NameSets& names);

// Returns where the name of the object begins in "stiction_contact/left" of a <numeric> or <tuple>; npos: none.
std::size_t native_object(const Element& custom);

}  // namespace stiction::model

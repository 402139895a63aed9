// Traversals of the elements of a tree.
#pragma once

#include "model/xml/xml.h"

namespace stiction::model {

// Counts an element and those inside of it.
inline int count(const Element& e) {
  int n = 1;
  for (const Element& child : e.children) n += count(child);
  return n;
}

template <class Elements>
std::vector<Element*> all_of(Elements& elements) {
  std::vector<Element*> all;
  for (Element& e : elements) all.push_back(&e);
  return all;
}

// Counts sections and their elements.
inline std::int64_t relations(const std::vector<Element*>& sections) {
  std::int64_t n = 0;
  for (const Element* section : sections) n += 1 + std::ssize(section->children);
  return n;
}

inline std::string numbers_text(std::span<const double> values) {
  std::string s;
  for (const double v : values) s += (s.empty() ? "" : " ") + shown(v);
  return s;
}

template <class F>
void each(Element& e, const F& use) {
  use(e);
  for (Element& child : e.children) each(child, use);
}

// A body or frame found in a tree, and the default class of elements there.
struct Found {
  Element* element = nullptr;
  std::string childclass = "main";
};

inline Found find_part(Element& parent, std::string_view kind, const std::string& name,
                       std::string childclass) {
  if (const Attribute* own = parent.find("childclass")) childclass = own->value;
  for (Element& e : parent.children) {
    const Attribute* called = e.find("name");
    if (e.name == kind && called && called->value == name) return {&e, childclass};
    if (const Found inner = find_part(e, kind, name, childclass); inner.element) return inner;
  }
  return {};
}

}  // namespace stiction::model

// Writes edits that were made to a model after loading, as MJCF.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "model/save/save.h"
#include "model/xml/elements.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::model {
namespace {

std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

Element& section_of(Element& root, const char* name) {
  for (Element& e : root.children)
    if (e.name == name) return e;
  return add_child(root, name, root);
}

void replace(Element& e, const char* name, std::string value) {
  std::erase_if(e.attributes, [&](const Attribute& a) { return a.name == name; });
  set_attribute(e, name, std::move(value));
}

// Returns the element of this kind and name; throws if none is written.
Element& named(Element& root, std::string_view kind, const std::string& name, const char* what) {
  Element* found = nullptr;
  each(root, [&](Element& e) {
    const Attribute* called = e.name == kind ? e.find("name") : nullptr;
    if (called && called->value == name) found = &e;
  });
  if (!found)
    throw ArgumentError(std::string(what) + " of " + std::string(kind) + " \"" + visible(name) +
                        "\" can't be written: no element of the file has that name, it comes from "
                        "a <replicate> or <attach>");
  return *found;
}

void set_material(Element& root, const std::string& geom, const ContactMaterial& m) {
  if (m.relaxation_time != 0)
    throw ArgumentError("relaxation_time of a contact material can't be written as MJCF");
  const std::string name = "stiction_contact" + (geom.empty() ? "" : "/" + geom);
  each(root, [&](Element& e) {
    if (e.name != "custom") return;
    std::erase_if(e.children, [&](Element& n) {
      const Attribute* called = n.find("name");
      return n.name == "numeric" && called &&
             (called->value == name || (geom.empty() && called->value.starts_with(name + "/")));
    });
  });
  Element& numeric = add_child(section_of(root, "custom"), "numeric", root);
  set_attribute(numeric, "name", name);
  set_attribute(numeric, "data",
                number_text(m.stiffness) + " " + number_text(m.dissipation) +
                    (m.restitution > 0 ? " " + number_text(m.restitution) : ""));
  if (!m.friction) return;
  if (geom.empty())
    throw ArgumentError(
        "the friction of all geoms can't be written as MJCF; give it to single geoms");
  Element& e = named(root, "geom", geom, "the friction");
  const Attribute* given = e.find("friction");
  std::string rest;  // the other coefficients, if the element has them
  if (given)
    if (const std::size_t at =
            given->value.find_first_of(" \t\n", given->value.find_first_not_of(" \t\n"));
        at != std::string::npos)
      rest = given->value.substr(at);
  replace(e, "friction", number_text(*m.friction) + rest);
}

// Files and texts of MJCF hold elevations from 0 to 1, the row with the largest y first.
void set_elevations(Element& root, const std::string& name, const ModelEdits::Elevations& h) {
  const auto [low, high] = std::minmax_element(h.data.begin(), h.data.end());
  if (*low != 0 || (*high != 1 && *high != 0))
    throw ArgumentError("the elevations of height field \"" + visible(name) + "\" reach from " +
                        number_text(*low) + " to " + number_text(*high) +
                        ", and MJCF has them from 0 to 1: scale them, and hfield_size");
  Element& e = named(root, "hfield", name, "the elevations");
  std::erase_if(e.attributes,
                [](const Attribute& a) { return a.name == "file" || a.name == "content_type"; });
  std::string text;
  for (int row = h.nrow; row-- > 0;)
    for (int column = 0; column < h.ncol; ++column)
      text += (text.empty() ? "" : " ") +
              number_text(h.data[static_cast<std::size_t>(row * h.ncol + column)]);
  replace(e, "nrow", std::to_string(h.nrow)), replace(e, "ncol", std::to_string(h.ncol));
  replace(e, "elevation", std::move(text));
}

}  // namespace

void apply(const ModelEdits& edits, Element& root) {
  if (edits.timestep) {
    bool written = false;  // the last <option> that has one applies
    for (Element& e : root.children)
      if (e.name == "option" && e.has("timestep"))
        replace(e, "timestep", number_text(*edits.timestep)), written = true;
    if (!written) replace(section_of(root, "option"), "timestep", number_text(*edits.timestep));
  }
  for (const auto& [geom, material] : edits.materials) set_material(root, geom, material);
  for (const auto& [geom, mesh] : edits.meshes)
    replace(named(root, "geom", geom, "the mesh"), "mesh", mesh);
  for (const auto& [name, h] : edits.hfields) set_elevations(root, name, h);
}

}  // namespace stiction::model

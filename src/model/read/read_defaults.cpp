// <default>: a class inherits from the class in which it is nested.
#include "model/read/read.h"
#include "model/xml/bounds.h"
#include "model/xml/schema.h"

namespace stiction::model {
namespace {

void read_content(Element& e, Spec& spec, DefaultClass& d) {
  for (auto& child : e.children) {
    const std::string& n = child.name;
    if (n == "default") continue;
    if (n == "joint")
      read_joint(spec.compiler_of(child), child, d.joint);
    else if (n == "geom")
      read_geom(spec.compiler_of(child), child, d.geom);
    else if (n == "site")
      read_site(spec.compiler_of(child), child, d.site);
    else if (n == "camera")
      read_camera(spec.compiler_of(child), child, d.camera);
    else if (n == "pair")
      read_pair(child, d.pair);
    else if (n == "equality")
      read_equality(child, d.equality);
    else if (n == "mesh")
      read_mesh(child, d.mesh_scale, d.mesh);
    else if (n == "tendon")
      read_tendon(child, d.tendon);
    else if (n == "material" || n == "texture" || n == "light")
      mark(child, Use::ignored, false, "graphics");
    else
      read_actuator(spec, child, d.parent, d.actuator);
    // a default geom or joint is not an element of the model
    d.joint.element = nullptr;
    d.geom.element = nullptr;
  }
}

void read_nested(Element& e, Spec& spec, const std::string& parent) {
  const std::string name = required_text(e, "class");
  const auto [it, is_new] = spec.classes.try_emplace(name, spec.classes.at(parent));
  if (!is_new) fail(e, "class", "this class is defined twice; names of classes must be unique");
  it->second.parent = parent;
  read_content(e, spec, it->second);
  for (auto& child : e.children) {
    if (child.name == "default") read_nested(child, spec, name);
  }
}

}  // namespace

void read_defaults(Element& e, Spec& spec) {
  if (e.scope > 0) {  // of an attached model: it inherits nothing from this model's main class
    const std::string name = required_text(e, "class");
    DefaultClass& own = spec.classes[name];
    read_content(e, spec, own);
    for (auto& child : e.children) {
      if (child.name == "default") read_nested(child, spec, name);
    }
    return;
  }
  if (const auto name = text(e, "class"); name && *name != "main") {
    fail(e, "class", "the top-level class must be \"main\"; nest other classes in it");
  }
  read_content(e, spec, spec.classes.at("main"));
  for (auto& child : e.children) {
    if (child.name == "default") read_nested(child, spec, "main");
  }
}

namespace {

const std::string& known_class(const Spec& spec, const Element& e, std::string_view attribute,
                               const std::string& name) {
  if (spec.classes.contains(name)) return name;
  std::vector<std::string> known;
  for (const auto& [k, v] : spec.classes) known.push_back(k);
  const std::string near = nearest(name, known);
  fail(e, attribute,
       "there is no default class of this name" +
           (near.empty() ? std::string() : "; did you mean \"" + near + "\"?"));
}

}  // namespace

const DefaultClass& class_of(const Spec& spec, Element& e, const std::string& childclass) {
  const auto own = text(e, "class");
  return spec.classes.at(own ? known_class(spec, e, "class", *own) : childclass);
}

std::string childclass_of(const Spec& spec, Element& e, const std::string& inherited) {
  const auto own = text(e, "childclass");
  return own ? known_class(spec, e, "childclass", *own) : inherited;
}

}  // namespace stiction::model

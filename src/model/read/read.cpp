#include "model/read/read.h"

#include "model/xml/schema.h"

namespace stiction::model {
namespace {

template <class F>
void each(Element& root, std::string_view name, const F& read) {
  for (auto& e : root.children) {
    if (e.name == name) read(e);
  }
}

}  // namespace

std::string claim_name(Spec& spec, std::string_view kind, Element& e) {
  const std::string name = text(e, "name").value_or("");
  if (name.empty()) return name;
  auto& owners = spec.names[std::string(kind)];
  const auto [it, is_new] = owners.try_emplace(name, &e);
  if (!is_new) {
    std::string first = "the world";
    if (it->second) first = *it->second->file + ":" + std::to_string(it->second->line);
    fail(e, "name",
         "this name of a " + std::string(kind) + " is taken by " + first +
             "; names must be unique per kind");
  }
  return name;
}

void require_name(const Spec& spec, std::string_view kind, const Element& e,
                  std::string_view attribute, const std::string& name) {
  std::vector<std::string> known;
  if (const auto it = spec.names.find(kind); it != spec.names.end()) {
    if (it->second.contains(name)) return;
    for (const auto& [k, owner] : it->second) known.push_back(k);
  }
  if (!spec.unread.empty()) {
    const Element& unread = *spec.unread.front();
    fail(unread, "<" + unread.name +
                     "> can't be read; write its elements out. Missing without it: " +
                     std::string(kind) + " \"" + shown(name) + "\" of " + where(e));
  }
  const std::string near = nearest(name, known);
  fail(e, attribute,
       "there is no " + std::string(kind) + " of this name" +
           (near.empty() ? std::string() : "; did you mean \"" + near + "\"?"));
}

std::optional<Switch> read_switch(Element& e, std::string_view attribute) {
  const auto i = choice(e, attribute, {"false", "true", "auto"});
  if (!i) return std::nullopt;
  return static_cast<Switch>(*i);
}

Spec read_mjcf(Element& root, const std::vector<std::string>& directories) {
  Spec spec;
  spec.name = text(root, "model").value_or("MuJoCo Model");
  spec.attached.resize(directories.size());
  for (std::size_t i = 0; i < directories.size(); ++i) spec.attached[i].directory = directories[i];
  each(root, "compiler", [&](Element& e) {
    read_compiler(
        e, e.scope == 0 ? spec.compiler : spec.attached[static_cast<std::size_t>(e.scope) - 1]);
  });
  each(root, "option", [&](Element& e) { read_option(e, spec); });
  spec.classes.try_emplace("main");
  each(root, "default", [&](Element& e) { read_defaults(e, spec); });
  each(root, "asset", [&](Element& e) { read_assets(e, spec); });
  each(root, "custom", [&](Element& e) { read_custom(e, spec); });

  BodySpec world;
  world.name = "world";
  spec.bodies.push_back(world);
  spec.names["body"]["world"] = nullptr;
  each(root, "worldbody", [&](Element& e) { read_worldbody(e, spec); });
  for (auto& b : spec.bodies)
    for (auto& j : b.joints) judge(j);

  each(root, "contact", [&](Element& e) { read_contacts(e, spec); });
  each(root, "tendon", [&](Element& e) { read_tendons(e, spec); });
  each(root, "equality", [&](Element& e) { read_equalities(e, spec); });
  each(root, "actuator", [&](Element& e) { read_actuators(e, spec); });
  each(root, "sensor", [&](Element& e) { read_sensors(e, spec); });
  each(root, "keyframe", [&](Element& e) { read_keyframes(e, spec); });
  for (const auto& m : spec.materials) {
    if (!m.geom.empty()) require_name(spec, "geom", *m.element, "name", m.geom);
  }
  resolve_mesh_choices(spec);
  for (const auto& c : spec.compliances) {
    if (!c.equality.empty()) require_name(spec, "equality", *c.element, "name", c.equality);
  }
  return spec;
}

}  // namespace stiction::model

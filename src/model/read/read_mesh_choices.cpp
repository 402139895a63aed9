#include <algorithm>
#include <string_view>

#include "model/read/read.h"

namespace stiction::model {
namespace {

GeomSpec* geom_named(Spec& spec, const std::string& name) {
  for (BodySpec& b : spec.bodies)
    for (GeomSpec& g : b.geoms)
      if (g.name == name) return &g;
  return nullptr;
}

}  // namespace

bool read_mesh_choice(Element& tuple, Spec& spec) {
  const std::string name = required_text(tuple, "name");
  if (!name.starts_with(kMeshChoiceKey)) return false;
  if (name.size() == kMeshChoiceKey.size())
    fail(tuple, "name", "a geom's name must follow the slash");
  claim_name(spec, "tuple", tuple);
  MeshChoiceSpec c{&tuple, name.substr(kMeshChoiceKey.size()), {}};
  for (Element& e : tuple.children) {
    if (required_text(e, "objtype") != "mesh")
      fail(e, "objtype", "expected mesh: this tuple lists the meshes that the geom may be");
    c.meshes.push_back({&e, required_text(e, "objname")});
    number(e, "prm");  // MuJoCo's; has no meaning here
  }
  spec.mesh_choices.push_back(std::move(c));
  return true;
}

void resolve_mesh_choices(Spec& spec) {
  for (const MeshChoiceSpec& c : spec.mesh_choices) {
    require_name(spec, "geom", *c.element, "name", c.geom);
    GeomSpec& g = *geom_named(spec, c.geom);
    if (g.mesh.empty() || g.fitted)
      fail(*c.element, "name", "the geom is no mesh, so it has none to choose");
    g.choices = {{c.element, g.mesh}};
    for (const auto& [e, mesh] : c.meshes) {
      require_name(spec, "mesh", *e, "objname", mesh);
      const auto same = [&mesh = mesh](const NamedMesh& known) { return known.mesh == mesh; };
      if (std::none_of(g.choices.begin(), g.choices.end(), same)) g.choices.push_back({e, mesh});
    }
  }
}

}  // namespace stiction::model

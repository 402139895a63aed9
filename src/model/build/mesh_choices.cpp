#include "model/build/mesh_choices.h"

#include <algorithm>
#include <sstream>

#include "math.h"
#include "model/build/build.h"
#include "model/read/read.h"
#include "model/spec/contact_material.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction {
namespace model {

void add_mesh_choice(const Spec& spec, const GeomSpec& g, Model& m) {
  m.geom_meshadr.push_back(static_cast<int>(m.geom_mesh.size()));
  m.geom_meshnum.push_back(static_cast<int>(g.choices.size()));
  for (const auto& [e, name] : g.choices) {
    const int id = asset_id(spec.meshes, name);
    const std::string& file = spec.meshes[at(id)].file;
    if (!spec.mesh_sources[at(id)].shape)
      fail(*e, "mesh \"" + shown(name) + "\" has no vertices: " +
                   (file.empty() ? "MuJoCo builds it" : "there is no file " + shown(file)));
    m.geom_mesh.push_back(id);
  }
}

namespace {

void require_choice(const Model& m, int g, int mesh) {
  if (g < 0 || g >= m.ngeom)
    throw ArgumentError("geom " + std::to_string(g) + ": must be in [0, " +
                        std::to_string(m.ngeom) + ")");
  const std::span<const int> choice = mesh_choice(m, g);
  if (choice.empty())
    throw ArgumentError("geom " + geom_label(m, g) +
                        " has no choice of meshes: list them in <custom><tuple name=\"" +
                        std::string(kMeshChoiceKey) + "GEOM\">");
  if (std::find(choice.begin(), choice.end(), mesh) != choice.end()) return;
  std::ostringstream message;
  message << "geom " << geom_label(m, g) << " can't be mesh " << mesh;
  if (mesh >= 0 && mesh < m.nmesh) message << " '" << visible(m.meshes[at(mesh)].name) << "'";
  const char* before = ": its choice is ";
  for (const int id : choice) {
    message << before << id << " '" << visible(m.meshes[at(id)].name) << "'";
    before = ", ";
  }
  throw ArgumentError(message.str());
}

}  // namespace
}  // namespace model

std::span<const int> mesh_choice(const Model& m, int g) {
  return std::span(m.geom_mesh)
      .subspan(static_cast<std::size_t>(m.geom_meshadr[at(g)]),
               static_cast<std::size_t>(m.geom_meshnum[at(g)]));
}

// With (p, q) the geom's frame in its body and (p₁, q₁), (p₂, q₂) the frames of both meshes in their files, the file's
// frame that the author placed is q q₁⁻¹ at p − q q₁⁻¹ p₁; the other mesh is placed with its file's frame there.
MeshGeom geom_with_mesh(const Model& m, int g, int mesh) {
  using namespace model;
  require_choice(m, g, mesh);
  Vec3 p = row3(m.geom_pos, g), size = row3(m.geom_size, g);
  Quat q = row4(m.geom_quat, g);
  if (const int own = m.geom_dataid[at(g)]; mesh != own) {
    const Quat placed = q * row4(m.mesh_quat, own).conjugate();
    p += placed * (row3(m.mesh_pos, mesh) - row3(m.mesh_pos, own));
    q = (placed * row4(m.mesh_quat, mesh)).normalized();
    size = row3(m.mesh_size, mesh);
  }
  return {{p.x(), p.y(), p.z()}, {size.x(), size.y(), size.z()}, {q.w(), q.x(), q.y(), q.z()}};
}

ModelPtr with_mesh(const Model& m, int g, int mesh) {
  const MeshGeom chosen = geom_with_mesh(m, g, mesh);
  auto copy = std::make_shared<Model>(m);
  copy->geom_dataid[static_cast<std::size_t>(g)] = mesh;
  std::copy_n(chosen.pos.begin(), 3, copy->geom_pos.begin() + 3 * g);
  std::copy_n(chosen.size.begin(), 3, copy->geom_size.begin() + 3 * g);
  std::copy_n(chosen.quat.begin(), 4, copy->geom_quat.begin() + 4 * g);
  return copy;
}

}  // namespace stiction

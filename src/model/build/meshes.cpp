#include "model/build/meshes.h"

#include <filesystem>
#include <set>

#include "model/build/build.h"
#include "model/mesh/mesh_faces.h"
#include "model/read/read.h"
#include "model/spec/sensor_types.h"
#include "model/xml/bounds.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

// What the meshes are needed for, by index. `any`: motion or sensors.
struct Needs {
  std::vector<char> any, hull;
};

bool measures_distance(const SensorSpec& s) {
  const auto type = sensor_type(s.type);
  return type && of_distance(*type);
}

Needs needs(const Spec& spec) {
  std::map<std::string, std::size_t, std::less<>> ids;
  for (std::size_t i = 0; i < spec.meshes.size(); ++i) ids.emplace(spec.meshes[i].name, i);
  std::set<std::string, std::less<>> paired;
  for (const PairSource& p : spec.pairs) paired.insert(p.geom1), paired.insert(p.geom2);
  std::set<std::string, std::less<>> measured_geoms, measured_bodies, framed;
  for (const SensorSource& source : spec.sensors) {
    const SensorSpec& s = source.spec;
    const bool distance = measures_distance(s);
    for (const auto& [type, name] : {std::pair{s.objtype, s.object}, {s.reftype, s.reference}})
      if (distance)
        (type == "geom" ? measured_geoms : measured_bodies).insert(name);
      else if (type == "geom")
        framed.insert(name);
  }
  Needs n{std::vector<char>(ids.size()), std::vector<char>(ids.size())};
  for (const BodySpec& b : spec.bodies) {
    for (const GeomSpec& g : b.geoms) {
      for (const NamedMesh& c : g.choices) n.any[ids.at(c.mesh)] = n.hull[ids.at(c.mesh)] = 1;
      if (g.mesh.empty()) continue;
      const bool named =
          !g.name.empty() && (paired.contains(g.name) || measured_geoms.contains(g.name));
      const bool collides =
          g.contype != 0 || g.conaffinity != 0 || named || measured_bodies.contains(b.name);
      const std::size_t i = ids.at(g.mesh);
      const bool placed = !g.name.empty() && framed.contains(g.name);
      n.any[i] = static_cast<char>(n.any[i] || collides || placed);
      n.hull[i] = static_cast<char>(n.hull[i] || (collides && !g.fitted));
    }
    for (const GeomSpec* g : weighing_geoms(spec, b))
      if (!g->mesh.empty() && g->density != 0 && g->mass != 0) n.any[ids.at(g->mesh)] = 1;
  }
  return n;
}

Triangles triangles_of(const MeshSpec& m, const MeshSource& s,
                       const std::optional<std::string>& content) {
  Triangles t;
  if (content) t = read_triangles(*content, std::filesystem::path(m.file).extension().string());
  if (!s.vertices.empty()) {
    if (!t.vertices.empty())
      throw ModelError("vertices are given in the file, too; keep one of them");
    for (std::size_t i = 0; i + 2 < s.vertices.size(); i += 3)  // in single precision, as in MuJoCo
      t.vertices.emplace_back(static_cast<float>(s.vertices[i]),
                              static_cast<float>(s.vertices[i + 1]),
                              static_cast<float>(s.vertices[i + 2]));
  }
  if (!s.faces.empty()) {
    if (!t.faces.empty()) throw ModelError("faces are given in the file, too; keep one of them");
    for (std::size_t i = 0; i + 2 < s.faces.size(); i += 3)
      t.faces.push_back({s.faces[i], s.faces[i + 1], s.faces[i + 2]});
  }
  return t;
}

void missing(const MeshSpec& m, MeshSource& s, const AssetFiles& files) {
  mark(*s.element, "file", Use::ignored, false,
       "file not found: " + files.looked(*s.element, m.file) + "; MuJoCo does not load the model");
}

Vec3 half_sizes(const MeshShape& mesh) {
  return mesh.low.cwiseAbs().cwiseMax(mesh.high.cwiseAbs());
}

void load(const MeshSpec& m, MeshSource& s, bool needs_hull, const AssetFiles& files) {
  Element& e = *s.element;
  const char* attribute = m.file.empty() ? "vertex" : "file";
  if (!m.file.empty() && !files.there(e, m.file)) return missing(m, s, files);
  if (m.file.empty() && s.vertices.empty()) return;  // a shape that MuJoCo generates
  try {
    std::optional<std::string> content;
    if (!m.file.empty()) content = files.read(e, m.file);
    s.settings.scale = Vec3(m.scale[0], m.scale[1], m.scale[2]);
    s.settings.needs_hull = needs_hull;
    s.shape = mesh_shape(triangles_of(m, s, content), s.settings);
  } catch (const ModelError& problem) {
    fail(e, attribute, problem.what());
  }
  require_within(e, attribute, half_sizes(*s.shape).maxCoeff(), kLengthBound);
  if (s.shape->hollow)
    mark(e, attribute, Use::mapped, false,
         "not convex: what touches it meets its convex hull, as in MuJoCo; give its parts as geoms "
         "of their own to keep the hollows");
}

// A visual mesh gives its geoms their frames. Motion does not need them: an unreadable one is not an error.
void load_shown(const MeshSpec& m, MeshSource& s, const AssetFiles& files) {
  Element& e = *s.element;
  const char* attribute = m.file.empty() ? "vertex" : "file";
  try {
    load(m, s, false, files);
    if (!s.shape) return;
    s.shape->hull.clear(), s.shape->hull_faces.clear();  // without faces, the inertia needed it
    mark(e, attribute, Use::ignored, false,
         "no hull: nothing touches it, weighs by it or has a sensor on it");
  } catch (const ModelError& problem) {
    s.shape.reset();
    mark(e, attribute, Use::ignored, false,
         std::string("not read, geoms of it are in the frame of the file: ") + problem.what());
  }
}

// Places a geom in the frame of its mesh, or of the primitive fitted to the mesh.
void place(const Compiler& compiler, const MeshShape& mesh, GeomSpec& g) {
  Vec3 pos = mesh.pos;
  if (g.fitted) {
    const Fit fit = fitted(mesh, g.fit, compiler.fitaabb);
    pos += mesh.quat * fit.centre;
    g.type = g.fit;
    g.size = g.fitscale * fit.size;
    check_size(*g.element, g.type, g.size);
  } else {
    g.size = half_sizes(mesh);
    g.mesh_volume = mesh.volume, g.mesh_moments = mesh.moments;
  }
  g.pos += g.quat * pos;
  g.quat = (g.quat * mesh.quat).normalized();
}

// Drops sensors on geoms whose mesh is missing, since their frames are unknown.
void drop_sensors_without_frame(
    Spec& spec, const std::map<std::string, const MeshShape*, std::less<>>& shapes) {
  std::map<std::string, std::string, std::less<>> unknown;  // geom -> its mesh
  for (const BodySpec& b : spec.bodies)
    for (const GeomSpec& g : b.geoms)
      if (!g.mesh.empty() && !g.name.empty() && !shapes.contains(g.mesh))
        unknown.emplace(g.name, g.mesh);
  for (SensorSource& source : spec.sensors) {
    SensorSpec& s = source.spec;
    if (s.dim == 0 || s.type == "contact" || measures_distance(s)) continue;
    for (const auto& [type, name] : {std::pair{s.objtype, s.object}, {s.reftype, s.reference}}) {
      if (type != "geom" || !unknown.contains(name)) continue;
      s.dim = 0;
      mark(*source.element, Use::ignored, false,
           "the frame of geom \"" + shown(name) + "\" follows from mesh \"" +
               shown(unknown.at(name)) + "\", whose file is not there");
      break;
    }
  }
}

}  // namespace

void load_meshes(Spec& spec, const AssetFiles& files) {
  const Needs n = needs(spec);
  for (std::size_t i = 0; i < spec.meshes.size(); ++i) {
    if (n.any[i])
      load(spec.meshes[i], spec.mesh_sources[i], n.hull[i] != 0, files);
    else
      load_shown(spec.meshes[i], spec.mesh_sources[i], files);
  }
  std::map<std::string, const MeshShape*, std::less<>> shapes;
  for (std::size_t i = 0; i < spec.meshes.size(); ++i)
    if (spec.mesh_sources[i].shape)
      shapes.emplace(spec.meshes[i].name, &*spec.mesh_sources[i].shape);
  for (BodySpec& b : spec.bodies)
    for (GeomSpec& g : b.geoms)
      if (const auto it = shapes.find(g.mesh); it != shapes.end())
        place(spec.compiler_of(*g.element), *it->second, g);
  drop_sensors_without_frame(spec, shapes);
}

namespace {

void add_faces(const MeshShape& shape, Model& m) {
  const HullFaces found = hull_faces(shape.hull, shape.hull_faces);
  m.mesh_polyadr.push_back(static_cast<int>(m.mesh_polyvertadr.size()));
  m.mesh_polynum.push_back(static_cast<int>(found.faces.size()));
  for (const HullFace& f : found.faces) {
    m.mesh_polynormal.insert(m.mesh_polynormal.end(), f.normal.data(), f.normal.data() + 3);
    m.mesh_polyvertadr.push_back(static_cast<int>(m.mesh_polyvert.size()));
    m.mesh_polyvertnum.push_back(static_cast<int>(f.corners.size()));
    m.mesh_polyvert.insert(m.mesh_polyvert.end(), f.corners.begin(), f.corners.end());
  }
  std::vector<std::set<int>> at_vertex(shape.hull.size());
  for (std::size_t t = 0; t < shape.hull_faces.size(); ++t)
    for (const int v : shape.hull_faces[t])
      at_vertex[static_cast<std::size_t>(v)].insert(found.of_triangle[t]);
  for (const std::set<int>& faces : at_vertex) {
    m.mesh_polymapadr.push_back(static_cast<int>(m.mesh_polymap.size()));
    m.mesh_polymapnum.push_back(static_cast<int>(faces.size()));
    m.mesh_polymap.insert(m.mesh_polymap.end(), faces.begin(), faces.end());
  }
}

}  // namespace

void add_meshes(const Spec& spec, Model& m) {
  m.meshes = spec.meshes;
  m.nmesh = static_cast<int>(spec.meshes.size());
  const auto append = [](Reals& to, const auto& v) {
    to.insert(to.end(), v.data(), v.data() + v.size());
  };
  for (const MeshSource& s : spec.mesh_sources) {
    const MeshShape shape = s.shape.value_or(MeshShape{});
    append(m.mesh_pos, shape.pos);
    append(m.mesh_quat, std::array{shape.quat.w(), shape.quat.x(), shape.quat.y(), shape.quat.z()});
    append(m.mesh_size, half_sizes(shape));
    m.mesh_volume.push_back(shape.volume);
    append(m.mesh_inertia, shape.moments);
    m.mesh_vertadr.push_back(static_cast<int>(m.mesh_vert.size() / 3));
    m.mesh_vertnum.push_back(static_cast<int>(shape.hull.size()));
    m.mesh_faceadr.push_back(static_cast<int>(m.mesh_face.size() / 3));
    m.mesh_facenum.push_back(static_cast<int>(shape.hull_faces.size()));
    for (const Vec3& v : shape.hull) append(m.mesh_vert, v);
    for (const auto& f : shape.hull_faces)
      m.mesh_face.insert(m.mesh_face.end(), f.begin(), f.end());
    add_faces(shape, m);
  }
}

}  // namespace stiction::model

// <asset>, <contact>: relations between named elements.
#include "model/read/read.h"
#include "model/xml/asset_paths.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

std::string asset_name(Spec& spec, std::string_view kind, Element& e, const std::string& file) {
  if (e.has("name")) return claim_name(spec, kind, e);
  const std::string name = stem(file);
  if (name.empty()) fail(e, "needs a name or a file");
  auto& owners = spec.names[std::string(kind)];
  if (!owners.try_emplace(name, &e).second) {
    fail(e, "file",
         "the name \"" + shown(name) + "\" that follows from it is taken; add name=\"...\"");
  }
  return name;
}

// Reads numbers given in the element itself, and the transformation of the coordinates.
void read_triangles(Element& e, MeshSource& m) {
  exactly(e, "refpos", kLengthBound, m.settings.refpos);
  if (std::array<double, 4> q{}; exactly(e, "refquat", q)) {
    m.settings.refquat = Quat(q[0], q[1], q[2], q[3]);
    if (!(m.settings.refquat.norm() > 1e-14))
      fail(e, "refquat", "a quaternion of length zero is no rotation");
    m.settings.refquat.normalize();
  }
  if (const auto v = numbers(e, "vertex")) {
    if (v->size() % 3 != 0) fail(e, "vertex", "expected three numbers a vertex");
    m.vertices = *v;
  }
  if (const auto f = numbers(e, "face")) {
    if (f->size() % 3 != 0) fail(e, "face", "expected three indices a face");
    for (const double i : *f) {
      if (i != static_cast<int>(i)) fail(e, "face", shown(i) + " is no index of a vertex");
      m.faces.push_back(static_cast<int>(i));
    }
  }
}

}  // namespace

void read_mesh(Element& e, std::array<double, 3>& scale, MeshSource& m) {
  if (exactly(e, "scale", kRatioBound, scale))
    for (const double s : scale)
      if (s == 0) fail(e, "scale", "a scale of zero leaves nothing");
  if (const auto i = choice(e, "inertia", {"convex", "exact", "legacy", "shell"}))
    m.settings.inertia = static_cast<MeshInertia>(*i);
  if (const auto n = integer(e, "maxhullvert")) {
    if (*n != -1 && *n < 4) fail(e, "maxhullvert", "a hull has at least 4 vertices; -1 for all");
    m.settings.maxhullvert = *n;
  }
}

void read_assets(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    if (child.name == "mesh") {
      MeshSpec m;
      m.file = text(child, "file").value_or("");
      m.name = asset_name(spec, "mesh", child, m.file);
      const DefaultClass& c = class_of(spec, child, "main");
      m.scale = c.mesh_scale;
      MeshSource source = c.mesh;
      source.element = &child;
      read_mesh(child, m.scale, source);
      read_triangles(child, source);
      spec.meshes.push_back(std::move(m));
      spec.mesh_sources.push_back(std::move(source));
      for (auto& inner : child.children) mark(inner, Use::refused, true, "plugins can't be run");
    } else if (child.name == "hfield") {
      HfieldSpec h;
      h.file = text(child, "file").value_or("");
      h.name = asset_name(spec, "hfield", child, h.file);
      h.nrow = integer(child, "nrow").value_or(0);
      h.ncol = integer(child, "ncol").value_or(0);
      require_nonnegative(child, "nrow", h.nrow);
      require_nonnegative(child, "ncol", h.ncol);
      if (!exactly(child, "size", h.size)) fail(child, "attribute size is required: 4 numbers");
      for (const double v : h.size) require_positive(child, "size", v);
      require_within(child, "size", h.size, kLengthBound);
      HfieldSource source{&child, numbers(child, "elevation").value_or(std::vector<double>{}), {}};
      if (!h.file.empty() && !source.elevation.empty())
        fail(child, "elevation", "the elevations are in the file, too; keep one of them");
      spec.hfields.push_back(std::move(h));
      spec.hfield_sources.push_back(std::move(source));
    } else if (child.name == "model") {
      const Attribute* file = child.find("file");  // read when it is attached
      text(child, "content_type");
      if (!file || !file->touched) mark(child, Use::ignored, false, "no <attach> takes it");
    } else {
      mark(child, Use::ignored, false, "graphics");
    }
  }
}

void read_pair(Element& e, PairSource& source) {
  source.written.note(e);
  PairSpec& p = source.spec;
  if (const auto v = integer(e, "condim")) {
    if (*v != 1 && *v != 3 && *v != 4 && *v != 6) fail(e, "condim", "expected 1, 3, 4 or 6");
    p.condim = *v;
  }
  std::array<double, 5> friction{1, 1, 0.005, 0.0001, 0.0001};
  if (p.friction) friction[0] = *p.friction, friction[1] = *p.friction2;
  friction[2] = p.torsion.value_or(friction[2]);
  friction[3] = friction[4] = p.rolling.value_or(friction[3]);
  if (const int given = numbers_into(e, "friction", friction, 1); given > 0) {
    if (given == 1) friction[1] = friction[0];
    for (const double mu : friction) require_nonnegative(e, "friction", mu, kFrictionBound);
    p.friction = friction[0], p.friction2 = friction[1];
    p.torsion = friction[2], p.rolling = friction[3];
  }
  if (double margin = 0; read_within(e, "margin", kLengthBound, margin)) p.margin = margin;
  constexpr const char* kMapped = "mapped to stiffness and dissipation";
  std::array<double, 2> solref = p.solref.value_or(std::array<double, 2>{0.02, 1});
  std::array<double, 5> solimp = p.solimp.value_or(std::array<double, 5>{0.9, 0.95, 0.001, 0.5, 2});
  if (read_solver(e, solref, solimp)) {
    p.solref = solref;
    p.solimp = solimp;
    mark(e, "solref", Use::mapped, false, kMapped);
    mark(e, "solimp", Use::mapped, false, kMapped);
  }
}

void read_contacts(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    claim_name(spec, child.name, child);
    if (child.name == "exclude") {
      const std::string a = required_text(child, "body1"), b = required_text(child, "body2");
      require_name(spec, "body", child, "body1", a);
      require_name(spec, "body", child, "body2", b);
      spec.excludes.emplace_back(a, b);
      continue;
    }
    PairSource p = class_of(spec, child, "main").pair;
    p.element = &child;
    p.geom1 = required_text(child, "geom1");
    p.geom2 = required_text(child, "geom2");
    require_name(spec, "geom", child, "geom1", p.geom1);
    require_name(spec, "geom", child, "geom2", p.geom2);
    if (p.geom1 == p.geom2) fail(child, "geom2", "a geom can't touch itself; name two geoms");
    read_pair(child, p);
    judge(p);
    spec.pairs.push_back(std::move(p));
  }
}

}  // namespace stiction::model

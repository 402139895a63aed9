// A Model that travels: pickled as what it was loaded from and what was changed since.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "module.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

// Files may be anything: bytes.
using Files = std::map<std::string, nb::bytes>;
Files to_bytes(const Assets& assets) {
  Files files;
  for (const auto& [name, content] : assets)
    files.emplace(name, nb::bytes(content.data(), content.size()));
  return files;
}
Assets to_assets(const Files& files) {
  Assets assets;
  for (const auto& [name, content] : files)
    assets.emplace(name, std::string(content.c_str(), content.size()));
  return assets;
}

// A change as Python keeps it: geom, stiffness, dissipation, friction, relaxation_time; or name, rows, columns and
// elevations as they lie in memory; or geom and mesh; or one number.
using Material = std::tuple<int, double, double, std::optional<double>, double>;
using HfieldData = std::tuple<std::string, int, int, nb::bytes>;
using MeshOfGeom = std::tuple<int, int>;

nb::object to_python(const Change& change) {
  if (const auto* t = std::get_if<NewTimestep>(&change)) return nb::cast(t->timestep);
  if (const auto* h = std::get_if<NewHfieldData>(&change))
    return nb::cast(HfieldData{h->name, h->nrow, h->ncol,
                               nb::bytes(h->data.data(), h->data.size() * sizeof(double))});
  if (const auto* c = std::get_if<NewMesh>(&change)) return nb::cast(MeshOfGeom{c->geom, c->mesh});
  const auto& [geom, m] = std::get<NewMaterial>(change);
  return nb::cast(Material{geom, m.stiffness, m.dissipation, m.friction, m.relaxation_time});
}
Change from_python(const nb::object& o) {
  if (nb::isinstance<nb::float_>(o)) return NewTimestep{nb::cast<double>(o)};
  if (HfieldData h; nb::try_cast(o, h)) {
    const auto& [name, nrow, ncol, bytes] = h;
    std::vector<double> data(bytes.size() / sizeof(double));
    std::memcpy(data.data(), bytes.c_str(), data.size() * sizeof(double));
    return NewHfieldData{name, nrow, ncol, std::move(data)};
  }
  if (MeshOfGeom c; nb::try_cast(o, c)) return NewMesh{std::get<0>(c), std::get<1>(c)};
  const auto [geom, stiffness, dissipation, friction, relaxation_time] = nb::cast<Material>(o);
  return NewMaterial{geom, {stiffness, dissipation, friction, relaxation_time}};
}

constexpr int kVersion = 2;
// version; path, xml, directory; assets, files; strict, urdf; changes
using State = std::tuple<int, std::string, nb::bytes, std::string, Files, Files, bool, UrdfOptions,
                         std::vector<nb::object>>;

State state_of(const LoadedModel& m) {
  const ModelSource& s = *m.source;
  std::vector<nb::object> changes;
  for (const Change& c : m.changes) changes.push_back(to_python(c));
  return {kVersion,
          s.path,
          nb::bytes(s.xml.data(), s.xml.size()),
          s.directory,
          to_bytes(s.assets),
          to_bytes(s.files),
          s.options.strict,
          s.urdf,
          changes};
}

// Nothing is warned of: who loaded it first was.
void restore(LoadedModel* self, const State& state) {
  const auto& [version, path, xml, directory, assets, files, strict, urdf, changes] = state;
  if (version != kVersion)
    throw Error("a pickled Model of version " + std::to_string(version) + "; this stiction reads " +
                std::to_string(kVersion) + ": load its file again");
  const auto source =
      std::make_shared<ModelSource>(ModelSource{path,
                                                std::string(xml.c_str(), xml.size()),
                                                directory,
                                                to_assets(assets),
                                                {strict},
                                                urdf,
                                                to_assets(files)});
  const auto report = std::make_shared<LoadReport>();
  LoadedModel m{load_model_again(*source, report.get()), report, source};
  for (const nb::object& c : changes) m = *changed(m, from_python(c));
  new (self) LoadedModel(std::move(m));
}

}  // namespace

std::shared_ptr<LoadedModel> changed(const LoadedModel& m, const Change& change) {
  auto result = std::make_shared<LoadedModel>(m);
  if (const auto* t = std::get_if<NewTimestep>(&change)) {
    result->model = with_timestep(m.model, t->timestep);
  } else if (const auto* h = std::get_if<NewHfieldData>(&change)) {
    result->model = with_hfield_data(*m.model, h->name, h->nrow, h->ncol, h->data);
  } else if (const auto* c = std::get_if<NewMesh>(&change)) {
    result->model = with_mesh(*m.model, c->geom, c->mesh);
  } else {
    const auto& [geom, material] = std::get<NewMaterial>(change);
    result->model = with_contact_material(*m.model, geom, material);
  }
  result->changes.push_back(change);
  return result;
}

void bind_model_copies(nb::class_<LoadedModel>& c) {
  c.def("__getstate__", &state_of, nb::sig("def __getstate__(self) -> object"));
  c.def("__setstate__", &restore, nb::sig("def __setstate__(self, state: object, /) -> None"));
  // it never changes
  c.def(
      "__copy__", [](const nb::object& self) { return self; },
      nb::sig("def __copy__(self) -> Model"));
  c.def(
      "__deepcopy__", [](const nb::object& self, const nb::object&) { return self; },
      nb::arg("memo"), nb::sig("def __deepcopy__(self, memo: object) -> Model"));
}

}  // namespace stiction::python

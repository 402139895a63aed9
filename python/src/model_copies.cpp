// A Model that travels: pickled as what it was loaded from and what was changed since.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <filesystem>
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

// A change as Python keeps it: geom, stiffness, dissipation, friction, relaxation_time, restitution; or name, rows, columns and
// elevations as they lie in memory; or geom and mesh; or one number.
using Material = std::tuple<int, double, double, std::optional<double>, double, double>;
using HfieldData = std::tuple<std::string, int, int, nb::bytes>;
using MeshOfGeom = std::tuple<int, int>;

nb::object to_python(const Change& change) {
  if (const auto* t = std::get_if<NewTimestep>(&change)) return nb::cast(t->timestep);
  if (const auto* h = std::get_if<NewHfieldData>(&change))
    return nb::cast(HfieldData{h->name, h->nrow, h->ncol,
                               nb::bytes(h->data.data(), h->data.size() * sizeof(double))});
  if (const auto* c = std::get_if<NewMesh>(&change)) return nb::cast(MeshOfGeom{c->geom, c->mesh});
  const auto& [geom, m] = std::get<NewMaterial>(change);
  return nb::cast(
      Material{geom, m.stiffness, m.dissipation, m.friction, m.relaxation_time, m.restitution});
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
  const auto [geom, stiffness, dissipation, friction, relaxation_time, restitution] =
      nb::cast<Material>(o);
  return NewMaterial{geom, {stiffness, dissipation, friction, relaxation_time, restitution}};
}

constexpr int kVersion = 3;
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

namespace {

std::string name_of(const Names& names, int i, const char* what) {
  const std::string& name = names[static_cast<std::size_t>(i)];
  if (name.empty())
    throw ArgumentError(std::string(what) + " of geom " + std::to_string(i) +
                        ", which has no name, can't be written as MJCF: give it one");
  return name;
}

// Later changes in the place of earlier ones; of those of a drawing what shows.
ModelEdits edits(const LoadedModel& m, bool drawing) {
  ModelEdits e;
  const Model& model = *m.model;
  for (const Change& change : m.changes) {
    if (const auto* t = std::get_if<NewTimestep>(&change)) {
      e.timestep = t->timestep;
    } else if (const auto* c = std::get_if<NewMesh>(&change)) {
      e.meshes[name_of(model.geom_names, c->geom, "the mesh")] =
          model.meshes[static_cast<std::size_t>(c->mesh)].name;
    } else if (drawing) {
      continue;
    } else if (const auto* h = std::get_if<NewHfieldData>(&change)) {
      e.hfields[h->name] = {h->nrow, h->ncol, h->data};
    } else {
      const auto& [geom, material] = std::get<NewMaterial>(change);
      if (geom < 0) e.materials.clear();
      const char* what = "the contact material";
      e.materials[geom < 0 ? "" : name_of(model.geom_names, geom, what)] = material;
    }
  }
  return e;
}

SavedModel saved(const LoadedModel& m, bool drawing = false) {
  const ModelEdits e = edits(m, drawing);
  const nb::gil_scoped_release release;
  return save_model(*m.source, e, drawing);
}

}  // namespace

void bind_model_copies(nb::class_<LoadedModel>& c) {
  c.def(
      "to_xml", [](const LoadedModel& self) { return saved(self).xml; },
      "The model as one MJCF text: includes are spliced in, a URDF is the MJCF that means the "
      "same,\n"
      "with_timestep and its kin are in it. `Model.from_xml(m.to_xml(), assets=m.assets())` is the "
      "same\n"
      "model, and MuJoCo reads both. Files have bare names.\n\n"
      "Raises ModelError where a file is missing, with the line that names it, and ArgumentError "
      "where\n"
      "MJCF can't say what the model became after it was loaded.");
  c.def(
      "assets", [](const LoadedModel& self) { return to_bytes(saved(self).files); },
      nb::sig("def assets(self) -> dict[str, bytes]"),
      "Content of the files that `to_xml` names, by name. Raises as it does.");
  c.def(
      "save",
      [](const LoadedModel& self, const std::filesystem::path& folder) {
        SavedModel s = saved(self);
        s.files["model.xml"] = s.xml;  // no asset has that name
        nb::module_::import_("stiction._util.files")
            .attr("write_folder")(folder, to_bytes(s.files));
      },
      nb::arg("folder"),
      "Writes folder/model.xml, which is `to_xml`, and the files that it names.\n\n"
      "Raises as `to_xml` does, and Error where the folder is there already: nothing is "
      "overwritten.");
  c.def(
      "_drawing",
      [](const LoadedModel& self) {
        const SavedModel s = saved(self, true);
        return std::pair{s.xml, to_bytes(s.files)};
      },
      nb::sig("def _drawing(self) -> tuple[str, dict[str, bytes]]"),
      "`to_xml` and `assets` for a picture: what stands for a file that is not there is a mesh of "
      "a\n"
      "millimetre, a flat field, a grey texture; elevations are those of the file.");
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

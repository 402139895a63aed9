// The parts of the module, one file each.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stiction/error.h"
#include "stiction/load.h"
#include "stiction/model.h"
#include "stiction/options.h"
#include "stiction/report.h"

namespace stiction::python {

namespace nb = nanobind;

// An element of a model: by index, or by the name that `find` looks for.
using Key = std::variant<int, std::string>;
inline int index_of(const Model& m, const Key& key, int (Model::*find)(const std::string&) const) {
  if (const int* i = std::get_if<int>(&key)) return *i;
  return (m.*find)(std::get<std::string>(key));
}

// What changed a model after it was loaded: Model.with_contact_material of a geom (-1: of all),
// Model.with_timestep, Model.with_hfield_data or Model.with_mesh.
struct NewMaterial {
  int geom;
  ContactMaterial material;
};
struct NewTimestep {
  double timestep;
};
struct NewHfieldData {
  std::string name;
  int nrow, ncol;
  std::vector<double> data;
};
struct NewMesh {
  int geom, mesh;
};
using Change = std::variant<NewMaterial, NewTimestep, NewHfieldData, NewMesh>;

// What Python calls a Model: the shared robot, the report of how it was read, and how it came to be.
struct LoadedModel {
  ModelPtr model;
  std::shared_ptr<const LoadReport> report;
  std::shared_ptr<const ModelSource> source;
  std::vector<Change> changes = {};
};
std::shared_ptr<LoadedModel> changed(const LoadedModel& m, const Change& change);

// The same model where the options leave its timestep; else it is another.
inline std::shared_ptr<LoadedModel> at_timestep(std::shared_ptr<LoadedModel> m, const Options& o) {
  if (!o.timestep || *o.timestep == m->model->timestep) return m;
  return changed(*m, NewTimestep{*o.timestep});
}

// Arguments of constructors that are easily something else: ArgumentError says what to give.
std::shared_ptr<LoadedModel> model_argument(nb::handle given, const char* what);
std::optional<Options> options_argument(nb::handle given);

// Pickling and copying say what to do in their place.
template <class Class>
void refuse_pickle(Class& c, const char* remedy) {
  c.def(
      "__reduce__", [remedy](const nb::object&) -> nb::object { throw Error(remedy); },
      nb::sig("def __reduce__(self) -> typing.NoReturn"));
}

void bind_types(nb::module_& m);
void bind_report(nb::module_& m);
void bind_model(nb::module_& m, nb::handle model_error);
void bind_model_arrays(nb::class_<LoadedModel>& c);
void bind_model_copies(nb::class_<LoadedModel>& c);
void bind_options(nb::module_& m);
void bind_results(nb::module_& m);
void bind_reference(nb::module_& m);  // after bind_results
void bind_rollout(nb::module_& m);    // after bind_reference
void bind_devices(nb::module_& m);
void bind_batch(nb::module_& m);  // after bind_results
void bind_draw(nb::module_& m);
void bind_env(nb::module_& m);  // after bind_batch
void bind_terrain(nb::module_& m);

}  // namespace stiction::python

// The parts of the module, one file each.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "stiction/model.h"
#include "stiction/options.h"
#include "stiction/report.h"

namespace stiction::python {

namespace nb = nanobind;

// What Python calls a Model: the shared robot and the report of how it was read.
struct LoadedModel {
  ModelPtr model;
  std::shared_ptr<const LoadReport> report;
};

// The same model where the options leave its timestep; else it is another.
inline std::shared_ptr<LoadedModel> at_timestep(std::shared_ptr<LoadedModel> m, const Options& o) {
  if (!o.timestep || *o.timestep == m->model->timestep) return m;
  return std::make_shared<LoadedModel>(
      LoadedModel{with_timestep(m->model, *o.timestep), m->report});
}

void bind_types(nb::module_& m);
void bind_report(nb::module_& m);
void bind_model(nb::module_& m, nb::handle model_error);
void bind_model_arrays(nb::class_<LoadedModel>& c);
void bind_options(nb::module_& m);
void bind_results(nb::module_& m);
void bind_reference(nb::module_& m);  // after bind_results
void bind_rollout(nb::module_& m);    // after bind_reference
void bind_devices(nb::module_& m);
void bind_batch(nb::module_& m);  // after bind_results
void bind_draw(nb::module_& m);
void bind_env(nb::module_& m);  // after bind_batch

}  // namespace stiction::python

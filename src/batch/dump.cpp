// Writes one environment as JSON, for `stiction replay`.
#include <nlohmann/json.hpp>

#include "batch/impl.h"
#include "files.h"
#include "stiction/option_names.h"

namespace stiction {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Options& o) {
  return {{"timestep", *o.timestep},
          {"contact_model", name_of(o.contact_model)},
          {"stiction", name_of(o.stiction)},
          {"stiction_tolerance", o.stiction_tolerance},
          {"regularization", o.regularization},
          {"near_rigid", o.near_rigid},
          {"solver_tolerance", *o.solver_tolerance},
          {"max_iterations", o.max_iterations},
          {"friction_iterations", o.friction_iterations > 0 ? ordered_json(o.friction_iterations)
                                  : o.friction_iterations == kAutoFriction
                                      ? ordered_json(kAutoName)
                                      : ordered_json(kFixedPointName)},
          {"friction_tolerance", *o.friction_tolerance},
          {"contact_pairs", name_of(o.contact_pairs)},
          {"limits", name_of(o.limits)},
          {"friction_combination", name_of(o.friction_combination)},
          {"gyroscopic", name_of(o.gyroscopic)},
          {"mocap_velocity", name_of(o.mocap_velocity)}};
}

}  // namespace

void Batch::dump(int env, const std::string& path) const {
  impl_->check_ids(std::span(&env, 1), false);
  const Visit visit(impl_->guard);
  impl_->fetch(kStateRows | kInputRows | kParamRows | kStatusRows, std::span(&env, 1));
  const auto numbers = [&](FieldKind kind) {
    ordered_json group = ordered_json::object();
    for_fields(impl_->host.specs(), {kind}, [&](Field f, const FieldSpec& s) {
      if (impl_->rows[at(f)] != nullptr) group[s.name] = impl_->numbers(f, env);
    });
    return group;
  };
  // the model's own name if it came from a string: replay then needs the model as an argument
  const ordered_json dump = {
      {"format", "stiction dump 1"},
      {"model", {{"file", model().file}, {"name", model().name}}},
      {"options", to_json(options())},
      {"precision", precision() == Precision::float64 ? "float64" : "float32"},
      {"env", env},
      {"status", impl_->status[at(env)]},
      {"status_step", impl_->status_step[at(env)]},
      {"state", numbers(FieldKind::state)},
      {"inputs", numbers(FieldKind::input)},
      {"parameters", numbers(FieldKind::param)}};
  // names may be invalid UTF-8
  const std::string text = dump.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  replace_file(path, text.data(), text.size());
}

}  // namespace stiction

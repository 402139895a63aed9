// Names and views of the fields.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "batch/impl.h"
#include "names.h"
#include "stiction/text.h"

namespace stiction {
namespace {

constexpr Shape kShapes[] = {
#define X(kind, type, name, rows, columns, producer, meaning) shape_of(#rows, #columns),
#include "physics/base/fields.def"
#undef X
};

bool is_public(const FieldSpec& s) {
  return s.kind != FieldKind::scratch;
}

// Built once: Python looks up an attribute of a batch at every read.
const std::unordered_map<std::string_view, Field>& public_fields() {
  static const std::unordered_map<std::string_view, Field> fields = [] {
    std::unordered_map<std::string_view, Field> by_name;
#define X(kind, type, name, rows, columns, producer, meaning) \
  if constexpr (FieldKind::kind != FieldKind::scratch) by_name.emplace(#name, Field::name);
#include "physics/base/fields.def"
#undef X
    return by_name;
  }();
  return fields;
}

const char* kind_name(FieldKind k) {
  constexpr const char* kNames[] = {"state", "input", "param", "output", "scratch"};
  return kNames[static_cast<int>(k)];
}

ArrayView status_view(const Device* device, const char* name, void* data, DType type, int n) {
  ArrayView v;
  v.name = name;
  v.data = data;
  if (device != nullptr) v.device = device->name();
  v.dtype = type;
  v.ndim = 1;
  v.shape[0] = n;
  v.writable = false;
  return v;
}

}  // namespace

double Batch::Impl::get(const std::byte* row, const FieldSpec& s, int i) const {
  if (number_bytes(s) == 8) return reinterpret_cast<const double*>(row)[i];
  return static_cast<double>(reinterpret_cast<const float*>(row)[i]);
}
void Batch::Impl::set(std::byte* row, const FieldSpec& s, int i, double x) const {
  if (number_bytes(s) == 8)
    reinterpret_cast<double*>(row)[i] = x;
  else
    reinterpret_cast<float*>(row)[i] = static_cast<float>(x);
}
std::vector<double> Batch::Impl::numbers(Field f, int env) const {
  std::vector<double> x(at(spec(f).size()));
  for (int i = 0; i < spec(f).size(); ++i) x[at(i)] = number(f, env, i);
  return x;
}

std::string Batch::Impl::describe(Field f, int env, int i) const {
  const FieldSpec& s = spec(f);
  std::string text = std::string(s.name) + "[" + std::to_string(env);
  if (kShapes[at(f)].rows) text += ", " + std::to_string(i / std::max(1, s.columns));
  if (kShapes[at(f)].columns) text += ", " + std::to_string(i % std::max(1, s.columns));
  return text + "]";
}

Field Batch::Impl::find(const std::string& name) const {
  if (const auto found = public_fields().find(name); found != public_fields().end())
    return found->second;
  std::vector<std::string> names;
  for (const cpu::QuantitySpec& s : cpu::quantity_specs(host.view()))
    if (s.name == name)
      throw ArgumentError("'" + name + "' has no memory of its own: compute(\"" + name +
                          "\") gives its numbers");
  for (const FieldSpec& s : host.specs())
    if (is_public(s)) names.emplace_back(s.name);
  throw ArgumentError("no field named '" + visible(name) + "'" + nearest_names(names, name));
}

ArrayView Batch::Impl::view(Field f) {
  const FieldSpec& s = spec(f);
  ArrayView v;
  v.name = s.name;
  v.data = device != nullptr ? device->rows(f) : rows[at(f)];
  if (device != nullptr) v.device = device->name();
  v.dtype = number_bytes(s) == 8 ? DType::float64 : DType::float32;
  v.ndim = 1;
  v.shape[0] = num_envs();
  if (kShapes[at(f)].rows) v.shape[at(v.ndim++)] = s.rows;
  if (kShapes[at(f)].columns) v.shape[at(v.ndim++)] = s.columns;
  v.writable = s.kind != FieldKind::output;
  return v;
}

ArrayView Batch::field(const std::string& name) {
  const Field f = impl_->find(name);
  if (f == Field::anchor) impl_->anchors.shown = true;
  if (impl_->spec(f).kind != FieldKind::param) return impl_->view(f);  // its address never changes
  const Visit visit(impl_->guard);
  if (!impl_->owns(f))
    throw ArgumentError("'" + name + "' is shared by all environments; param(\"" + name +
                        "\") makes it own to each");
  return impl_->view(f);
}

ArrayView Batch::param(const std::string& name) {
  const Visit visit(impl_->guard);
  const Field f = impl_->find(name);
  if (impl_->spec(f).kind != FieldKind::param)
    throw ArgumentError("'" + name + "' is not a parameter but " + kind_name(impl_->spec(f).kind) +
                        "; see field(\"" + name + "\")");
  impl_->make_own(f);
  return impl_->view(f);
}

bool Batch::param_is_own(const std::string& name) const {
  const Visit visit(impl_->guard);
  return impl_->owns(impl_->find(name));
}

std::vector<FieldInfo> Batch::fields(const Model& model) {
  const cpu::HostModel host(model, resolved(model, {}));
  std::vector<FieldInfo> infos;
  for (const FieldSpec& s : host.specs())
    if (is_public(s))
      infos.push_back({s.name, kind_name(s.kind), s.producer, s.meaning, s.rows, s.columns,
                       s.type == FieldType::wide});
  for (const cpu::QuantitySpec& s : cpu::quantity_specs(host.view()))
    infos.push_back({s.name, "computed", "quantities", s.meaning, s.rows, s.columns, true});
  return infos;
}

ArrayView Batch::status() {
  return status_view(impl_->device.get(), "status", impl_->status_arrays().status, DType::uint32,
                     num_envs());
}
ArrayView Batch::status_step() {
  return status_view(impl_->device.get(), "status_step", impl_->status_arrays().status_step,
                     DType::int32, num_envs());
}

}  // namespace stiction

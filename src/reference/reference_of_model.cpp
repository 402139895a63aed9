// Construction of a Reference and its checks, which a batch uses, too (with STICTION_QUICK nothing else is built).
#include "reference/check_model.h"
#include "stiction/error.h"
#include "stiction/reference.h"

namespace stiction {

using namespace reference;

constexpr double kLogBarrier = 1e-3;  // J: carries 10 N at 0.1 mm
constexpr double kIpcBarrier = 1e4;   // N/m: carries 12 N at half of 1 mm

struct Reference::Impl {
  ModelPtr model;
  Options options;
};

Reference::Reference(ModelPtr model, const Options& options) {
  if (!model) throw ArgumentError("Reference: the model is null");
  validate(options);
  check_model(*model, options);
  if (options.timestep) model = with_timestep(model, *options.timestep);
  impl_ = std::make_unique<Impl>(Impl{std::move(model), options});
  Options& o = impl_->options;
  resolve(o, impl_->model->timestep, 1e-6, 1e-10);
  if (!o.barrier && o.normal_law == NormalLaw::log_barrier) o.barrier = kLogBarrier;
  if (!o.barrier && o.normal_law == NormalLaw::ipc_barrier) o.barrier = kIpcBarrier;
}
Reference::~Reference() = default;
Reference::Reference(Reference&&) noexcept = default;
Reference& Reference::operator=(Reference&&) noexcept = default;

const Model& Reference::model() const {
  return *impl_->model;
}
const Options& Reference::options() const {
  return impl_->options;
}

}  // namespace stiction

// Computations on request, on the CPU: quantities of the current state, Jacobians, contact
// points, inverse dynamics.
#include "batch/compute.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "names.h"
#include "stiction/text.h"

namespace stiction {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr Shape kResultShapes[] = {
#define X(name, rows, columns, meaning) shape_of(#rows, #columns),
#include "physics/base/quantities.def"
#undef X
};

// A block of wide numbers per thread, and the scatter of its lanes to rows of `size` numbers.
class Blocks {
 public:
  Blocks(const Batch::Impl& impl, int size) : impl_(impl), size_(size) {
    for (int i = 0; i < impl.pool->size(); ++i)
      blocks_.emplace_back(impl.kernels.wide_bytes * at(size));
  }

  void* at_worker(int worker) const { return blocks_[at(worker)].data(); }
  // Scatters to and gathers from the rows of a pack's places.
  void store(int worker, std::span<const int> places, double* rows) const {
    void* to[kMaxLanes] = {};
    for (std::size_t lane = 0; lane < places.size(); ++lane)
      to[lane] = rows + at(places[lane]) * at(size_);
    impl_.kernels.store(true, size_, at_worker(worker), to);
  }
  void load(int worker, std::span<const int> places, const double* rows) const {
    const void* from[kMaxLanes];
    for (int lane = 0; lane < impl_.kernels.lanes; ++lane)
      from[lane] = rows + at(lane_of(places, lane)) * at(size_);
    impl_.kernels.load(true, size_, from, at_worker(worker));
  }

 private:
  const Batch::Impl& impl_;
  int size_;
  std::vector<cpu::Buffer> blocks_;
};

// Replaces the block of a field for the lifetime of this object.
class Replaced {
 public:
  Replaced(void*& field, void* by) : field_(field), before_(std::exchange(field, by)) {}
  ~Replaced() { field_ = before_; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  void*& field_;
  void* before_;
};

void require_index(const char* what, int i, int n) {
  if (i >= 0 && i < n) return;
  throw ArgumentError(std::string(what) + " " + std::to_string(i) + ": must be in [0, " +
                      std::to_string(n) + ")");
}

int count_of(const Model& m, ObjectType type) {
  switch (type) {
    case ObjectType::body:
    case ObjectType::xbody: return m.nbody;
    case ObjectType::geom: return m.ngeom;
    case ObjectType::site: return m.nsite;
    default: throw ArgumentError("jacobian: of a body, xbody, geom or site only");
  }
}

// Splits rows (2,3,nv) into their halves.
Jacobian split(const std::vector<double>& both, std::size_t half) {
  Jacobian j;
  for (std::size_t i = 0; i < both.size(); i += 2 * half) {
    const auto row = both.begin() + static_cast<std::ptrdiff_t>(i);
    const auto middle = row + static_cast<std::ptrdiff_t>(half);
    j.position.insert(j.position.end(), row, middle);
    j.rotation.insert(j.rotation.end(), middle, middle + static_cast<std::ptrdiff_t>(half));
  }
  return j;
}

}  // namespace

Computed Batch::Impl::compute(physics::Quantity which) {
  const auto index = static_cast<std::size_t>(which);
  const cpu::QuantitySpec s = cpu::quantity_specs(host.view())[index];
  const int size = s.size();
  Computed result{std::vector<double>(at(num_envs()) * at(size), kNaN), {num_envs()}};
  if (kResultShapes[index].rows) result.shape.push_back(s.rows);
  if (kResultShapes[index].columns) result.shape.push_back(s.columns);
  std::vector<double>& out = result.numbers;
  const Blocks blocks(*this, size);
  fetch_all(kGivenRows);
  each_pack(*this, all_ids(num_envs()), [&](int worker, Workspace& w, std::span<const int> places) {
    const auto stages =
        which == physics::Quantity::friction_error ? kernels.forces : kernels.dynamics;
    stages(host.view(), w.fields.data());
    kernels.quantity(host.view(), w.fields.data(), which, blocks.at_worker(worker));
    blocks.store(worker, places, out.data());
  });
  return result;
}

Jacobian Batch::Impl::jacobian(ObjectType type, int id, const double* points) {
  const int half = 3 * model->nv;
  std::vector<double> out(2 * at(num_envs()) * at(half), kNaN);
  const Blocks blocks(*this, 2 * half), where(*this, 3);
  fetch_all(kGivenRows);
  each_pack(*this, all_ids(num_envs()), [&](int worker, Workspace& w, std::span<const int> places) {
    if (points != nullptr) where.load(worker, places, points);
    kernels.dynamics(host.view(), w.fields.data());
    kernels.jacobian(host.view(), w.fields.data(), static_cast<int>(type), id,
                     points != nullptr ? where.at_worker(worker) : nullptr,
                     blocks.at_worker(worker));
    blocks.store(worker, places, out.data());
  });
  return split(out, at(half));
}

// Actuators with zero gain and bias exert no force, and applied forces count as zero.
std::vector<double> Batch::Impl::inverse(std::span<const double> qacc) {
  const FieldSpec& s = spec(Field::qacc);
  const std::size_t n = at(num_envs()), bytes = row_bytes(s);
  cpu::Buffer rows_in(n * bytes), rows_out(n * bytes);
  const cpu::Buffer none(block_bytes(spec(Field::actuator_gain)));
  for (std::size_t env = 0; env < n; ++env)
    for (int i = 0; i < s.size(); ++i) {
      set(rows_in.data() + env * bytes, s, i, qacc[env * at(s.size()) + at(i)]);
      set(rows_out.data() + env * bytes, s, i, kNaN);
    }
  fetch_all(kGivenRows);
  each_pack(*this, all_ids(num_envs()), [&](int, Workspace& w, std::span<const int> places) {
    const void* from[kMaxLanes];
    void* to[kMaxLanes] = {};
    for (int lane = 0; lane < kernels.lanes; ++lane)
      from[lane] = rows_in.data() + at(lane_of(places, lane)) * bytes;
    for (std::size_t lane = 0; lane < places.size(); ++lane)
      to[lane] = rows_out.data() + at(places[lane]) * bytes;
    kernels.load(false, s.size(), from, w.fields[at(Field::qacc)]);
    for (const Field f : {Field::ctrl, Field::qfrc_applied, Field::xfrc_applied})
      std::memset(w.fields[at(f)], 0, block_bytes(spec(f)));
    const Replaced gain(w.fields[at(Field::actuator_gain)], none.data());
    const Replaced bias(w.fields[at(Field::actuator_bias)], none.data());
    kernels.inverse(host.view(), w.fields.data());
    kernels.store(false, s.size(), w.fields[at(Field::qfrc_applied)], to);
  });
  std::vector<double> out(n * at(s.size()));
  for (std::size_t env = 0; env < n; ++env)
    for (int i = 0; i < s.size(); ++i)
      out[env * at(s.size()) + at(i)] = get(rows_out.data() + env * bytes, s, i);
  return out;
}

Computed Batch::compute(const std::string& name) const {
  const cpu::QuantitySpecs specs = cpu::quantity_specs(impl_->host.view());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name != name) continue;
    const Visit visit(impl_->guard);
    return impl_->compute(static_cast<physics::Quantity>(i));
  }
  std::vector<std::string> names;
  for (const cpu::QuantitySpec& s : specs) names.emplace_back(s.name);
  throw ArgumentError("nothing named '" + visible(name) + "' is computed on request" +
                      nearest_names(names, name));
}

Jacobian Batch::jacobian(ObjectType type, int id) const {
  require_index("jacobian: object", id, count_of(model(), type));
  const Visit visit(impl_->guard);
  return impl_->jacobian(type, id, nullptr);
}

Jacobian Batch::jacobian(int body, std::span<const double> points) const {
  require_index("jacobian: body", body, model().nbody);
  if (points.size() != 3 * at(num_envs()))
    throw ArgumentError("jacobian: points has " + std::to_string(points.size()) + " numbers, " +
                        std::to_string(num_envs()) + " environments need " +
                        std::to_string(num_envs()) + " x 3");
  const Visit visit(impl_->guard);
  return impl_->jacobian(ObjectType::xbody, body, points.data());
}

std::vector<double> Batch::inverse(std::span<const double> qacc) const {
  const std::size_t nv = at(model().nv);
  if (qacc.size() != at(num_envs()) * nv)
    throw ArgumentError("inverse: qacc has " + std::to_string(qacc.size()) + " numbers, " +
                        std::to_string(num_envs()) + " environments need " +
                        std::to_string(num_envs()) + " x " + std::to_string(nv));
  for (std::size_t i = 0; i < qacc.size(); ++i)
    if (!std::isfinite(qacc[i]))
      throw ArgumentError("inverse: qacc[" + std::to_string(i / nv) + ", " +
                          std::to_string(i % nv) + "] = " + std::to_string(qacc[i]) +
                          ": must be finite");
  const Visit visit(impl_->guard);
  return impl_->inverse(qacc);
}

}  // namespace stiction

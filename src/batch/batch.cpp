#include "stiction/batch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>

#include "batch/impl.h"
#include "cpu/dispatch.h"
#include "cpu/machine.h"
#include "stiction/text.h"

namespace stiction {
namespace {

constexpr std::initializer_list<FieldKind> kDense = {FieldKind::state, FieldKind::input,
                                                     FieldKind::output};
constexpr std::initializer_list<FieldKind> kBlocked = {FieldKind::state, FieldKind::input,
                                                       FieldKind::output, FieldKind::scratch};

const cpu::Kernels& kernels_of(Precision p) {
  return p == Precision::float64 ? cpu::float64_kernels() : cpu::float32_kernels();
}

// Return the bytes of a field in a dense row, and in a block.
std::size_t dense_bytes(const FieldSpec& s, Precision p) {
  return at(s.size()) * (s.type == FieldType::wide || p == Precision::float64 ? 8 : 4);
}
std::size_t blocked_bytes(const FieldSpec& s, const cpu::Kernels& k) {
  const std::size_t one = s.type == FieldType::wide   ? k.wide_bytes
                          : s.type == FieldType::real ? k.real_bytes
                                                      : sizeof(int);
  return cpu::whole_lines(one * at(s.size()));
}

// On a device a single workspace remains, for contacts().
int thread_count(const BatchOptions& o, const cpu::Kernels& k) {
  if (o.device != "cpu") return 1;
  const int packs = (o.num_envs - 1) / k.lanes + 1;
  return std::min(o.threads.value_or(cpu::available_processors()), packs);
}

// Workspaces per thread: three if two packs are stepped side by side, since their solves share a third one
// (cpu/solve_two.h); one if those would be large, or if there are no two packs.
constexpr std::size_t kPairedBytes = std::size_t{16} << 20;
std::size_t workspaces_of_thread(const BatchOptions& o, const cpu::Kernels& k,
                                 std::size_t blocked) {
  const bool two = o.device == "cpu" && k.step_two != nullptr && o.num_envs > k.lanes;
  return two && blocked <= kPairedBytes ? 3 : 1;
}

void validate(const BatchOptions& o) {
  const auto require = [](bool ok, const char* name, auto value, const char* range) {
    if (ok) return;
    std::ostringstream message;
    message << name << " = " << value << ": must be " << range;
    throw ArgumentError(message.str());
  };
  validate(o.options);
  require_batch_options(o.options);
  require(o.num_envs >= 1, "num_envs", o.num_envs, ">= 1");
  if (o.threads)
    require(*o.threads >= 1 && *o.threads <= 4096, "threads", *o.threads, "in [1, 4096]");
  check_device_name(o.device);
  const std::string where = "device = '" + o.device + "': ";
  if (o.device == "cpu") {
    if (o.options.linear_solver == LinearSolver::cusolver)
      throw ArgumentError(where + "linear_solver = 'cusolver' runs on device = 'cuda' only");
    if (o.stream != 0) throw ArgumentError(where + "has no streams; leave `stream` out");
    return;
  }
  if (o.precision == Precision::float64)
    throw ArgumentError(where + "precision float64 runs on device = 'cpu' only");
  if (o.threads) throw ArgumentError(where + "has no threads; leave `threads` out");
}

BatchMemory memory_of(const cpu::HostModel& host, const BatchOptions& o, const cpu::Kernels& k) {
  const cpu::FieldSpecs& specs = host.specs();
  BatchMemory m;
  std::size_t shared = 0;
  for_fields(specs, kDense,
             [&](Field, const FieldSpec& s) { m.per_env += dense_bytes(s, o.precision); });
  const std::size_t rows = m.per_env;
  m.per_env += sizeof(std::uint32_t) + 2 * sizeof(std::int32_t);
  m.per_env += AnchorSlots::bytes_per_env(host.view().nslot, host.view().nanchor);
  for_fields(specs, kBlocked,
             [&](Field, const FieldSpec& s) { m.per_thread += blocked_bytes(s, k); });
  m.per_thread *= workspaces_of_thread(o, k, m.per_thread);
  for_fields(specs, {FieldKind::param},
             [&](Field, const FieldSpec& s) { shared += blocked_bytes(s, k); });
  m.total = m.per_env * at(o.num_envs) + m.per_thread * at(thread_count(o, k)) + shared;
  if (o.device == "cpu") {
    m.total += sizeof(GroupKey) * at(o.num_envs);
  } else {
    m.mirror = rows * at(o.num_envs);
    m.total -= m.mirror;
  }
  return m;
}

// Throws if `more` bytes, in addition to what is in use, or `total` bytes in all are not available.
void require_memory(std::size_t more, std::size_t total, const std::string& what) {
  const auto mb = [](std::size_t bytes) { return std::to_string(bytes / 1000000) + " MB"; };
  const std::size_t machine = cpu::physical_memory();
  if (machine > 0 && total > machine)
    throw ArgumentError(what + " needs " + mb(total) + ", this machine has " + mb(machine) +
                        "; reduce num_envs");
  const cpu::GroupLimits limits = cpu::group_limits();
  if (more > limits.memory_left)
    throw ArgumentError(what + " needs " + mb(more) + ", of the " + mb(limits.memory) +
                        " that this process's control group (container) may have " +
                        mb(limits.memory_left) + " are left; reduce num_envs");
}

// In single precision the inertia of a rotating free body comes from a difference: moments about its frame minus
// those of its mass at the centre of mass. Beyond 1 + 2/3 r²/k² (distance r, radius of gyration k), 2 % are lost.
constexpr double kFarMass = 0x1p18;

void require_near_masses(const Model& m) {
  for (int j = 0; j < m.njnt; ++j) {
    const int body = m.jnt_bodyid[at(j)];
    if (m.jnt_type[at(j)] != JointType::free ||
        m.dof_invweight0[at(m.jnt_dofadr[at(j)])] * m.body_subtreemass[at(body)] < kFarMass)
      continue;
    throw ArgumentError("body " + std::to_string(body) + " \"" + visible(m.body_names[at(body)]) +
                        "\": its mass is too far from its frame for precision 'float32': put the "
                        "frame where the mass is, or take precision = 'float64'");
  }
}

// Returns the model with the timestep of these options.
ModelPtr model_of(const ModelPtr& m, const BatchOptions& o) {
  if (m == nullptr) throw ArgumentError("model is null");
  validate(o);
  return o.options.timestep ? with_timestep(m, *o.options.timestep) : m;
}

}  // namespace

Options resolved(const Model& model, const BatchOptions& given) {
  validate(given);
  Options o = given.options;
  const bool wide = given.precision == Precision::float64;
  resolve(o, model.timestep, wide ? 1e-6 : 1e-4, wide ? 1e-10 : 1e-5);
  return o;
}

BatchMemory memory_with_task(const Model& model, const BatchOptions& options, int task_kind) {
  const Options all = resolved(model, options);
  const cpu::HostModel host(model, all, options.device != "cpu");
  BatchMemory m = memory_of(host, options, kernels_of(options.precision));
  if (options.device == "cpu") return m;
  m.device = device_bytes({host, all, options});
  m.local = device_local_bytes({host, all, options}, task_kind);
  return m;
}
BatchMemory batch_memory(const Model& model, const BatchOptions& options) {
  return memory_with_task(model, options, -1);
}

std::size_t Batch::Impl::block_bytes(const FieldSpec& s) const {
  return blocked_bytes(s, kernels);
}

Batch::Impl::Impl(ModelPtr m, const BatchOptions& o)
    : model(model_of(m, o)),
      given(o),
      options(resolved(*model, o)),
      kernels(kernels_of(o.precision)),
      host(*model, options, o.device != "cpu"),
      model_hash(host.hash()),
      memory(memory_of(host, o, kernels)),
      poison(std::getenv("STICTION_POISON") != nullptr),
      own(at(kFields)),
      checked(at(kFields)) {
  // a batch refuses everything that the reference engine refuses in a model and its options
  [[maybe_unused]] const Reference refused(model, options);
  if (o.precision == Precision::float32) require_near_masses(*model);
  require_memory(memory.total, memory.total,
                 "a batch of " + std::to_string(o.num_envs) + " environments");
  for (int j = 0; j < model->njnt; ++j) {
    const JointType type = model->jnt_type[at(j)];
    if (type == JointType::free) quaternions.push_back(model->jnt_qposadr[at(j)] + 3);
    if (type == JointType::ball) quaternions.push_back(model->jnt_qposadr[at(j)]);
  }
  try {
    allocate();
  } catch (const std::bad_alloc&) {  // host copies of device rows: address space, not memory
    throw ArgumentError("a batch of " + std::to_string(o.num_envs) + " environments needs " +
                        std::to_string((memory.total + memory.mirror) / 1000000) +
                        " MB of addresses of the host; reduce num_envs");
  }
  if (o.device != "cpu") {
    memory.device = device_bytes({host, options, given});
    device = make_device({host, options, given, reference_row});
  }
  reset(nullptr, o.num_envs);
  run({nullptr, o.num_envs, 0, true});
}

std::vector<RowSpec> Batch::Impl::row_specs(std::initializer_list<FieldKind> kinds) const {
  std::vector<RowSpec> specs;
  for_fields(host.specs(), kinds, [&](Field f, const FieldSpec& s) {
    if (s.size() > 0) specs.push_back({f, s.kind, is_wide(s), s.size(), row_bytes(s), limit(f)});
  });
  return specs;
}

// Allocates dense fields, the model's values as dense rows and as shared blocks, and a workspace per thread.
void Batch::Impl::allocate() {
  const std::size_t n = at(num_envs());
  std::size_t bytes = 0, reference_bytes = 0, shared_bytes = 0, blocked = 0;
  for_fields(host.specs(), kDense,
             [&](Field, const FieldSpec& s) { bytes += cpu::whole_lines(n * row_bytes(s)); });
  for_fields(host.specs(), {FieldKind::state, FieldKind::input, FieldKind::param},
             [&](Field, const FieldSpec& s) { reference_bytes += cpu::whole_lines(row_bytes(s)); });
  for_fields(host.specs(), {FieldKind::param},
             [&](Field, const FieldSpec& s) { shared_bytes += block_bytes(s); });
  for_fields(host.specs(), kBlocked, [&](Field, const FieldSpec& s) { blocked += block_bytes(s); });

  loaded = row_specs({FieldKind::state, FieldKind::input, FieldKind::param});
  stored = row_specs({FieldKind::state, FieldKind::output});
  dense = cpu::Buffer(bytes);
  std::byte* p = dense.data();
  for_fields(host.specs(), kDense, [&](Field f, const FieldSpec& s) {
    rows[at(f)] = p;
    p += cpu::whole_lines(n * row_bytes(s));
  });

  shared = cpu::Buffer(shared_bytes);
  const int threads = thread_count(given, kernels);
  workspaces.resize(at(threads) * workspaces_of_thread(given, kernels, blocked));
  p = shared.data();
  for_fields(host.specs(), {FieldKind::param}, [&](Field f, const FieldSpec& s) {
    kernels.broadcast(is_wide(s), s.size(), host.param(f).data(), p);
    for (Workspace& w : workspaces) w.fields[at(f)] = p;
    p += block_bytes(s);
  });

  for (Workspace& w : workspaces) {
    w.memory = cpu::Buffer(blocked);
    w.own.resize(at(kFields));
    w.counts.iteration_histogram.resize(at(options.max_iterations + 1));
    p = w.memory.data();
    for_fields(host.specs(), kBlocked, [&](Field f, const FieldSpec& s) {
      w.fields[at(f)] = p;
      p += block_bytes(s);
    });
  }
  counts.iteration_histogram.resize(at(options.max_iterations + 1));
  pool = std::make_unique<cpu::ThreadPool>(threads);
  pace = cpu::Pace(threads);

  anchors.allocate(num_envs(), host.view().nslot, host.view().nanchor);
  status.resize(n);
  status_step.assign(n, -1);
  steps.resize(n);
  if (given.device == "cpu") order.resize(n);
  reference = cpu::Buffer(reference_bytes);
  p = reference.data();
  for_fields(host.specs(), {FieldKind::state, FieldKind::input, FieldKind::param},
             [&](Field f, const FieldSpec& s) {
               reference_row[at(f)] = p;
               p += cpu::whole_lines(row_bytes(s));
               const std::vector<double> values = reference_values(f);
               for (int i = 0; i < s.size(); ++i) set(reference_row[at(f)], s, i, values[at(i)]);
             });
}

// The reference pose at rest, inputs zero, equality constraints and mocap bodies as in the model.
std::vector<double> Batch::Impl::reference_values(Field f) const {
  if (spec(f).kind == FieldKind::param) return host.param(f);
  if (f == Field::qpos) return model->qpos0;
  std::vector<double> values(at(spec(f).size()), 0.0);
  if (f == Field::eq_active) values.assign(model->eq_active0.begin(), model->eq_active0.end());
  if (f != Field::mocap_pos && f != Field::mocap_quat) return values;
  const int n = f == Field::mocap_pos ? 3 : 4;
  const Reals& from = f == Field::mocap_pos ? model->body_pos : model->body_quat;
  for (int b = 0; b < model->nbody; ++b)
    if (const int k = model->body_mocapid[at(b)]; k >= 0)
      std::copy_n(&from[at(n * b)], n, &values[at(n * k)]);
  return values;
}

void Batch::Impl::make_own(Field f) {
  if (rows[at(f)] != nullptr) return;
  const FieldSpec& s = spec(f);
  const std::size_t bytes = row_bytes(s) * at(num_envs());
  const bool mirror = given.device != "cpu";
  const std::size_t more = mirror ? 0 : 2 * bytes;
  require_memory(more, memory.total + more, std::string("a batch with its own ") + s.name);
  cpu::Buffer values(bytes), good(mirror ? 0 : bytes);
  for (int env = 0; env < num_envs() && !mirror; ++env)
    for (const cpu::Buffer* to : {&values, &good})
      std::copy_n(reference_row[at(f)], row_bytes(s), to->data() + row_bytes(s) * at(env));
  std::vector<cpu::Buffer> blocks;
  for (std::size_t i = 0; i < workspaces.size(); ++i) blocks.emplace_back(block_bytes(s));
  if (device != nullptr) device->make_own(f);

  host.make_own(f);
  if (device != nullptr) device->model_changed(), memory.device += bytes;
  memory.per_env += row_bytes(s);
  memory.per_thread += block_bytes(s) * (workspaces.size() / at(pool->size()));
  (mirror ? memory.mirror : memory.total) += mirror ? bytes : 2 * bytes;
  memory.total += block_bytes(s) * workspaces.size();
  rows[at(f)] = values.data();
  own[at(f)] = std::move(values);
  checked[at(f)] = std::move(good);
  any_own = true;
  for (std::size_t i = 0; i < workspaces.size(); ++i) {
    workspaces[i].fields[at(f)] = blocks[i].data();
    workspaces[i].own[at(f)] = std::move(blocks[i]);
  }
}

Batch::Batch(ModelPtr model, const BatchOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), options)) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

const Model& Batch::model() const {
  return *impl_->model;
}
const Options& Batch::options() const {
  return impl_->options;
}
int Batch::num_envs() const {
  return impl_->num_envs();
}
std::string Batch::device() const {
  return impl_->device != nullptr ? impl_->device->name() : "cpu";
}
std::string Batch::device_description() const {
  return impl_->device != nullptr ? impl_->device->description() : "";
}
std::vector<KernelInfo> Batch::kernels() const {
  const Visit visit(impl_->guard);
  return impl_->device != nullptr ? impl_->device->kernels() : std::vector<KernelInfo>{};
}
int Batch::device_number() const {
  return impl_->device != nullptr ? impl_->device->number() : 0;
}
int Batch::threads() const {
  return impl_->pool->size();
}
std::string Batch::Impl::isa() const {
  if (device == nullptr) return kernels.name;
  const std::string name = device->name();
  return name.substr(0, name.find(':'));
}
std::string Batch::isa() const {
  return impl_->isa();
}
int Batch::lanes() const {
  return impl_->device != nullptr ? 1 : impl_->kernels.lanes;
}
Precision Batch::precision() const {
  return impl_->given.precision;
}
BatchMemory Batch::memory() const {
  const Visit visit(impl_->guard);
  BatchMemory m = impl_->memory;
  if (impl_->device != nullptr) m.local = impl_->device->local_bytes();
  return m;
}

std::uintptr_t Batch::stream() const {
  return impl_->device != nullptr ? impl_->device->stream() : 0;
}
void Batch::set_stream(std::uintptr_t stream) {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr)
    impl_->device->set_stream(stream);
  else if (stream != 0)
    throw ArgumentError("device = 'cpu': has no streams");
}
void Batch::release_to(std::uintptr_t other) const {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr) impl_->device->release_to(other);
}
void Batch::wait_for(std::uintptr_t other) {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr) impl_->device->wait_for(other);
}
void Batch::copy_memory(void* to, const void* from, std::size_t bytes) const {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr)
    impl_->device->copy(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}
void Batch::synchronize() const {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr) impl_->device->wait();
}

}  // namespace stiction

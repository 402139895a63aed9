#include "cuda/device.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cuda/episodes.cuh"
#include "cuda/local_memory.h"
#include "cuda/rounds.h"
#include "stiction/error.h"

namespace stiction {
namespace cuda {
namespace {

using cpu::Field;
using cpu::FieldKind;
using cpu::kFields;

// Returns the switches that this build and the model support.
Switches switches_for(const DeviceSpec& spec) {
  Switches s = read_switches();
  // rounds with a library use warps, and so does everything else
  const bool rounds = spec.options.linear_solver == LinearSolver::cusolver;
  if (rounds && s.groups[Kernel::solve] == Group::chosen) s.groups = all_in(Group::warp);
  s.groups = groups_of(spec.host.view(), s.groups, spec.given.num_envs);
  if (s.groups.thread() && !fits_thread(spec.host.view()))
    throw ArgumentError(
        "STICTION_CUDA_GROUP = 'thread': the model has contact pairs or a medium, or more than " +
        std::to_string(ThreadSizes::nv) + " dofs or actuators, or more than " +
        std::to_string(ThreadSizes::nbody) + " bodies");
  return s;
}

DeviceLayout layout_of(const DeviceSpec& spec, const Groups& groups) {
  return DeviceLayout(spec, unused_fields(spec.host.view()), groups.thread());
}

std::size_t local_of_card(int bytes_per_thread, int number) {
  int threads = 0, multiprocessors = 0;
  const std::string doing = "asking cuda:" + std::to_string(number) + " for its size";
  check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, number), doing);
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, number), doing);
  return local_memory(bytes_per_thread, threads, multiprocessors);
}

// The default stream cannot be captured, so nothing in a capture can wait for it or it for anything.
bool is_default(std::uintptr_t stream) {
  return stream == 0 || stream_of(stream) == cudaStreamLegacy;
}

// The default stream has two names.
bool same_stream(std::uintptr_t a, std::uintptr_t b) {
  return a == b || (is_default(a) && is_default(b));
}

}  // namespace

CudaDevice::CudaDevice(const DeviceSpec& spec, int number)
    : spec_(spec),
      number_(number),
      n_(spec.given.num_envs),
      switches_(switches_for(spec)),
      layout_(layout_of(spec, switches_.groups)),
      bytes_(layout_.bytes),
      stream_(stream_of(spec.given.stream)),
      own_(at(kFields)),
      poison_(std::getenv("STICTION_POISON") != nullptr) {
  static_assert(kDeviceCounters == kCounters);
  static_assert(sizeof(physics::RoundState) <= DeviceLayout::kRoundBytes);
  static_assert(sizeof(FieldRows) == 2 * sizeof(void*));
  const OnDevice here(number_);
  check_here(make_plan(spec.host.view(), switches_, n_, plan_), ": preparing the kernels");
  if (switches_.times) plan_.clock = &clock_;
  require(layout_.bytes + spec.host.array_bytes(), plan_.most_local_bytes(),
          "a batch of " + std::to_string(n_) + " environments");
  memory_ = device_memory(layout_.bytes);
  staging_ = pinned_memory(layout_.staging_bytes);
  ids_ = pinned_memory(2 * at(n_) * sizeof(int));
  staging_done_ = event(), ids_done_ = event(), order_ = event();
  capture_ = cuda::stream();

  // unwritten memory is NaN, as in the tests without a GPU
  check_here(cudaMemsetAsync(memory_.get(), 0xff, layout_.bytes, stream_), ": clearing memory");
  check_here(cudaMemsetAsync(place(layout_.counters), 0, at(n_) * layout_.counter_bytes, stream_),
             ": clearing counters");
  // the first step orders environments by this count
  const std::size_t niter = at(Field::solver_niter);
  check_here(
      cudaMemsetAsync(place(layout_.first[niter]), 0, at(n_) * layout_.stride[niter], stream_),
      ": clearing counts of iterations");
  std::vector<std::byte> reference(layout_.reference_end - layout_.reference_begin);
  write_reference_rows(spec, layout_, reference.data());
  upload(place(layout_.reference_begin), reference.data(), reference.size());

  std::array<std::byte*, kFields> reference_rows{};
  for (std::size_t f = 0; f < at(kFields); ++f) {
    if (layout_.first[f] != DeviceLayout::kNone)
      fields_.of[f] = {place(layout_.first[f]), layout_.stride[f]};
    if (layout_.reference[f] != DeviceLayout::kNone)
      reference_rows[f] = place(layout_.reference[f]);
  }
  upload_tables();
  upload(place(layout_.tables), reference_rows.data(), sizeof reference_rows);
  if (spec.options.linear_solver == LinearSolver::cusolver) {
    cusolver_ = std::make_unique<Cusolver>();
    waiting_ = pinned_memory(sizeof(std::int32_t));
    std::vector<float*> addresses;
    const std::size_t nv = at(spec.host.view().nv);
    for (const auto& [begin, numbers] :
         {std::pair(layout_.matrices, nv * nv), std::pair(layout_.vectors, nv)})
      for (int env = 0; env < n_; ++env)
        addresses.push_back(place_of<float>(begin) + at(env) * numbers);
    upload(place(layout_.addresses), addresses.data(), addresses.size() * sizeof addresses[0]);
  }
  model_changed();
  for (const int steps : {0, 1}) (void)graph(steps);
}

CudaDevice::~CudaDevice() {
  finish_work(number_);
}

std::string CudaDevice::description() const {
  std::ostringstream text;
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, number_) == cudaSuccess)
    text << p.name << ", compute capability " << p.major << "." << p.minor << ", "
         << p.multiProcessorCount << " multiprocessors";
  text << "; " << bytes() / 1000000 << " MB for " << n_ << " environments, "
       << local_bytes_ / 1000000 << " MB of local memory";
  if (cusolver_ != nullptr) text << "; linear systems by " << cusolver_->path();
  for (int k = 0; k < kKernels; ++k) {
    const KernelPlan& kernel = plan_.kernel[k];
    if (kernel.threads_per_env == 0) continue;
    text << "\n"
         << kernel_name(static_cast<Kernel>(k)) << ": " << kernel.threads_per_env << " threads, "
         << kernel.registers << " registers, " << kernel.local_bytes << " bytes of local memory, "
         << kernel.shared_bytes + kernel.static_bytes << " bytes of shared memory per block of "
         << kernel.threads_per_block << ", " << kernel.envs_per_sm
         << " environments per multiprocessor";
  }
  return text.str();
}

std::vector<KernelInfo> CudaDevice::kernels() {
  const OnDevice here(number_);
  std::vector<KernelInfo> found;
  for (int k = 0; k < kKernels; ++k) {
    const KernelPlan& p = plan_.kernel[k];
    if (p.threads_per_env == 0) continue;
    const KernelClock::Time& t = clock_.time(static_cast<Kernel>(k));
    found.push_back({.name = kernel_name(static_cast<Kernel>(k)),
                     .threads_per_env = p.threads_per_env,
                     .registers = p.registers,
                     .local_bytes = p.local_bytes,
                     .shared_bytes = p.shared_bytes + p.static_bytes,
                     .arena_bytes = p.arena.bytes,
                     .envs_per_sm = p.envs_per_sm,
                     .occupancy = p.occupancy,
                     .launches = t.launches,
                     .seconds = t.seconds});
  }
  return found;
}

std::byte* CudaDevice::rows(Field f) const {
  const cpu::FieldSpec& s = spec_.host.specs()[at(f)];
  if (s.kind == FieldKind::param && fields_.of[at(f)].stride == 0) return nullptr;
  return fields_.of[at(f)].first;
}

void CudaDevice::require(std::size_t bytes, int local_per_thread, const std::string& what) {
  static LocalMemory of_process;
  const std::size_t local = local_of_card(local_per_thread, number_);
  of_process.take(number_, local,
                  [&](std::size_t more) { require_memory(name(), bytes, what, more); });
  local_bytes_ = std::max(local_bytes_, local);
}

// Uploads host memory that may change afterwards.
void CudaDevice::upload(std::byte* to, const void* from, std::size_t bytes) {
  check_here(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), ": uploading");
  check_here(cudaStreamSynchronize(stream_), ": uploading");
}

void CudaDevice::upload_tables() {
  upload(place(layout_.field_rows), &fields_, sizeof fields_);
  graphs_.clear();  // they contain the table
  ++model_version_;
}

void CudaDevice::make_own(Field f) {
  const OnDevice here(number_);
  const std::size_t row = layout_.row_bytes[at(f)];
  require_memory(name(), at(n_) * row,
                 std::string("a batch with its own ") + spec_.host.specs()[at(f)].name);
  DeviceMemory rows = device_memory(at(n_) * row);
  Transfers t;
  t.add(rows.get(), row, row, 0);
  check_here(
      repeat(t, nullptr, n_, place_of<const std::uint32_t>(layout_.reference[at(f)]), stream_),
      ": filling a parameter");
  // a stride of 0 marks a shared parameter, so even an empty row gets another stride
  fields_.of[at(f)] = {rows.get(), row};
  own_[at(f)] = std::move(rows);
  bytes_ += at(n_) * row;
  upload_tables();
}

void CudaDevice::model_changed() {
  const OnDevice here(number_);
  const std::size_t bytes = spec_.host.array_bytes();
  check_here(cudaStreamSynchronize(stream_), ": waiting");
  if (bytes > array_bytes_) {
    arrays_ = device_memory(bytes);
    bytes_ += bytes - array_bytes_;
    array_bytes_ = bytes;
  }
  std::vector<std::byte> arrays(bytes);
  model_ = spec_.host.copy_arrays(arrays.data(), arrays_.get());
  upload(arrays_.get(), arrays.data(), bytes);
  graphs_.clear();  // they contain the model's pointers
  ++model_version_;
}

Launch CudaDevice::launch() const {
  Launch l{};
  l.fields = place_of<const FieldRows>(layout_.field_rows);
  l.reference = place_of<const std::byte* const>(layout_.tables);
  l.records = {status_arrays(), place_of<std::uint8_t>(layout_.store),
               place_of<std::uint32_t>(layout_.counters)};
  l.count = n_;
  if (cusolver_ != nullptr)
    l.rounds = {place(layout_.rounds), place_of<float>(layout_.matrices),
                place_of<float>(layout_.vectors), place_of<std::int32_t>(layout_.info),
                place_of<std::int32_t>(layout_.waiting)};
  return l;
}

KernelSet CudaDevice::step_kernels() const {
  return has_kernel(model_, Kernel::collide)
             ? set_of({Kernel::dynamics, Kernel::collide, Kernel::solve, Kernel::move})
             : set_of({Kernel::dynamics, Kernel::solve, Kernel::move});
}

// Returns true unless a single thread, a block or a library solves.
bool CudaDevice::launches_whole_steps() const {
  return switches_.step && plan_.by_tiles(Kernel::solve) && cusolver_ == nullptr;
}

void CudaDevice::enqueue(const Launch& of, int steps, cudaStream_t stream) {
  Launch l = of;
  l.moves = steps > 0;
  l.barriers = static_cast<std::uint32_t>(switches_.barriers);
  const auto launched = [&](Kernel k) {
    if (!has_kernel(model_, k)) return;
    if (const cudaError_t e = cuda::launch(k, l, fields_, model_, plan_, stream); e != cudaSuccess)
      check(e, name() + ": launching " + kernel_name(k));
  };
  const bool whole = launches_whole_steps();
  const int all = std::max(1, steps);
  for (int done = 0; done < all; done += l.steps) {
    l.steps = whole && !poison_ ? std::min(kMostStepsAtOnce, all - done) : 1;
    l.first = done == 0, l.last = done + l.steps == all, l.left = all - done + l.after;
    if (poison_)
      check_here(fill_unwritten(lists().unwritten(true), l, false, stream), ": poisoning a step");
    if (whole) {
      check_here(cuda::launch(step_kernels(), l, model_, plan_, stream), ": launching steps");
      continue;
    }
    launched(Kernel::dynamics), launched(Kernel::collide);
    if (cusolver_ != nullptr)
      enqueue_solve(l, stream);
    else
      launched(Kernel::solve);
    launched(Kernel::move);
  }
  if (poison_)
    check_here(fill_unwritten(lists().unwritten(false), l, true, stream),
               ": poisoning the refresh");
  launched(Kernel::refresh);
}

// Rounds until no environment waits for a solution; the host checks after each. The library factors the
// matrices of all environments, whatever those outside of the launch contain.
void CudaDevice::enqueue_solve(const Launch& l, cudaStream_t stream) {
  auto* const waiting = place_of<std::int32_t>(layout_.waiting);
  auto* const matrices = place_of<float*>(layout_.addresses);
  auto& here = *reinterpret_cast<std::int32_t*>(waiting_.get());
  for (Kernel k = Kernel::solve_begin;; k = Kernel::solve_next) {
    check_here(cudaMemsetAsync(waiting, 0, sizeof *waiting, stream), ": solving in rounds");
    check_here(cuda::launch(k, l, fields_, model_, plan_, stream), ": solving in rounds");
    check_here(cudaMemcpyAsync(&here, waiting, sizeof here, cudaMemcpyDeviceToHost, stream),
               ": solving in rounds");
    check_here(cudaStreamSynchronize(stream), ": solving in rounds");
    if (here == 0) return;
    cusolver_->solve(model_.nv, matrices, matrices + n_, n_, place_of<std::int32_t>(layout_.info),
                     waiting + 1, stream);
  }
}

// Uses its own stream: the caller's may be the legacy stream, which cannot be captured.
Executable CudaDevice::captured(const std::function<void(cudaStream_t)>& work) {
  check_here(cudaStreamBeginCapture(capture_.get(), cudaStreamCaptureModeThreadLocal),
             ": capturing a step");
  cudaGraph_t graph = nullptr;
  try {
    work(capture_.get());
  } catch (...) {
    if (cudaStreamEndCapture(capture_.get(), &graph) == cudaSuccess) Graph{graph};
    (void)cudaGetLastError();  // otherwise the next launch reports it
    throw;
  }
  check_here(cudaStreamEndCapture(capture_.get(), &graph), ": capturing a step");
  const Graph g(graph);
  cudaGraphExec_t executable = nullptr;
  check_here(cudaGraphInstantiate(&executable, graph, 0), ": making a graph");
  return Executable(executable);
}

bool CudaDevice::capturing(std::uintptr_t stream) const {
  if (is_default(stream)) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_here(cudaStreamIsCapturing(stream_of(stream), &status), ": asking for a capture");
  return status != cudaStreamCaptureStatusNone;
}

void CudaDevice::refuse_capture(const char* what) const {
  if (capturing())
    throw ArgumentError(name() + ": a graph can't capture " + what + ", they are the host's");
}

cudaGraphExec_t CudaDevice::graph(int steps) {
  if (!uses_graphs() || steps > kMostStepsAtOnce) return nullptr;
  const auto found = graphs_.find(steps);
  if (found != graphs_.end()) return found->second.get();
  const auto work = [&](cudaStream_t stream) { enqueue(launch(), steps, stream); };
  return graphs_.emplace(steps, captured(work)).first->second.get();
}

void CudaDevice::run(const int* ids, int n, int steps, bool store_frozen, int after) {
  const OnDevice here(number_);
  // only mocap bodies depend on the steps that come after
  const bool alike = after == 0 || model_.nmocapstate == 0;
  if (ids == nullptr && !store_frozen && alike && !capturing())
    if (const cudaGraphExec_t g = graph(steps); g != nullptr) {
      check_here(cudaGraphLaunch(g, stream_), ": launching steps");
      return;
    }
  Launch l = launch();
  l.envs = upload_ids(ids, n), l.count = n, l.store_frozen = store_frozen, l.after = after;
  enqueue(l, steps, stream_);
}

void CudaDevice::take_counts(SolverCounts& c) {
  const OnDevice here(number_);
  const int bins = spec_.options.max_iterations + 1, columns = kCounters + bins;
  std::vector<std::uint64_t> sums(at(columns));
  auto* const on_device = place_of<std::uint64_t>(layout_.staging);
  check_here(take_sums(place_of<std::uint32_t>(layout_.counters), n_, columns, on_device, stream_),
             ": summing counters");
  check_here(cudaMemcpyAsync(sums.data(), on_device, sums.size() * sizeof sums[0],
                             cudaMemcpyDeviceToHost, stream_),
             ": fetching counters");
  check_here(cudaStreamSynchronize(stream_), ": fetching counters");
  add_counters(sums.data(), c);
}

// A stream that is being captured cannot wait for work outside of a graph; ordering it is up to the caller.
void CudaDevice::set_stream(std::uintptr_t stream) {
  const OnDevice here(number_);
  if (capturing() || !capturing(stream)) release_to(stream);
  stream_ = stream_of(stream);
}

void CudaDevice::release_to(std::uintptr_t other) {
  if (same_stream(other, stream())) return;
  const OnDevice here(number_);
  if (is_default(other) && capturing()) return;
  check_here(cudaEventRecord(order_.get(), stream_), ": recording an event");
  check_here(cudaStreamWaitEvent(stream_of(other), order_.get(), 0), ": making a stream wait");
}

void CudaDevice::wait_for(std::uintptr_t other) {
  if (same_stream(other, stream())) return;
  const OnDevice here(number_);
  if (is_default(other) && capturing()) return;
  check_here(cudaEventRecord(order_.get(), stream_of(other)),
             ": recording an event of another stream; is it a stream of this device?");
  check_here(cudaStreamWaitEvent(stream_, order_.get(), 0), ": waiting for another stream");
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const OnDevice here(number_);
  const auto on_device = [&](const void* p) {
    cudaPointerAttributes a{};
    check_here(cudaPointerGetAttributes(&a, p), ": looking at a pointer");
    return a.type == cudaMemoryTypeDevice;
  };
  check_here(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), ": copying an array");
  if (!on_device(to) || !on_device(from))
    check_here(cudaStreamSynchronize(stream_), ": copying an array");
}

void CudaDevice::wait() {
  const OnDevice here(number_);
  check_here(cudaStreamSynchronize(stream_), ": a kernel failed");
}

}  // namespace cuda

std::size_t cuda_device_bytes(const DeviceSpec& spec) {
  return cuda::layout_of(spec, cuda::switches_for(spec).groups).bytes + spec.host.array_bytes();
}

// Without a GPU the answer is unknown.
std::size_t cuda_local_bytes(const DeviceSpec& spec, int number, int task_kind) {
  try {
    number = cuda::find_device(spec.given.device, number);
  } catch (const ArgumentError&) {
    return 0;
  }
  const cuda::OnDevice here(number);
  const cuda::Switches switches = cuda::switches_for(spec);
  cuda::Plan plan;
  cuda::check(cuda::make_plan(spec.host.view(), switches, spec.given.num_envs, plan),
              "preparing the kernels");
  int most = plan.most_local_bytes();
  if (task_kind >= 0) {
    cuda::TaskKernel task = cuda::task_kernel(task_kind, switches.groups.thread());
    cuda::check(cuda::load(task), "loading a task");
    most = std::max(most, task.local_bytes);
  }
  return cuda::local_of_card(most, number);
}

std::unique_ptr<Device> make_cuda_device(const DeviceSpec& spec, int number) {
  return std::make_unique<cuda::CudaDevice>(spec, cuda::find_device(spec.given.device, number));
}

}  // namespace stiction

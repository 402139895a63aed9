// Episodes on a GPU: their memory, and a graph of a control step for each set of results.
#include "cuda/episodes.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

#include "batch/device_episodes.h"
#include "cuda/device.h"
#include "stiction/error.h"

namespace stiction::cuda {
namespace {

class CudaEpisodes final : public DeviceEpisodes {
 public:
  CudaEpisodes(CudaDevice& device, const EpisodesSpec& spec)
      : device_(device),
        spec_(spec),
        kernel_(task_kernel(spec.kind, device.by_thread())),
        action_bytes_(action_bytes(spec, device.num_envs())) {
    const OnDevice here(device_.number());
    const auto* task = static_cast<const std::byte*>(spec.task);
    task_.assign(task, task + kernel_.task_bytes);
    device_.check_here(load(kernel_), ": loading a task");
    device_.require(spec.bytes, kernel_.local_bytes,
                    "episodes of " + std::to_string(device_.num_envs()) + " environments");
    memory_ = device_memory(spec.bytes);
    actions_ = pinned_memory(action_bytes_);
    actions_done_ = event();
    device_.check_here(cudaMemsetAsync(memory_.get(), 0, spec.bytes, stream()),
                       ": clearing memory");
    device_.add_bytes(spec.bytes);
  }
  ~CudaEpisodes() override { finish_work(device_.number()); }

  std::byte* memory() const override { return memory_.get(); }
  void bind(const std::array<envs::EpisodeArrays, kSets>& sets) override {
    const OnDevice here(device_.number());
    sets_ = sets;
    for (int set = 0; set < kSets; ++set) (void)graph(set);
  }

  void take_actions(const float* actions, bool on_device) override {
    if (action_bytes_ == 0) return;
    const OnDevice here(device_.number());
    float* const to = const_cast<float*>(sets_[0].given);
    if (on_device) {
      require_here(actions);
      device_.check_here(
          cudaMemcpyAsync(to, actions, action_bytes_, cudaMemcpyDeviceToDevice, stream()),
          ": copying actions");
      return;
    }
    if (device_.capturing())
      throw ArgumentError("actions: of the host; only those of the device can be captured");
    device_.check_here(cudaEventSynchronize(actions_done_.get()), ": waiting for a transfer");
    std::memcpy(actions_.get(), actions, action_bytes_);
    device_.check_here(
        cudaMemcpyAsync(to, actions_.get(), action_bytes_, cudaMemcpyHostToDevice, stream()),
        ": sending actions");
    device_.check_here(cudaEventRecord(actions_done_.get(), stream()), ": sending actions");
  }

  void step(int set) override {
    const OnDevice here(device_.number());
    if (!device_.capturing())
      if (const cudaGraphExec_t g = graph(set); g != nullptr) {
        device_.check_here(cudaGraphLaunch(g, stream()), ": launching a control step");
        return;
      }
    enqueue_step(set, stream());
  }
  void act(int set) override {
    const OnDevice here(device_.number());
    launch(set, EpisodePhase::act, stream());
  }
  void finish(int set) override {
    const OnDevice here(device_.number());
    enqueue_finish(set, stream());
  }
  void begin(int set, bool restart) override {
    const OnDevice here(device_.number());
    launch(set, EpisodePhase::begin, stream(), restart);
    enqueue_first(set, true, stream());
  }
  void observe(int set) override {
    const OnDevice here(device_.number());
    launch(set, EpisodePhase::show, stream());
  }

 private:
  static std::size_t action_bytes(const EpisodesSpec& spec, int n) {
    return envs::row_begin(n, spec.num_actions) * sizeof(float);
  }
  cudaStream_t stream() const { return stream_of(device_.stream()); }

  // The pointer may be of another device, of the host or invalid.
  void require_here(const float* actions) const {
    cudaPointerAttributes a{};
    const cudaError_t error = cudaPointerGetAttributes(&a, actions);
    if (error != cudaSuccess) (void)cudaGetLastError();
    const bool managed = a.type == cudaMemoryTypeManaged;
    if (error == cudaSuccess && actions != nullptr &&
        (managed || (a.type == cudaMemoryTypeDevice && a.device == device_.number())))
      return;
    throw ArgumentError("actions: not memory of " + device_.name());
  }

  void launch(int set, EpisodePhase phase, cudaStream_t stream, bool restart = false,
              bool clear = false) const {
    const EpisodeLaunch k{sets_[static_cast<std::size_t>(set)], phase, restart, clear};
    device_.check_here(
        kernel_.launch(kernel_, task_.data(), device_.launch(), device_.model(), k, stream),
        ": launching a task");
  }
  void enqueue_step(int set, cudaStream_t stream) {
    launch(set, EpisodePhase::act, stream);
    device_.enqueue(device_.launch(), spec_.frame_skip, stream);
    enqueue_finish(set, stream);
  }
  void enqueue_finish(int set, cudaStream_t stream) {
    launch(set, EpisodePhase::observe, stream);
    const envs::Begin begin = sets_[0].begin;
    if (begin != envs::Begin::disabled) enqueue_first(set, begin == envs::Begin::next_step, stream);
  }
  // Computes forces and outputs of the environments that begin an episode, and their first observation.
  void enqueue_first(int set, bool clear, cudaStream_t stream) {
    Launch l = device_.launch();
    l.chosen = sets_[0].begins, l.store_frozen = true;
    device_.enqueue(l, 0, stream);
    launch(set, EpisodePhase::first, stream, false, clear);
  }

  cudaGraphExec_t graph(int set) {
    if (!device_.uses_graphs() || spec_.frame_skip > kMostStepsAtOnce) return nullptr;
    if (version_ != device_.model_version()) {
      for (Executable& g : graphs_) g = {};
      version_ = device_.model_version();
    }
    Executable& g = graphs_[static_cast<std::size_t>(set)];
    if (g.get() == nullptr)
      g = device_.captured([&](cudaStream_t stream) { enqueue_step(set, stream); });
    return g.get();
  }

  CudaDevice& device_;
  EpisodesSpec spec_;
  TaskKernel kernel_;
  std::size_t action_bytes_;
  std::vector<std::byte> task_;
  DeviceMemory memory_;
  PinnedMemory actions_;
  Event actions_done_;
  std::array<envs::EpisodeArrays, kSets> sets_{};
  std::array<Executable, kSets> graphs_;
  int version_ = -1;
};

}  // namespace

std::unique_ptr<DeviceEpisodes> CudaDevice::episodes(const EpisodesSpec& spec) {
  return std::make_unique<CudaEpisodes>(*this, spec);
}

}  // namespace stiction::cuda

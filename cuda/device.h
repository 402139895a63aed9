// A batch on a GPU: its device memory, the launches of its steps, transfers to and from the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "batch/device.h"
#include "cuda/cusolver.h"
#include "cuda/kernels.cuh"
#include "cuda/memory.h"
#include "cuda/transfer.h"

namespace stiction::cuda {

// Steps per launch and per graph: longer runs are several launches, so that none lasts long, and need no graph.
inline constexpr int kMostStepsAtOnce = 32;

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}
constexpr std::size_t at(cpu::Field f) {
  return static_cast<std::size_t>(f);
}

class CudaDevice final : public Device {
 public:
  // `number`: a device that find_device has accepted.
  CudaDevice(const DeviceSpec& spec, int number);
  ~CudaDevice() override;

  std::string name() const override { return "cuda:" + std::to_string(number_); }
  std::string description() const override;
  std::size_t bytes() const override { return bytes_; }
  std::size_t local_bytes() const override { return local_bytes_; }
  std::vector<KernelInfo> kernels() override;
  int number() const override { return number_; }

  std::byte* rows(cpu::Field f) const override;
  physics::StatusArrays status_arrays() const override {
    return layout_.status_arrays(memory_.get());
  }

  void make_own(cpu::Field f) override;
  void model_changed() override;

  void reset(const int* ids, int n) override;
  void copy_envs(const int* src, const int* dst, int n) override;
  void fetch(std::span<const RowCopy> rows, const int* ids, int n) override;
  void send(std::span<const RowCopy> rows, const int* ids, int n) override;

  void run(const int* ids, int n, int steps, bool store_frozen, int after) override;
  void take_counts(SolverCounts& counts) override;

  void set_stream(std::uintptr_t stream) override;
  std::uintptr_t stream() const override { return reinterpret_cast<std::uintptr_t>(stream_); }
  void release_to(std::uintptr_t other) override;
  void wait_for(std::uintptr_t other) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void wait() override;
  std::unique_ptr<DeviceEpisodes> episodes(const EpisodesSpec& spec) override;

  // For the tasks that run on this device: a launch of all environments, and steps on any stream.
  Launch launch() const;
  void enqueue(const Launch& l, int steps, cudaStream_t stream);
  // Captures the work that `work` gives to the stream passed to it, as a graph.
  Executable captured(const std::function<void(cudaStream_t)>& work);
  bool by_thread() const { return switches_.groups.thread(); }
  bool uses_graphs() const { return switches_.graphs && cusolver_ == nullptr; }
  // Whether the caller is capturing a graph on the stream: graphs cannot be launched into it.
  bool capturing() const { return capturing(stream()); }
  const physics::ModelView& model() const { return model_; }
  // Changes with the model and the table of rows: a graph of an older version is stale.
  int model_version() const { return model_version_; }
  int num_envs() const { return n_; }
  void add_bytes(std::size_t bytes) { bytes_ += bytes; }
  // Throws ArgumentError if there is no room for `bytes` and for kernels with this much local memory
  // per thread.
  void require(std::size_t bytes, int local_per_thread, const std::string& what);
  void check_here(cudaError_t result, const char* doing) const {
    if (result != cudaSuccess) check(result, name() + doing);
  }

 private:
  std::byte* place(std::size_t begin) const { return memory_.get() + begin; }
  template <class T>
  T* place_of(std::size_t begin) const {
    return reinterpret_cast<T*>(place(begin));
  }
  bool capturing(std::uintptr_t stream) const;
  // Throws ArgumentError if the caller is capturing: a replay would read host memory whose contents
  // have changed by then, and an event of a capture cannot be waited for.
  void refuse_capture(const char* what) const;
  void upload_tables();
  void upload(std::byte* to, const void* from, std::size_t bytes);
  const int* upload_ids(const int* ids, int n);
  RowLists lists() const { return {spec_.host.specs(), layout_, fields_.of, memory_.get()}; }
  template <class F>
  void in_chunks(std::span<const RowCopy> rows, int n, const F& f);
  void enqueue_solve(const Launch& l, cudaStream_t stream);
  KernelSet step_kernels() const;
  bool launches_whole_steps() const;
  cudaGraphExec_t graph(int steps);

  DeviceSpec spec_;
  int number_, n_;
  Switches switches_;  // with the groups in use
  DeviceLayout layout_;
  std::size_t bytes_, local_bytes_ = 0;
  cudaStream_t stream_;
  DeviceMemory memory_, arrays_;
  std::vector<DeviceMemory> own_;
  std::size_t array_bytes_ = 0;  // capacity of arrays_
  PinnedMemory staging_, ids_;
  int ids_sent_ = 0;  // number of ids in ids_ and on the device
  Event staging_done_, ids_done_, order_;
  Stream capture_;
  RowTable fields_{};
  physics::ModelView model_;
  KernelClock clock_;
  Plan plan_;
  bool poison_;
  int model_version_ = 0;
  std::unique_ptr<Cusolver> cusolver_;  // null: our own factorization
  PinnedMemory waiting_;
  std::map<int, Executable> graphs_;  // by the number of steps; for all environments
};

}  // namespace stiction::cuda

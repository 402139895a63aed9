// Interface of a back end whose fields lie in a separate memory, as a batch uses it. The batch keeps a copy of
// the rows on the host, fetched before it reads them and sent after it wrote them, so that
// everything between steps (checks, files, contacts) has one implementation for all back ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/device_episodes.h"
#include "cpu/host_model.h"
#include "physics/base/env_status.h"
#include "stiction/batch.h"
#include "stiction/devices.h"

namespace stiction {

// What a device needs to know of its batch; the references live as long as the batch.
struct DeviceSpec {
  const cpu::HostModel& host;
  const Options& options;  // resolved
  const BatchOptions& given;
  std::span<std::byte* const> reference = {};  // (kFields) the model's rows, null where none
};

inline constexpr int kStatusArrays = 3;  // of physics::StatusArrays, one word per environment each

// A field or status array on the device and its copy on the host, dense: row e begins at e * bytes.
struct RowCopy {
  std::byte *device, *host;
  std::size_t bytes;  // of a row
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;         // "cuda:0"
  virtual std::string description() const = 0;  // the GPU; resources of its kernels, and occupancy
  virtual std::size_t bytes() const = 0;        // allocated on the device
  virtual std::size_t local_bytes() const { return 0; }  // BatchMemory::local
  virtual std::vector<KernelInfo> kernels() { return {}; }
  virtual int number() const = 0;  // device number for DLPack

  // Dense rows on the device, (num_envs, numbers) as on the host; null if the field has none. The address
  // of a field changes only in make_own.
  virtual std::byte* rows(cpu::Field f) const = 0;
  virtual physics::StatusArrays status_arrays() const = 0;

  // Gives a parameter a row for each environment, with the model's values. Throws if memory runs
  // out, naming what was needed and what is free.
  virtual void make_own(cpu::Field f) = 0;
  // Called when HostModel::view has changed.
  virtual void model_changed() = 0;

  // Resets (physics/base/env_status.h) n environments `ids` (null: all). Only the ids are transferred, and
  // the call does not wait for earlier work.
  virtual void reset(const int* ids, int n) = 0;
  // Copies everything that environment src[k] keeps between two steps to dst[k], including outputs and
  // per-environment parameters, through a buffer: an environment may be source and target. dst is distinct.
  virtual void copy_envs(const int* src, const int* dst, int n) = 0;

  // Copies the rows of n environments `ids` (null: all), after the earlier work of the stream; fetched rows have
  // arrived when fetch returns.
  virtual void fetch(std::span<const RowCopy> rows, const int* ids, int n) = 0;
  virtual void send(std::span<const RowCopy> rows, const int* ids, int n) = 0;

  // Runs Batch::step and the steps of reset: n environments `ids` (null: all), `steps` steps (0: forces
  // without moving the state), then one refresh; `after`: remaining steps of the call, made by later runs.
  // Returns before the work is done.
  virtual void run(const int* ids, int n, int steps, bool store_frozen, int after) = 0;
  // Adds the counts of the solver since the last call.
  virtual void take_counts(SolverCounts& counts) = 0;

  virtual void set_stream(std::uintptr_t stream) = 0;
  virtual std::uintptr_t stream() const = 0;
  // Work given to the stream `other` from now on waits for all work given to this device's
  // stream so far; wait_for: the other way round.
  virtual void release_to(std::uintptr_t other) = 0;
  virtual void wait_for(std::uintptr_t other) = 0;
  // Copies between any two memories, in stream order. If `from` is on the host it may be changed as soon as
  // the call returns.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  // Waits for the stream. Throws Error if the device failed.
  virtual void wait() = 0;

  // Runs a task on this device, which must outlive the result.
  virtual std::unique_ptr<DeviceEpisodes> episodes(const EpisodesSpec& spec) = 0;
};

// Layout of a batch in one allocation: dense rows, the model's rows, a scratch region for each
// environment, status and counters. Offsets in bytes.
struct DeviceLayout {
  // Scratch: none for fields that are `unused`; all fields of an environment are adjacent, or with
  // scratch_by_field the rows of one field over all environments are.
  explicit DeviceLayout(const DeviceSpec& spec, bool (*unused)(cpu::Field) = nullptr,
                        bool scratch_by_field = false);

  static constexpr std::size_t kNone = ~std::size_t{0};
  std::array<std::size_t, cpu::kFields> first{};      // row of environment 0; kNone: no rows
  std::array<std::size_t, cpu::kFields> stride{};     // 0: the model's row is shared by all
  std::array<std::size_t, cpu::kFields> row_bytes{};  // of all fields except scratch
  std::array<std::size_t, cpu::kFields> reference{};  // offset of the model's row; kNone: no row
  std::size_t reference_status = 0;                   // one word per status array, as after a reset
  std::size_t reference_begin = 0, reference_end = 0;
  std::size_t status[kStatusArrays] = {}, store = 0, counters = 0;
  std::size_t counter_bytes = 0;               // per environment
  std::size_t field_rows = 0, tables = 0;      // room for tables of addresses: 2 and 1 per field
  std::size_t ids = 0;                         // (2, num_envs) int
  std::size_t staging = 0, staging_bytes = 0;  // a row of each field, a word of each environment
  static constexpr std::size_t kStaging = std::size_t{4} << 20;
  // With factorization by a library, for each environment: the state kept from round to round, its
  // matrix and vector, whether the factorization succeeded; addresses of all matrices, then of all
  // vectors; two words: whether any environment waits for a solution, and one for the
  // library.
  std::size_t rounds = 0, matrices = 0, vectors = 0, info = 0, addresses = 0, waiting = 0;
  static constexpr std::size_t kRoundBytes = 128;
  std::size_t scratch = 0;  // from here to the end
  std::size_t bytes = 0;

  // Returns the status arrays in an allocation that begins at `memory`.
  physics::StatusArrays status_arrays(std::byte* memory) const {
    return {reinterpret_cast<std::uint32_t*>(memory + status[0]),
            reinterpret_cast<std::int32_t*>(memory + status[1]),
            reinterpret_cast<std::int32_t*>(memory + status[2])};
  }
};

// Number of counters per environment; cuda/launch.h names them.
inline constexpr int kDeviceCounters = 10;

// Writes the model's values of state, inputs and parameters, and the status of an environment that was
// reset, in the order of the layout: reference_end - reference_begin bytes.
void write_reference_rows(const DeviceSpec& spec, const DeviceLayout& layout, std::byte* to);

// Returns the memory needed on the device spec.given.device, before anything is allocated.
std::size_t device_bytes(const DeviceSpec& spec);
// Returns BatchMemory::local of a batch with a task of that kind (EpisodesSpec); -1: without a task.
std::size_t device_local_bytes(const DeviceSpec& spec, int task_kind);

// Makes "cuda" or "cuda:1". Throws ArgumentError: no such device, no driver, driver too old, too little memory;
// without a CUDA back end in this build the message says how to get one.
std::unique_ptr<Device> make_device(const DeviceSpec& spec);
// Throws ArgumentError on a name that is not a device name, whether or not the device exists here.
void check_device_name(const std::string& name);

// Registers a device under another name, for tests.
using DeviceMaker = std::function<std::unique_ptr<Device>(const DeviceSpec& spec)>;
void register_device(const std::string& name, DeviceMaker maker);

// Defined in builds with a CUDA back end; number -1: the current device.
std::size_t cuda_device_bytes(const DeviceSpec& spec);
std::size_t cuda_local_bytes(const DeviceSpec& spec, int number, int task_kind);
std::unique_ptr<Device> make_cuda_device(const DeviceSpec& spec, int number);
CudaReport cuda_report();  // cuda_devices()

}  // namespace stiction

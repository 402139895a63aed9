// Thousands of independent copies of one robot, stepped together: the product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/array.h"
#include "stiction/model.h"
#include "stiction/options.h"
#include "stiction/reference.h"

namespace stiction {

class Env;  // env.h

enum class Precision : std::uint8_t { float32, float64 };

struct BatchOptions {
  int num_envs = 1;
  Options options;             // solver_tolerance defaults to 1e-4 in float32, 1e-6 in float64
  std::string device = "cpu";  // "cuda", "cuda:1"
  Precision precision = Precision::float32;
  std::optional<int> threads;  // default: one per core this process may use
  std::uint64_t seed = 0;
  std::uintptr_t stream = 0;  // cudaStream_t; 0: the default stream
};

// What a batch takes, in bytes; known before anything is allocated.
struct BatchMemory {
  std::size_t per_env = 0;     // dense fields of one environment
  std::size_t per_thread = 0;  // blocked working set of one thread
  std::size_t total = 0;       // on the host
  // Of a batch on a device, besides: in the device's own memory, and room on the host for copies of
  // rows, of which only those that were fetched or written there take memory.
  std::size_t device = 0, mirror = 0;
  // On a card, besides: at most what the driver takes there for stacks and spills, once for all
  // batches of a process, for the kernel that has most. 0 where there is no card to ask.
  std::size_t local = 0;
};
BatchMemory batch_memory(const Model& model, const BatchOptions& options);

// A kernel of a device, as it was planned for the model.
struct KernelInfo {
  std::string name;
  int lanes = 0;      // that work on an environment
  int registers = 0;  // per thread
  int local_bytes = 0;
  int shared_bytes = 0;  // per block
  int arena_bytes = 0;   // of it, fast memory of one environment
  int envs_per_sm = 0;   // resident
  double occupancy = 0;  // of a multiprocessor's threads
  // Since the batch was made; zero unless STICTION_CUDA_TIMES was 1 then.
  std::uint64_t launches = 0;
  double seconds = 0;
};

// One field or parameter of a batch, from the list src/physics/fields.def.
struct FieldInfo {
  std::string name, kind, producer, meaning;  // kind: state, input, param, output
  int rows = 0, columns = 0;                  // numbers per environment
  bool wide = false;                          // float64 in every precision
};

// What a step depends on besides inputs and parameters, of n environments, row-major (n, ...).
// Empty vectors in set_state: qpos, qvel, time stay; the others become zero.
struct BatchState {
  std::vector<double> qpos, qvel, time, anchor, body_airtime, qacc_warmstart;
};

// Statistics of the solver over the steps since construction or the last clear.
struct SolverCounts {
  std::uint64_t env_steps = 0, iterations = 0, linesearch_evaluations = 0, contacts = 0;
  std::uint64_t not_converged = 0, stalled = 0, inaccurate = 0, late_contact = 0, frozen = 0;
  // Σ over packs of the slowest lane; which environments share a pack depends on the threads.
  std::uint64_t pack_steps = 0, pack_max_iterations = 0;
  std::vector<std::uint64_t> iteration_histogram;  // (max_iterations + 1)
};

// Every method may be called from one thread at a time; batches share nothing that changes.
class Batch {
 public:
  // Throws ArgumentError on options out of range, an unknown device, or too little memory.
  Batch(ModelPtr model, const BatchOptions& options);
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  const Model& model() const;
  const Options& options() const;  // with every default resolved
  int num_envs() const;
  // Where its numbers are and its steps run: "cpu", "cuda:0".
  std::string device() const;
  // The card, what the kernels need of it, and how many environments it holds at a time; "" of "cpu".
  std::string device_description() const;
  int device_number() const;                // 0 of "cpu"
  std::vector<KernelInfo> kernels() const;  // of a card, in the order of a step; waits for its work
  int threads() const;                      // 1 on a device
  // What runs: "avx512", "avx2", "baseline"; the environment variable STICTION_ISA chooses.
  // "float64" in that precision: one environment at a time. On a device its kind: "cuda".
  std::string isa() const;
  int lanes() const;  // environments per pack; 1 on a device
  Precision precision() const;
  BatchMemory memory() const;

  // n steps with the inputs as they are, then one refresh of the outputs. What happens inside an
  // environment never throws: see status(). A frozen environment keeps its state and its outputs. A
  // state out of bounds that was written into a view becomes the reference pose, frozen. Allocates
  // nothing. On a device step and refresh return before the work on the stream is done.
  void step(int n = 1);
  // Outputs at the present state; forces and accelerations come from a solve that moves nothing.
  void refresh();
  // Of these environments, frozen ones too. A state out of bounds freezes as in a step.
  void refresh(std::span<const int> ids);

  // The model's reference pose (or the given state); the rest of the state, inputs and
  // status. Throws ArgumentError on an index out of range, a duplicate, a bad state or unphysical
  // own parameters. Refreshes what it reset.
  void reset();
  void reset(std::span<const int> ids, const BatchState* state = nullptr);
  void reset(std::span<const bool> mask, const BatchState* state = nullptr);

  BatchState get_state(std::span<const int> ids) const;
  // Throws ArgumentError on wrong sizes, non-finite numbers or zero quaternions, naming environment
  // and index. Clears the status of these environments and refreshes them.
  void set_state(std::span<const int> ids, const BatchState& state);
  // State, inputs, own parameters, outputs and status of environment src[i] to dst[i], as if all
  // moved at once.
  void copy(std::span<const int> src, std::span<const int> dst);

  // Views of the batch's own memory, of its device, valid as long as the batch: (num_envs, rows,
  // columns) without what the list of fields calls `one`: qpos (num_envs, nq), time (num_envs),
  // gravity (num_envs, 3).
  // Throw ArgumentError with the nearest names. Outputs are read-only.
  ArrayView field(const std::string& name);
  // Makes a parameter own to each environment (starting from the model's) and returns its view.
  ArrayView param(const std::string& name);
  bool param_is_own(const std::string& name) const;
  // Throws ArgumentError naming environment, parameter and value if an own number is unphysical.
  void check_params() const;
  static std::vector<FieldInfo> fields(const Model& model);

  ArrayView status();       // (num_envs) uint32, bits of Status; read-only
  ArrayView status_step();  // (num_envs) int32, step of the first event since the reset; -1: none
  std::uint64_t status_count() const;  // frozen environments: one number to poll
  // Points of the problem at the present state and inputs, solved without a move, by the CPU.
  std::vector<Contact> contacts(int env) const;
  const SolverCounts& counts() const;
  void clear_counts();
  std::uint64_t state_hash() const;  // FNV-1a of the declared state of all environments, in order

  // State, inputs, status and own parameters to a file, and back into any batch of the same model,
  // options, precision and num_envs: the same bits from there on. Own parameters that the file doesn't
  // have become the model's; views stay valid. Throw Error on a damaged or foreign file.
  void save(const std::string& path) const;
  void load(const std::string& path);
  // One environment as JSON: model file (empty where the model came from a string), options, state,
  // inputs, own parameters; `stiction replay` steps it in double with a trace.
  void dump(int env, const std::string& path) const;

  // The stream of a device that the batch works on, and who waits for whom: a consumer's work on
  // `other` for the batch's work so far, or the batch for a producer's. Nothing on the CPU.
  std::uintptr_t stream() const;
  void set_stream(std::uintptr_t stream);
  void release_to(std::uintptr_t other) const;
  void wait_for(std::uintptr_t other);
  // Copies bytes to or from memory of the batch, in the order of its stream; the other memory may be
  // of the host or of any device. From a device to the host it waits.
  void copy_memory(void* to, const void* from, std::size_t bytes) const;
  // Waits for the stream. Throws Error if the device failed.
  void synchronize() const;

  struct Impl;  // src/batch/impl.h

 private:
  friend class Env;  // episodes: resets rows without an allocation
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction

// A batch: thousands of independent copies of one robot, stepped together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/array.h"
#include "stiction/model.h"
#include "stiction/options.h"
#include "stiction/rays.h"
#include "stiction/reference.h"

namespace stiction {

class Env;             // env.h
class StepDerivative;  // gradient.h

enum class Precision : std::uint8_t { float32, float64 };

struct BatchOptions {
  int num_envs = 1;
  Options options;             // solver_tolerance defaults to 1e-4 in float32, 1e-6 in float64
  std::string device = "cpu";  // "cuda", "cuda:1"
  Precision precision = Precision::float32;
  // Upper bound; measurements decide how many are worth using. Default: the processors that this
  // process may use (affinity, and the quota of its control groups).
  std::optional<int> threads;
  std::uintptr_t stream = 0;  // cudaStream_t; 0: the default stream
};

// Memory of a batch in bytes; known before anything is allocated.
struct BatchMemory {
  std::size_t per_env = 0;  // dense fields of one environment
  std::size_t per_thread =
      0;  // blocked working set of one thread: three packs, if two are stepped side by side
  std::size_t total = 0;  // on the host
  // For a batch on a device, in addition: device memory, and host address space for copies of the
  // dense fields, whose pages take memory once they are fetched or written there.
  std::size_t device = 0, mirror = 0;
  // On a GPU, in addition: an upper bound on the local memory (stacks and spilled registers) that
  // the driver reserves once per process, for the kernel that needs most. 0 if there is no GPU to
  // query.
  std::size_t local = 0;
};
BatchMemory batch_memory(const Model& model, const BatchOptions& options);

// A kernel of a device, as planned for the model.
struct KernelInfo {
  std::string name;
  int threads_per_env = 0;  // threads that work together on an environment
  int registers = 0;        // per thread
  int local_bytes = 0;
  int shared_bytes = 0;  // per block
  int arena_bytes = 0;   // the part of it that holds fields of one environment
  int envs_per_sm = 0;   // resident on a multiprocessor
  double occupancy = 0;  // resident fraction of the threads of a multiprocessor
  // Since the batch was constructed; zero unless STICTION_CUDA_TIMES was 1 at that time.
  std::uint64_t launches = 0;
  double seconds = 0;
};

// A field or parameter of a batch, from the list src/physics/base/fields.def, or a quantity computed on
// request, from src/physics/base/quantities.def.
struct FieldInfo {
  std::string name, kind, producer, meaning;  // kind: state, input, param, output, computed
  int rows = 0, columns = 0;                  // numbers per environment
  bool wide = false;                          // float64 in every precision
};

// The state of n environments: what a step depends on besides inputs and parameters, row-major (n, ...).
// Empty vectors in set_state: qpos, qvel, act and time keep their values; the others become zero.
struct BatchState {
  std::vector<double> qpos, qvel, act, time, anchor, friction_anchor, rebound, body_airtime,
      qacc_warmstart;
  std::vector<double> mocap_xpos, mocap_xquat, mocap_xvel;
};

// A computed quantity; row-major.
struct Computed {
  std::vector<double> numbers;
  std::vector<int> shape;
};

// Velocity of a point, and angular velocity of its body, per unit of qvel: MuJoCo's jacp and jacr.
struct Jacobian {
  std::vector<double> position, rotation;  // (num_envs,3,nv)
};

// n rays per environment, o + x d: origins and directions are (n,3), shared by all environments, or
// (environments,n,3).
struct Rays {
  int n = 0;
  std::span<const double> origins, directions;
  int frame = 0;  // body whose frame they are given in; 0: the world
  RayOptions options = {};
};

// Statistics of the solver, summed over all environments and their steps since construction or the
// last clear_counts.
struct SolverCounts {
  std::uint64_t env_steps = 0, iterations = 0, linesearch_evaluations = 0, contacts = 0;
  std::uint64_t not_converged = 0, stalled = 0, inaccurate = 0, late_contact = 0, frozen = 0;
  std::uint64_t solved_again = 0;  // steps with several solves or with renewed friction bounds
  // Sum over packs of the slowest lane. Which environments share a pack depends on all of them.
  std::uint64_t pack_steps = 0, pack_max_iterations = 0;
  std::vector<std::uint64_t> iteration_histogram;  // (max_iterations + 1)
};

// To be used by one thread at a time: a call while another thread is in a call of the same batch, or from
// within a call, throws Error and changes nothing. Access through views is not checked. Batches share no
// mutable state.
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
  // Device that holds the arrays and runs the steps: "cpu", "cuda:0".
  std::string device() const;
  // The GPU, what the kernels need of it, and how many environments are resident at a time; "" for
  // "cpu".
  std::string device_description() const;
  int device_number() const;                // 0 for "cpu"
  std::vector<KernelInfo> kernels() const;  // of a GPU, in step order; waits for the stream
  int threads() const;                      // 1 on a device
  // Instruction set in use: "avx512", "avx2", "baseline"; the environment variable STICTION_ISA selects it.
  // "float64" in that precision: one environment at a time. On a device the kind of device: "cuda".
  std::string isa() const;
  int lanes() const;  // environments side by side in a vector register; 1 on a device
  Precision precision() const;
  BatchMemory memory() const;

  // Makes n steps with constant inputs, then one refresh of the outputs. Throws ArgumentError, without any
  // step, if per-environment parameters written since are unphysical (not on a device). Events inside an
  // environment never throw: see status(). A frozen environment keeps its state and its outputs. A state
  // out of bounds that was written into a view is replaced by the reference pose and frozen.
  // Allocates nothing. On a device step and refresh return before the work on the stream has finished.
  void step(int n = 1);
  // Sets a function that the stepping thread calls between two steps of all environments, about ten times a second,
  // while step(n) or Env::step runs, and between pieces of raycast, depth and height_scan, to check for a signal or a
  // timeout. An exception from it ends the call: every environment has then made the same whole number of steps; the
  // batch can continue from there. The function must not use the batch. nullptr: none.
  void set_poll(std::function<void()> poll);
  // Computes the outputs at the current state; forces and accelerations are those that a step from this
  // state would have.
  void refresh();
  // Refreshes these environments, including frozen ones. A state out of bounds freezes as in a step.
  void refresh(std::span<const int> ids);

  // Resets to the model's reference pose at rest: time 0, no controls or applied forces, mocap bodies at
  // their model poses, no status; then `state` replaces these values. Per-environment parameters stay.
  // Refreshes the outputs of these environments. Throws ArgumentError on an index out of range, a
  // duplicate, a bad state or unphysical per-environment parameters.
  void reset();
  void reset(std::span<const int> ids, const BatchState* state = nullptr);
  void reset(std::span<const bool> mask, const BatchState* state = nullptr);

  BatchState get_state(std::span<const int> ids) const;
  // Throws ArgumentError on wrong sizes, non-finite numbers or zero quaternions, naming environment
  // and index. Clears the status of these environments and refreshes them.
  void set_state(std::span<const int> ids, const BatchState& state);
  // Places the mocap bodies of these environments at mocap_pos and mocap_quat when the next step begins;
  // with mocap_velocity = difference they do not move in that step: as in the first step after a reset.
  // Throws ArgumentError on an index out of range or a duplicate.
  void teleport(std::span<const int> ids);
  // Copies state, inputs, per-environment parameters, outputs and status of environment src[i] to dst[i],
  // for all i at once: an environment may be both source and target.
  void copy(std::span<const int> src, std::span<const int> dst);

  // Views of the batch's memory on its device, valid as long as the batch; outputs are read-only.
  // The shape is (num_envs, rows, columns) without dimensions that src/physics/base/fields.def calls
  // `one`: qpos (num_envs, nq), time (num_envs), gravity (num_envs, 3). An unknown name throws
  // ArgumentError with the nearest names.
  ArrayView field(const std::string& name);
  // Gives each environment its own values of a parameter, initially the model's, and returns a view of
  // them. Unphysical numbers written into it are rejected by the next step, reset or check_params; on a
  // device by reset and check_params.
  ArrayView param(const std::string& name);
  bool param_is_own(const std::string& name) const;
  // Throws ArgumentError naming parameter, environment, index and value of an unphysical per-environment number.
  void check_params() const;
  static std::vector<FieldInfo> fields(const Model& model);
  // Assigns mesh[i], one of the choices of geom `geom` (Model::geom_mesh), to environment ids[i], or to all of them; a
  // single mesh applies to all. Makes geom_dataid, geom_size, geom_pos and geom_quat per-environment and writes them
  // (geom_with_mesh); masses and inertias stay. Throws ArgumentError on a mesh that is not a choice, an index out of
  // range or a duplicate, and on sizes that do not match.
  void choose_mesh(int geom, std::span<const int> mesh,
                   std::optional<std::span<const int>> ids = std::nullopt);

  ArrayView status();       // (num_envs) uint32, bits of Status; read-only
  ArrayView status_step();  // (num_envs) int32, step of the first event since the reset; -1: none
  std::vector<int> frozen()
      const;  // environments whose status has a bit of kFrozen: reset(frozen())
  std::uint64_t status_count() const;  // number of frozen environments

  // ---- computed on request, on the CPU, from the current state, inputs and parameters; for all
  // environments, row-major, NaN where the state is out of bounds.

  // Computes a quantity of src/physics/base/quantities.def: "geom_xpos", "M", "energy_kinetic"; shape as of a field.
  // Throws ArgumentError with the nearest names.
  Computed compute(const std::string& name) const;
  // Jacobian of the origin of an object: a body's centre of mass (body) or frame (xbody), a geom, a site.
  Jacobian jacobian(ObjectType type, int id) const;
  // Jacobian of points given in the world, (num_envs,3), and fixed to a body.
  Jacobian jacobian(int body, std::span<const double> points) const;
  // Inverse dynamics of a step: the generalized force (num_envs,nv) that actuators and applied forces
  // together must exert so that the next step ends with qvel + timestep * qacc. Contacts, joint limits,
  // dry friction, springs and dampers act in addition, as in that step: MuJoCo's qfrc_inverse for the laws
  // of this engine and in discrete time. ctrl, qfrc_applied and xfrc_applied are not read. Exact to
  // round-off for one solve per step (friction_iterations = 1) and at the fixed point; within
  // friction_tolerance for `auto`. NaN also where no force was found to the solver's tolerance.
  std::vector<double> inverse(std::span<const double> qacc) const;
  // The first geoms that rays hit, (environments,n), of all environments or of `ids`; geomid -1 and NaN where the
  // state is out of bounds. Throws ArgumentError as check_rays does, and on sizes that do not match.
  RayHits<float> raycast(const Rays& rays,
                         std::optional<std::span<const int>> ids = std::nullopt) const;
  // Depth image of a fixed perspective camera, (environments,height,width): distance along its optical axis, m, to the
  // first geom hit by the ray through the centre of each pixel, top row first; +∞ where the ray hits none, NaN where
  // the state is out of bounds. options: visible geoms; none: all but those of the camera's body. Throws ArgumentError
  // for any other camera, or a size not in [1, 4096].
  std::vector<float> depth(int camera, int width = 64, int height = 48,
                           const std::optional<RayOptions>& options = std::nullopt,
                           std::optional<std::span<const int>> ids = std::nullopt) const;
  // Heights of the ground on a grid around a body, relative to the body's origin, (environments, nx ny), m: negative
  // below it, −∞ without ground. NaN where the state is out of bounds. Throws ArgumentError as check_scan does.
  std::vector<float> height_scan(int body, const HeightScan& scan = {},
                                 std::optional<std::span<const int>> ids = std::nullopt) const;
  // The contact points in the problem of the step that would come next, by environment and slot; none where the
  // state is out of bounds.
  std::vector<Contact> contacts() const;
  std::vector<Contact> contacts(std::span<const int> ids) const;
  std::vector<Contact> contacts(int env) const;

  SolverCounts counts() const;
  void clear_counts();
  std::uint64_t state_hash() const;  // FNV-1a of the declared state of all environments, in order

  // save writes state, inputs, status and per-environment parameters to a file. load reads it into any
  // batch of the same model, options, precision and num_envs, which then computes the same bits with the
  // same isa(). Where isa() differs, load returns a warning that says so, else "". Per-environment
  // parameters that the file doesn't have become the model's; views stay valid. Both throw Error on a
  // damaged file or one of something else, and then change nothing.
  void save(const std::string& path) const;
  std::string load(const std::string& path);
  // The same as bytes, with the outputs, which a file leaves out: this includes forces and accelerations
  // of the last step.
  std::vector<std::byte> snapshot() const;
  std::string restore(std::span<const std::byte> snapshot);
  // remember copies everything, counts included, to memory that the batch holds from then on; put_back
  // restores the copy: for calls of a user's function between steps, which may throw. Parameters that became
  // per-environment in between stay so, with the model's values. put_back throws Error if nothing is kept.
  void remember();
  void put_back();
  // Writes one environment as JSON: model file (empty where the model came from a string), options, state,
  // inputs, per-environment parameters; `stiction replay` steps it in double with a trace.
  void dump(int env, const std::string& path) const;

  // The CUDA stream on which the batch's work is enqueued; 0 on the CPU. After set_stream the batch's next
  // work waits for its earlier work. release_to: work enqueued on the stream `other` from now on waits for
  // the batch's work so far; wait_for: the batch's next work waits for the work of `other` so far. On the
  // CPU both do nothing.
  std::uintptr_t stream() const;
  void set_stream(std::uintptr_t stream);
  void release_to(std::uintptr_t other) const;
  void wait_for(std::uintptr_t other);
  // Copies bytes to or from the batch's memory, in the order of its stream; the other memory may be
  // of the host or of any device. A copy from a device to the host has arrived when it returns.
  void copy_memory(void* to, const void* from, std::size_t bytes) const;
  // Waits for the stream. Throws Error if the device failed.
  void synchronize() const;

  struct Impl;  // src/batch/impl.h

 private:
  friend class Env;  // episodes: resets rows without an allocation
  friend class StepDerivative;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction

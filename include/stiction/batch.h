// Thousands of independent copies of one robot, stepped together: the product.
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
  // At most so many, as many as measuring shows to be worth it; default: the processors that this
  // process may use (affinity, and the quota of its control groups).
  std::optional<int> threads;
  std::uintptr_t stream = 0;  // cudaStream_t; 0: the default stream
};

// The memory of a batch, in bytes; known before anything is allocated.
struct BatchMemory {
  std::size_t per_env = 0;  // dense fields of one environment
  std::size_t per_thread =
      0;  // blocked working set of one thread: of three packs, where two step side by side
  std::size_t total = 0;  // on the host
  // Of a batch on a device, in addition: memory of the device, and addresses on the host for copies
  // of the dense fields, whose pages take memory once they are fetched or written there.
  std::size_t device = 0, mirror = 0;
  // On a GPU, in addition: an upper bound on the local memory (stacks and spilled registers) that
  // the driver reserves once per process, for the kernel that needs most. 0 where there is no GPU
  // to ask.
  std::size_t local = 0;
};
BatchMemory batch_memory(const Model& model, const BatchOptions& options);

// A kernel of a device, as it was planned for the model.
struct KernelInfo {
  std::string name;
  int threads_per_env = 0;  // that work together on an environment
  int registers = 0;        // per thread
  int local_bytes = 0;
  int shared_bytes = 0;  // per block
  int arena_bytes = 0;   // of it, for the fields of one environment
  int envs_per_sm = 0;   // resident on a multiprocessor
  double occupancy = 0;  // share of a multiprocessor's threads that are resident
  // Since the batch was made; zero unless STICTION_CUDA_TIMES was 1 then.
  std::uint64_t launches = 0;
  double seconds = 0;
};

// One field or parameter of a batch, from the list src/physics/base/fields.def; or what it computes on
// request, from src/physics/base/quantities.def.
struct FieldInfo {
  std::string name, kind, producer, meaning;  // kind: state, input, param, output, computed
  int rows = 0, columns = 0;                  // numbers per environment
  bool wide = false;                          // float64 in every precision
};

// What a step depends on besides inputs and parameters, of n environments, row-major (n, ...).
// Empty vectors in set_state: qpos, qvel, act, time stay; the others become zero.
struct BatchState {
  std::vector<double> qpos, qvel, act, time, anchor, friction_anchor, rebound, body_airtime,
      qacc_warmstart;
  std::vector<double> mocap_xpos, mocap_xquat, mocap_xvel;
};

// Numbers that were asked for; row-major.
struct Computed {
  std::vector<double> numbers;
  std::vector<int> shape;
};

// Velocity of a point and of the body that it is fixed to, per unit of qvel: MuJoCo's jacp and jacr.
struct Jacobian {
  std::vector<double> position, rotation;  // (num_envs,3,nv)
};

// n rays of each environment, o + x d: origins and directions are (n,3), the same for all, or
// (environments,n,3) each.
struct Rays {
  int n = 0;
  std::span<const double> origins, directions;
  int frame = 0;  // body in whose frame they are; 0: the world
  RayOptions options = {};
};

// Statistics of the solver, summed over all environments and their steps since construction or the
// last clear_counts.
struct SolverCounts {
  std::uint64_t env_steps = 0, iterations = 0, linesearch_evaluations = 0, contacts = 0;
  std::uint64_t not_converged = 0, stalled = 0, inaccurate = 0, late_contact = 0, frozen = 0;
  std::uint64_t solved_again = 0;  // steps with several solves or renewed bounds of friction
  // Σ over packs of the slowest lane. Which environments share a pack depends on all of them.
  std::uint64_t pack_steps = 0, pack_max_iterations = 0;
  std::vector<std::uint64_t> iteration_histogram;  // (max_iterations + 1)
};

// For one thread at a time: a call while another thread is in a call of the same batch, or from within
// a call, throws Error and changes nothing. Views, and the memory that they show, are not watched.
// Batches share nothing that changes.
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
  // Where its arrays are and its steps run: "cpu", "cuda:0".
  std::string device() const;
  // The GPU, what the kernels need of it, and how many environments it holds at a time; "" of
  // "cpu".
  std::string device_description() const;
  int device_number() const;                // 0 of "cpu"
  std::vector<KernelInfo> kernels() const;  // of a GPU, in the order of a step; waits for its work
  int threads() const;                      // 1 on a device
  // What runs: "avx512", "avx2", "baseline"; the environment variable STICTION_ISA chooses.
  // "float64" in that precision: one environment at a time. On a device its kind: "cuda".
  std::string isa() const;
  int lanes() const;  // environments side by side in a vector register; 1 on a device
  Precision precision() const;
  BatchMemory memory() const;

  // n steps with the inputs as they are, then one refresh of the outputs. Throws ArgumentError, and
  // steps nothing, where own parameters that were written since are unphysical (not on a device). What
  // happens inside an environment never throws: see status(). A frozen environment keeps its state and
  // its outputs. A state out of bounds that was written into a view becomes the reference pose, frozen.
  // Allocates nothing. On a device step and refresh return before the work on the stream is done.
  void step(int n = 1);
  // Called by the thread that steps, between two steps of all environments, some ten times a second while step(n) or an
  // Env's step goes on, and between pieces of raycast, depth and height_scan, for a look at a signal or a clock. What it
  // throws ends the call: every environment has then made the same whole number of steps, and the batch goes on from
  // there. It must not use the batch. nullptr: none.
  void set_poll(std::function<void()> poll);
  // Computes the outputs at the present state; forces and accelerations are those of a step from it
  // that is not taken.
  void refresh();
  // Outputs of these environments, frozen ones too. A state out of bounds freezes as in a step.
  void refresh(std::span<const int> ids);

  // Back to the model's reference pose at rest: time 0, no controls or applied forces, mocap bodies
  // where the model has them, no status; then what `state` has replaces it. Own parameters stay.
  // Refreshes the outputs of these environments. Throws ArgumentError on an index out of range, a
  // duplicate, a bad state or unphysical own parameters.
  void reset();
  void reset(std::span<const int> ids, const BatchState* state = nullptr);
  void reset(std::span<const bool> mask, const BatchState* state = nullptr);

  BatchState get_state(std::span<const int> ids) const;
  // Throws ArgumentError on wrong sizes, non-finite numbers or zero quaternions, naming environment
  // and index. Clears the status of these environments and refreshes them.
  void set_state(std::span<const int> ids, const BatchState& state);
  // Mocap bodies of these environments are at once where mocap_pos and mocap_quat say when the next step
  // begins, and do not move in it with mocap_velocity = difference: as in the first step after a reset.
  // Throws ArgumentError on an index out of range or twice.
  void teleport(std::span<const int> ids);
  // Copies state, inputs, own parameters, outputs and status of environment src[i] to dst[i], for
  // all i at once: an environment may be a source and a target.
  void copy(std::span<const int> src, std::span<const int> dst);

  // Views of the batch's memory on its device, valid as long as the batch; outputs are read-only.
  // The shape is (num_envs, rows, columns) without what the list src/physics/base/fields.def calls
  // `one`: qpos (num_envs, nq), time (num_envs), gravity (num_envs, 3). Throw ArgumentError with
  // the nearest names.
  ArrayView field(const std::string& name);
  // Gives each environment its own values of a parameter, at first the model's, and returns their
  // view. Unphysical numbers that are written into it are refused: by the next step, reset or
  // check_params, on a device by reset and check_params.
  ArrayView param(const std::string& name);
  bool param_is_own(const std::string& name) const;
  // Throws ArgumentError naming parameter, environment, index and value if an own number is unphysical.
  void check_params() const;
  static std::vector<FieldInfo> fields(const Model& model);
  // Geom `geom` is mesh[i] of its choice (Model::geom_mesh) in environment ids[i], or all in all; a single mesh is for
  // all of them. Makes geom_dataid, geom_size, geom_pos and geom_quat own and writes them (geom_with_mesh); masses and
  // inertias stay. Throws ArgumentError on a mesh that is not in the choice, an index out of range or twice,
  // and on sizes that do not fit.
  void choose_mesh(int geom, std::span<const int> mesh,
                   std::optional<std::span<const int>> ids = std::nullopt);

  ArrayView status();       // (num_envs) uint32, bits of Status; read-only
  ArrayView status_step();  // (num_envs) int32, step of the first event since the reset; -1: none
  std::vector<int> frozen()
      const;  // environments whose status has a bit of kFrozen: reset(frozen())
  std::uint64_t status_count() const;  // their number

  // ---- computed when asked for, by the CPU, from the present state, inputs and parameters; for all
  // environments, row-major, NaN where the state is out of bounds.

  // What src/physics/base/quantities.def lists: "geom_xpos", "M", "energy_kinetic"; the shape as of a field.
  // Throws ArgumentError with the nearest names.
  Computed compute(const std::string& name) const;
  // Of the origin of an object: a body's centre of mass (body) or frame (xbody), a geom, a site.
  Jacobian jacobian(ObjectType type, int id) const;
  // Of points in the world, (num_envs,3), that are fixed to a body.
  Jacobian jacobian(int body, std::span<const double> points) const;
  // Inverse dynamics of a step: the generalized force (num_envs,nv) that actuators and applied forces
  // together must exert so that the next step ends with qvel + timestep * qacc. Contacts, joint limits,
  // dry friction, springs and dampers act besides, as they do in that step: MuJoCo's qfrc_inverse, of
  // this engine's laws and in discrete time. ctrl, qfrc_applied and xfrc_applied are not read. To
  // round-off for one solve per step (friction_iterations = 1) and at the fixed point; within
  // friction_tolerance of `auto`. NaN also where no force was found to the solver's tolerance.
  std::vector<double> inverse(std::span<const double> qacc) const;
  // The first geoms that rays meet, (environments,n), of all environments or of `ids`; geomid -1 and NaN where the
  // state is out of bounds. Throws ArgumentError as check_rays, and on sizes that do not fit.
  RayHits<float> raycast(const Rays& rays,
                         std::optional<std::span<const int>> ids = std::nullopt) const;
  // What a fixed perspective camera sees, (environments,height,width): m along its optical axis to the first
  // geom that the ray through the middle of each pixel meets, the topmost row first; +∞ where it meets none, NaN
  // where the state is out of bounds. options: geoms that are seen; none: all but those of the camera's body.
  // Throws ArgumentError on another camera, or a size that is not in [1, 4096].
  std::vector<float> depth(int camera, int width = 64, int height = 48,
                           const std::optional<RayOptions>& options = std::nullopt,
                           std::optional<std::span<const int>> ids = std::nullopt) const;
  // Heights of the ground on a grid about a body over the body's origin, (environments, nx ny), m: below it
  // negative, −∞ where nothing is. NaN where the state is out of bounds. Throws ArgumentError as check_scan.
  std::vector<float> height_scan(int body, const HeightScan& scan = {},
                                 std::optional<std::span<const int>> ids = std::nullopt) const;
  // The points in the problem of a step that is not taken, by environment and slot; none where the
  // state is out of bounds.
  std::vector<Contact> contacts() const;
  std::vector<Contact> contacts(std::span<const int> ids) const;
  std::vector<Contact> contacts(int env) const;

  SolverCounts counts() const;
  void clear_counts();
  std::uint64_t state_hash() const;  // FNV-1a of the declared state of all environments, in order

  // State, inputs, status and own parameters to a file, and back into any batch of the same model,
  // options, precision and num_envs: the same bits from there on with the same isa(). Where that
  // differs, load returns a warning that says so, else "". Own parameters that the file doesn't have
  // become the model's; views stay valid. Throw Error on a damaged or foreign file, and then change
  // nothing.
  void save(const std::string& path) const;
  std::string load(const std::string& path);
  // The same as bytes, with the outputs, which a file leaves out: forces and accelerations of the
  // last step are there, too.
  std::vector<std::byte> snapshot() const;
  std::string restore(std::span<const std::byte> snapshot);
  // Keeps a copy of everything, counts included, in memory that the batch holds from then on, and
  // puts it back: for calls of a user's function between steps, which may throw. Parameters that became
  // own in between stay so, with the model's numbers. put_back throws Error if nothing is kept.
  void remember();
  void put_back();
  // One environment as JSON: model file (empty where the model came from a string), options, state,
  // inputs, own parameters; `stiction replay` steps it in double with a trace.
  void dump(int env, const std::string& path) const;

  // The CUDA stream of the batch's work; 0 on the CPU. On another one its next work waits for the
  // work so far. release_to: what is given to the stream `other` from now on waits for the batch's
  // work so far; wait_for: the batch's next work waits for what `other` has. On the CPU both do
  // nothing.
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

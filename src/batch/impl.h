// Implementation of a batch. Dense rows are the public memory; a run gathers the rows of the lanes of
// a pack into the blocks of its thread, steps there and scatters them back.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batch/archive.h"
#include "batch/device.h"
#include "batch/guard.h"
#include "cpu/buffer.h"
#include "cpu/host_model.h"
#include "cpu/kernels.h"
#include "cpu/pace.h"
#include "cpu/thread_pool.h"
#include "index.h"
#include "physics/base/env_status.h"
#include "physics/base/team.h"
#include "stiction/batch.h"
#include "stiction/error.h"

namespace stiction {

using cpu::Field;
using cpu::FieldKind;
using cpu::FieldSpec;
using cpu::FieldType;
using cpu::kFields;

constexpr std::size_t at(Field f) {
  return static_cast<std::size_t>(f);
}

inline constexpr int kMaxLanes = 16;  // maximum over the instruction sets

using physics::has_direction;

std::vector<int> all_ids(int n);  // 0 ... n - 1

// Returns the options with every default resolved. Throws ArgumentError.
Options resolved(const Model& model, const BatchOptions& options);
// As batch_memory, for a batch with a task of that kind; -1: without a task.
BatchMemory memory_with_task(const Model& model, const BatchOptions& options, int task_kind);

// The blocks of one thread, and its counts.
struct Workspace {
  cpu::Buffer memory;
  std::vector<cpu::Buffer> own;  // blocks of per-environment parameters
  std::array<void*, kFields> fields{};
  SolverCounts counts;
};

// The environments in the lanes of one pack; lanes beyond the last copy the last.
struct Lanes {
  int used;
  int env[kMaxLanes];
  bool active[kMaxLanes];  // the lane steps
  bool store[kMaxLanes];   // results of the lane are stored
};

// Environments that share a pack should be alike: a pack processes every point that any of its lanes has,
// until its slowest lane is done. They are sorted by these keys.
struct GroupKey {
  std::uint64_t touching;  // bit b: body b touches something
  int iterations;          // in the last step
  int env;
};

// A nonempty dense field, as a run copies it.
struct RowSpec {
  Field field;
  FieldKind kind;
  bool wide;
  int numbers;        // per environment
  std::size_t bytes;  // of a row
  double limit;       // bound on the absolute value of a state's number
};

// The slots of each environment that may have an anchor: anchors.cpp.
struct AnchorSlots {
  int nslot = 0, nanchor = 0, words = 0;  // 0 if there are no anchors; words per environment
  std::vector<std::uint64_t> bits;        // (envs, words)
  std::vector<std::uint8_t> known;        // (envs)  0: the row may have been written since
  bool shown = false;                     // a view was given to a user, who may write at any time

  void allocate(int envs, int slots, int anchors);
  static std::size_t bytes_per_env(int slots, int anchors);
  std::uint64_t* of(int env) { return bits.data() + at(env) * at(words); }
  void forget(int env) { known[at(env)] = 0; }
  void forget() { std::fill(known.begin(), known.end(), std::uint8_t{0}); }
};

// The shape of a field in a .def list: rows or columns that are the constant `one` are omitted.
struct Shape {
  bool rows, columns;
};
constexpr Shape shape_of(std::string_view rows, std::string_view columns) {
  return {rows != "one", columns != "one"};
}

// Groups of rows that the host reads or writes, as bits.
using RowGroups = unsigned;
inline constexpr RowGroups kStateRows = 1, kInputRows = 2, kParamRows = 4, kOutputRows = 8,
                           kStatusRows = 16;
inline constexpr RowGroups kGivenRows = kStateRows | kInputRows | kParamRows;

struct Batch::Impl {
  Impl(ModelPtr m, const BatchOptions& o);

  // ---- constant after construction
  ModelPtr model;
  BatchOptions given;
  Options options;
  const cpu::Kernels& kernels;
  cpu::HostModel host;
  std::uint64_t model_hash;
  std::vector<int> quaternions;  // addresses in qpos
  BatchMemory memory;
  bool poison;  // tests: NaN in all memory that a step must not read

  // ---- dense fields; parameters only if per-environment
  cpu::Buffer dense;
  std::vector<cpu::Buffer> own, checked;  // parameters; copies of those that last passed the check
  bool any_own = false;
  std::array<std::byte*, kFields> rows{};
  std::vector<RowSpec> loaded, stored;  // parameters are loaded if per-environment
  std::vector<std::uint32_t> status;
  std::vector<std::int32_t> status_step, steps;  // steps since the reset
  std::vector<GroupKey> order;                   // environments as they share packs, see group.cpp
  AnchorSlots anchors;
  cpu::Buffer reference;  // the model's values, a dense row per field
  std::array<std::byte*, kFields> reference_row{};

  // ---- blocks
  cpu::Buffer shared;  // parameters of the model, shared by all threads
  // One per thread; if two packs are stepped side by side, then those of the second packs, then those that both share.
  std::vector<Workspace> workspaces;
  std::unique_ptr<cpu::ThreadPool> pool;
  cpu::Pace pace{1};  // of the steps
  SolverCounts counts;
  Guard guard;
  std::function<void()> poll;  // Batch::set_poll
  double step_seconds = 0;     // recent duration of one step of all environments; 0: unknown

  // ---- the device that holds the batch, if not the CPU: the rows above are then copies on the host
  std::unique_ptr<Device> device;

  int num_envs() const { return given.num_envs; }
  std::string isa() const;
  const FieldSpec& spec(Field f) const { return host.specs()[at(f)]; }
  bool is_wide(const FieldSpec& s) const { return s.type == FieldType::wide; }
  // Return the bytes of one number in a dense row, of a row, and of a block.
  std::size_t number_bytes(const FieldSpec& s) const {
    return is_wide(s) || given.precision == Precision::float64 ? 8 : 4;
  }
  std::size_t row_bytes(const FieldSpec& s) const { return number_bytes(s) * at(s.size()); }
  std::size_t block_bytes(const FieldSpec& s) const;
  std::byte* row(Field f, int env) const { return rows[at(f)] + row_bytes(spec(f)) * at(env); }
  physics::StatusArrays host_status() { return {status.data(), status_step.data(), steps.data()}; }
  // Returns the status arrays where the batch lives.
  physics::StatusArrays status_arrays() {
    return device != nullptr ? device->status_arrays() : host_status();
  }
  bool owns(Field f) const { return spec(f).kind == FieldKind::param && rows[at(f)] != nullptr; }
  // Returns number i of a dense row.
  double get(const std::byte* row, const FieldSpec& s, int i) const;
  void set(std::byte* row, const FieldSpec& s, int i, double x) const;
  double number(Field f, int env, int i) const { return get(row(f, env), spec(f), i); }
  std::vector<double> numbers(Field f, int env) const;
  void allocate();
  std::vector<RowSpec> row_specs(std::initializer_list<FieldKind> kinds) const;
  std::vector<double> reference_values(Field f) const;
  ArrayView view(Field f);
  void make_own(Field f);
  Field find(const std::string& name) const;

  // ---- mirror.cpp: transfers rows between a device and their copies on the host; parameters only if
  // per-environment. On the CPU these do nothing.
  void fetch(RowGroups groups, std::span<const int> envs);
  void fetch_all(RowGroups groups);
  void send_all(RowGroups groups);
  std::vector<RowCopy> row_copies(RowGroups groups);
  RowCopy row_copy(Field f);

  // ---- run.cpp
  struct Run {
    const int* envs;  // nullptr: all, in groups
    int count;
    int steps;             // 0: forces without moving the state
    bool store_frozen;     // also where the status says that an environment is frozen
    bool goes_on = false;  // with the groups of the previous run
    int after = 0;         // remaining steps of the call, made by later runs
  };
  void run(const Run& r);
  void step(int n);
  void group();  // group.cpp
  void group(int first, int last);
  int packs_together() const { return workspaces.size() > at(pool->size()) ? 2 : 1; }
  bool load_pack(Workspace& w, const Run& r, int first, Lanes& l);
  void run_packs(int worker, const Run& r, int first, int packs);
  void load(Workspace& w, const int* env);
  void store(Workspace& w, const int* env, const bool* chosen, bool state);
  void fill_unwritten(Workspace& w, bool outputs);
  void count_step(Workspace& w, const int* env, bool* active, int used);
  void record_status(int env, Status bits) { physics::record_status(host_status(), env, bits); }
  bool frozen(int env) const { return any(static_cast<Status>(status[at(env)]), kFrozen); }
  bool state_is_good(int env);
  bool mocap_is_good(int env) const;

  // ---- anchors.cpp
  void find_anchors(int env);
  bool anchors_are_finite(int env);
  void load_anchors(Workspace& w, const int* env);
  void store_anchors(Workspace& w, const int* env, const bool* chosen);
  void clear_anchors(int env);

  // ---- state.cpp
  void check_ids(std::span<const int> ids, bool distinct) const;
  void check_state(std::span<const int> ids, const BatchState& s) const;
  void write_state(std::span<const int> ids, const BatchState& s, bool after_reset);
  void write_reference(int env, FieldKind kind);
  void reset_environment(int env);                      // on the CPU
  void reset(const int* ids, int n);                    // null: all
  double limit(Field f) const;                          // bound on a number of the state
  std::string describe(Field f, int env, int i) const;  // "qpos[3, 2]"

  // ---- file.cpp
  std::vector<std::byte> snapshot(bool outputs);
  std::size_t longest_snapshot();  // in bytes, with every parameter per-environment
  // Throws Error, naming the source, on damaged or foreign bytes, without changing anything. Returns
  // a warning if the bits of later steps will differ, else "".
  std::string restore(std::span<const std::byte> bytes, const std::string& source, bool outputs);
  void check_status(std::span<const std::byte> saved, const std::string& source) const;

  // ---- check.cpp: per-environment parameters. Throw ArgumentError on an unphysical one.
  void check_params(int env);
  // Returns whether any of environments [first, last) differs from the version that last passed the check.
  bool params_differ(int first, int last) const;
  void check_written_params();
  std::vector<Contact> contacts(std::span<const int> ids);  // contacts.cpp

  // ---- compute.cpp: rows of all environments; NaN for a bad state
  Computed compute(physics::Quantity which);
  // points (num_envs,3), or null: the origin of the object.
  Jacobian jacobian(ObjectType type, int id, const double* points);
  std::vector<double> inverse(std::span<const double> qacc);

  // ---- rays.cpp: NaN for a bad state
  RayHits<float> raycast(std::span<const int> ids, const Rays& rays);
  std::vector<float> height_scan(std::span<const int> ids, int body, const HeightScan& scan);

  // ---- undo.cpp
  struct Before {
    std::vector<std::byte> rows;  // of the fields, with status and steps
    std::array<bool, kFields> own{};
    SolverCounts counts;
  } kept;  // Batch::remember
  void remember(Before& before);
  void put_back(const Before& before);
};

// Calls f(Field, spec) for the fields of these kinds.
template <class F>
void for_fields(const cpu::FieldSpecs& specs, std::initializer_list<FieldKind> kinds, const F& f) {
  for (int i = 0; i < kFields; ++i)
    for (const FieldKind kind : kinds)
      if (specs[at(i)].kind == kind) f(static_cast<Field>(i), specs[at(i)]);
}

}  // namespace stiction

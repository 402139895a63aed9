// Episodes: a Batch with a task, stepped by actions. It has what every adapter to a training library needs,
// and nothing specific to one library.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "stiction/batch.h"
#include "stiction/load.h"
#include "stiction/report.h"

namespace stiction {

// When a finished environment begins its next episode.
enum class Autoreset {
  same_step,  // within the step that ended it: obs is of the new episode, final_obs of the old one
  next_step,  // in the next step, which ignores the action and has reward 0
  disabled,   // when the caller resets the environment
};

using TaskOption = std::variant<bool, double, std::string, std::vector<double>>;

struct TaskOptionInfo {
  std::string name, meaning;
  TaskOption value;  // default
};

struct TaskInfo {
  std::string id, summary;
  int num_obs = 0, num_actions = 0;
  int max_episode_steps = 0;  // 0: no limit
  // The return at which Gymnasium considers the task solved, if it defines one.
  std::optional<double> reward_threshold = {};
  int frame_skip = 1;  // physics steps per control step
  std::vector<std::string> metrics;
  std::vector<TaskOptionInfo> options;
  Options engine = {};  // options of its physics, unless EnvOptions override them
};

struct EnvOptions {
  int num_envs = 1;
  int threads = 0;         // as BatchOptions::threads; 0: the default; on a device none
  std::uint64_t seed = 0;  // environment i draws with seed + i
  Precision precision = Precision::float32;
  Autoreset autoreset = Autoreset::same_step;
  int max_episode_steps = -1;     // -1: the task's
  std::optional<Options> engine;  // default: the task's; in it, where unset: the model's
  std::map<std::string, TaskOption> task;
  std::string device = "cpu";  // "cuda", "cuda:1": actions and results stay there
  std::uintptr_t stream = 0;   // cudaStream_t; 0: the default stream
};

// Memory of an Env in bytes: its batch and its episodes; known before anything is allocated.
BatchMemory env_memory(const std::string& id, const EnvOptions& options);

// To be used by one thread at a time, like a Batch; a physics callback may use batch(), but not the Env.
class Env {
 public:
  // Throws ArgumentError on an unknown id or option (naming the nearest), or a value out of range.
  Env(const std::string& id, const EnvOptions& options);
  ~Env();
  Env(Env&&) noexcept;
  Env& operator=(Env&&) noexcept;

  static std::vector<TaskInfo> tasks();
  const TaskInfo& info() const;  // with the options as given
  // The state, inputs and outputs of all environments. Values written into them between steps are used
  // by the next step; reset and set_state of the batch do not affect episodes.
  Batch& batch();
  ModelPtr model() const;
  const std::string& model_xml() const;   // the task's model as MJCF
  const Assets& model_assets() const;     // the files that it names
  const LoadReport& load_report() const;  // how it was read
  Autoreset autoreset() const;
  int num_envs() const;
  BatchMemory memory() const;
  double dt() const;                          // of a control step, s
  std::span<const float> action_low() const;  // (num_actions)
  std::span<const float> action_high() const;

  // Begins new episodes and writes their first observations to obs; environments that are not reset
  // keep all their results. The constructor begins episode 0, and the first reset begins it again.
  void reset();
  void reset(std::span<const int> ids);  // ArgumentError on an index out of range or a duplicate
  // Environment i (index in the batch, not in `ids`) draws with seed + i; its next episode is episode 0.
  void seed(std::uint64_t seed);
  void seed(std::span<const int> ids, std::span<const std::uint64_t> seeds);  // one seed per id

  // Makes one control step of all environments. actions: (num_envs, num_actions), row-major; ArgumentError
  // on another size. Non-finite numbers count as 0 and set Status::bad_control. An environment that froze
  // (Batch::status) ends its episode as terminated with reward 0; truncated is false where terminated is
  // true. Observations, rewards and metrics are finite. Allocates nothing.
  void step(std::span<const float> actions);

  // The same with `physics` instead of Batch::step: it must advance the state of the batch by the
  // physics steps of one control step and refresh the outputs. If it throws, so does step, and nothing
  // has changed: neither results and episodes nor the batch, whatever `physics` did to it; parameters
  // that it made per-environment stay so, with the model's values.
  void step(std::span<const float> actions, const std::function<void()>& physics);

  // The same with actions in memory named by a view: that of the environments' device, in the order
  // of its stream (ArgumentError for any other stream), or the host's. A step on a device does not
  // wait.
  void step(const ArrayView& actions, const std::function<void()>* physics = nullptr);

  // Everything that later steps depend on and the last results, as bytes; restore puts it into an Env of the
  // same task, options, autoreset, precision and num_envs: the same bits from there on with the same
  // Batch::isa. If that differs, restore returns a warning that says so, else "". It throws Error on
  // damaged or foreign bytes, without changing anything.
  std::vector<std::byte> snapshot() const;
  std::string restore(std::span<const std::byte> snapshot);

  // Recomputes obs after a state was written into the batch; everything else stays. Actions that a
  // task observes are those of the last step, 0 after a reset; noise is that of the last obs.
  void observe();

  // Results of the last step or reset; they remain valid for one more step or reset, then the
  // memory is overwritten (two buffers alternate).
  ArrayView obs();         // (num_envs, num_obs) float32
  ArrayView reward();      // (num_envs) float32
  ArrayView terminated();  // (num_envs) uint8
  ArrayView truncated();   // (num_envs) uint8
  // Where terminated or truncated: the last observation and metrics of the episode; elsewhere equal
  // to obs and metrics.
  ArrayView final_obs();  // (num_envs, num_obs) float32
  ArrayView metrics();    // (num_envs, metrics) float32, of the step

  ArrayView episode_length();        // (num_envs) int32, steps since the reset; may be written
  ArrayView episode_return();        // (num_envs) float32
  ArrayView final_episode_length();  // (num_envs) int32, of the episode that ended in the last step
  ArrayView final_episode_return();  // (num_envs) float32
  std::uint64_t steps() const;       // control steps since construction

  struct Impl;  // src/env/impl.h

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction

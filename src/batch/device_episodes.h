// A task that runs on a device: what an Env asks of it. All its work is in the order of the
// device's stream, and no call waits for it.
#pragma once

#include <array>
#include <cstddef>

namespace stiction {

namespace envs {
struct EpisodeArrays;
}

struct EpisodesSpec {
  int kind;          // of the task: its place in envs::AllTasks
  const void* task;  // the struct; copied
  int num_actions;
  int frame_skip;
  std::size_t bytes;  // for the arrays of all environments
};

class DeviceEpisodes {
 public:
  static constexpr int kSets = 2;  // of results
  virtual ~DeviceEpisodes() = default;

  // `bytes` of the device, all zero. Its address never changes.
  virtual std::byte* memory() const = 0;
  // Where the arrays of the episodes are; the two sets differ in those of the results.
  virtual void bind(const std::array<envs::EpisodeArrays, kSets>& sets) = 0;

  // Copies the user's actions to where `given` says. Throws ArgumentError where memory that is said
  // to be on this device is not; memory of the host may change once it returns.
  virtual void take_actions(const float* actions, bool on_device) = 0;

  // A control step into a set of results; or its two halves, around physics of the caller.
  virtual void step(int set) = 0;
  virtual void act(int set) = 0;
  virtual void finish(int set) = 0;
  // New episodes where `begins` is not 0, their results cleared. `restart`: from episode 0 on.
  virtual void begin(int set, bool restart) = 0;
  // Observations of the present state.
  virtual void observe(int set) = 0;
};

}  // namespace stiction

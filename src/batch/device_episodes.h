// A task that runs on a device, as an Env uses it. All work is in the order of the device's
// stream, and no call waits for it.
#pragma once

#include <array>
#include <cstddef>

namespace stiction {

namespace envs {
struct EpisodeArrays;
}

struct EpisodesSpec {
  int kind;          // of the task: its index in envs::AllTasks
  const void* task;  // the struct; copied
  int num_actions;
  int frame_skip;
  std::size_t bytes;  // for the arrays of all environments
};

class DeviceEpisodes {
 public:
  static constexpr int kSets = 2;  // of results
  virtual ~DeviceEpisodes() = default;

  // `bytes` of device memory, all zero. Its address never changes.
  virtual std::byte* memory() const = 0;
  // Sets the arrays of the episodes; the two sets differ in the arrays of results.
  virtual void bind(const std::array<envs::EpisodeArrays, kSets>& sets) = 0;

  // Copies the user's actions to `given`. Throws ArgumentError if memory that is said to be on this
  // device is not; host memory may be changed as soon as the call returns.
  virtual void take_actions(const float* actions, bool on_device) = 0;

  // Makes a control step into a set of results; act and finish are its halves, around physics of the caller.
  virtual void step(int set) = 0;
  virtual void act(int set) = 0;
  virtual void finish(int set) = 0;
  // Begins new episodes where `begins` is not 0, and clears their results. `restart`: from episode 0 on.
  virtual void begin(int set, bool restart) = 0;
  // Computes the observations of the current state.
  virtual void observe(int set) = 0;
};

}  // namespace stiction

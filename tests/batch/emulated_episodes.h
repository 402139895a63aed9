// Tasks on the emulated device: the bodies of their kernels by lanes on the host.
#pragma once

#include <functional>
#include <memory>

#include "batch/device_episodes.h"
#include "cuda/episodes.h"
#include "cuda/lane_kernels.h"

namespace stiction::test {

// What a task needs of its device.
struct EmulatedHost {
  int num_envs;
  bool poison;
  std::function<cuda::Launch()> launch;  // of all environments
  std::function<const physics::ModelView&()> model;
  std::function<void(const cuda::Launch&, int steps)> run;
};

std::unique_ptr<DeviceEpisodes> emulated_episodes(const EpisodesSpec& spec, Lanes lanes,
                                                  EmulatedHost host);

// Memory that emulated devices gave out: the rest is the host's.
class EmulatedMemory {
 public:
  EmulatedMemory(const std::byte* begin, std::size_t bytes);
  ~EmulatedMemory();
  EmulatedMemory(const EmulatedMemory&) = delete;
  EmulatedMemory& operator=(const EmulatedMemory&) = delete;
  static bool holds(const void* p);

 private:
  const std::byte* begin_;
};

}  // namespace stiction::test

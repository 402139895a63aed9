// Layout of the arrays of episodes in one allocation, on the host or on a device.
#pragma once

#include <array>
#include <cstddef>

#include "envs/episode.h"

namespace stiction::env {

class EpisodeMemory {
 public:
  // Uses the counts and options of `shape`; its pointers are not read.
  EpisodeMemory(int num_envs, const envs::EpisodeArrays& shape);

  std::size_t bytes() const { return bytes_; }
  // Returns the arrays, with the results of one of the two sets.
  envs::EpisodeArrays arrays(std::byte* memory, int set) const;
  // The results of a set are contiguous.
  std::size_t results(int set) const { return results_[static_cast<std::size_t>(set)]; }
  std::size_t result_bytes() const { return results_[1] - results_[0]; }

 private:
  envs::EpisodeArrays place(std::byte* memory, int set, std::array<std::size_t, 2>& results,
                            std::size_t& bytes) const;

  int num_envs_;
  envs::EpisodeArrays shape_;
  std::array<std::size_t, 2> results_{};
  std::size_t bytes_ = 0;
};

}  // namespace stiction::env

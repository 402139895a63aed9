#include "env/episode_memory.h"

#include <type_traits>

#include "cpu/buffer.h"

namespace stiction::env {

EpisodeMemory::EpisodeMemory(int num_envs, const envs::EpisodeArrays& shape)
    : num_envs_(num_envs), shape_(shape) {
  place(nullptr, 0, results_, bytes_);
}

envs::EpisodeArrays EpisodeMemory::arrays(std::byte* memory, int set) const {
  std::array<std::size_t, 2> results;
  std::size_t bytes;
  return place(memory, set, results, bytes);
}

envs::EpisodeArrays EpisodeMemory::place(std::byte* memory, int set,
                                         std::array<std::size_t, 2>& results,
                                         std::size_t& bytes) const {
  envs::EpisodeArrays a = shape_;
  bytes = 0;
  const auto take = [&](auto*& array, int columns) {
    using T = std::remove_reference_t<decltype(*array)>;
    array = memory == nullptr ? nullptr : reinterpret_cast<T*>(memory + bytes);
    bytes += cpu::whole_lines(sizeof(T) * envs::row_begin(num_envs_, columns));
  };
  take(a.seed, 1), take(a.episode, 1), take(a.length, 1), take(a.final_length, 1);
  take(a.sum, 1), take(a.episode_return, 1), take(a.final_return, 1);
  take(a.ended, 1), take(a.begins, 1);
  take(a.memory, a.memory_bytes), take(a.given, a.num_actions), take(a.action, a.num_actions);
  for (int s = 0; s < 2; ++s) {
    results[static_cast<std::size_t>(s)] = bytes;
    envs::EpisodeArrays other = a;
    envs::EpisodeArrays& r = s == set ? a : other;
    take(r.obs, r.num_obs), take(r.final_obs, r.num_obs), take(r.metrics, r.num_metrics);
    take(r.reward, 1), take(r.terminated, 1), take(r.truncated, 1);
  }
  return a;
}

}  // namespace stiction::env

// Counter-based random numbers, a function of (seed, episode, purpose, step), drawn as the compiled tasks draw
// them, for tasks and noise that are written elsewhere. The generator has no state, so the order of calls does
// not matter.
#pragma once

#include <cstdint>
#include <span>

namespace stiction {

struct DrawKey {
  std::uint64_t seed = 0;  // of an environment
  std::uint32_t episode = 0, purpose = 0, step = 0;
};

// Each key defines a sequence of 32-bit words; these functions return its numbers from word `first` on. A uniform
// number, in (0, 1), takes one word; a normal one, with mean 0 and standard deviation 1, takes two.
void draw_bits(const DrawKey& key, std::uint32_t first, std::span<std::uint32_t> out);
void draw_uniform(const DrawKey& key, std::uint32_t first, std::span<double> out);
void draw_normal(const DrawKey& key, std::uint32_t first, std::span<double> out);

}  // namespace stiction

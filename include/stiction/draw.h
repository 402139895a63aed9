// Random numbers as a function of (seed, episode, stream, step): those that the compiled tasks draw,
// for whoever writes a task or noise outside. Nothing is stored, and no order matters.
#pragma once

#include <cstdint>
#include <span>

namespace stiction {

struct DrawKey {
  std::uint64_t seed = 0;  // of an environment
  std::uint32_t episode = 0, stream = 0, step = 0;
};

// The row of a key from its word `first` on. A uniform number, in (0, 1), takes one word; a normal
// one, of mean 0 and deviation 1, takes two.
void draw_bits(const DrawKey& key, std::uint32_t first, std::span<std::uint32_t> out);
void draw_uniform(const DrawKey& key, std::uint32_t first, std::span<double> out);
void draw_normal(const DrawKey& key, std::uint32_t first, std::span<double> out);

}  // namespace stiction

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"): random numbers as a
// function of a key and a counter, the same on every device and in any order.
#pragma once

#include <cmath>
#include <cstdint>

#include "envs/functions.h"

namespace stiction::envs {

struct Philox {
  std::uint32_t x[4];
};

STICTION_FN Philox philox(Philox c, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c.x[0], b = 0xCD9E8D57ull * c.x[2];
    c = {{static_cast<std::uint32_t>(b >> 32) ^ c.x[1] ^ key0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c.x[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9u, key1 += 0xBB67AE85u;
  }
  return c;
}

// What numbers are drawn for: rows that never meet.
enum class Purpose : std::uint32_t { reset, command, push, noise, delay, param, ground };

// The numbers of one environment, episode and purpose in a row.
class Draw {
 public:
  STICTION_FN Draw(std::uint64_t seed, std::uint32_t episode, Purpose purpose,
                   std::uint32_t step = 0)
      : key0_(static_cast<std::uint32_t>(seed)),
        key1_(static_cast<std::uint32_t>(seed >> 32)),
        counter_{{0, step, static_cast<std::uint32_t>(purpose), episode}} {}

  // On from word `first` of the row; before anything is drawn.
  STICTION_FN void skip(std::uint32_t first) {
    counter_.x[0] = first / 4;
    for (std::uint32_t k = 0; k < first % 4; ++k) bits();
  }
  STICTION_FN std::uint32_t bits() {
    if (used_ == 4) {
      block_ = philox(counter_, key0_, key1_);
      ++counter_.x[0];
      used_ = 0;
    }
    return block_.x[used_++];
  }
  // In (0, 1), never an end: 24 bits, at the middle of each of their intervals.
  STICTION_FN double uniform() { return ((bits() >> 8) + 0.5) * 0x1p-24; }
  STICTION_FN double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Box–Muller, the cosine only: one number for two draws.
  STICTION_FN double normal() {
    const double radius = std::sqrt(-2.0 * log(uniform()));
    return radius * physics::sincos(2 * kPi * uniform()).cos;
  }

 private:
  std::uint32_t key0_, key1_;
  Philox counter_, block_{};
  int used_ = 4;
};

}  // namespace stiction::envs

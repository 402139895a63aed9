// Files and snapshots with wrong bytes under a right checksum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "batch/archive.h"

namespace stiction::test {

using Raw = std::vector<std::byte>;

inline Raw sealed(Raw bytes) {
  const std::size_t n = bytes.size() - sizeof(Archive::Checksum);
  const Archive::Checksum sum = hash_bytes(bytes.data(), n);
  std::memcpy(bytes.data() + n, &sum, sizeof sum);
  return bytes;
}

// Bytes that are dear to those who count: all set, none, a bit, anything.
class Damage {
 public:
  explicit Damage(unsigned seed) : rng_(seed) {}

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(rng_);
  }
  // One to eight bytes in [begin, end).
  void hit(Raw& bytes, std::size_t begin, std::size_t end) {
    const std::size_t length = std::min(end - begin, std::size_t{1} << below(4));
    const std::size_t first = begin + below(end - begin - length + 1);
    const std::size_t kind = below(4);
    for (std::size_t i = first; i < first + length; ++i) {
      if (kind == 0) bytes[i] = std::byte{0xff};
      if (kind == 1) bytes[i] = std::byte{0};
      if (kind == 2) bytes[i] ^= std::byte{static_cast<unsigned char>(1u << below(8))};
      if (kind == 3) bytes[i] = std::byte{static_cast<unsigned char>(below(256))};
    }
  }
  // Shorter or longer, the checksum at the end.
  void resize(Raw& bytes) {
    constexpr std::size_t kSum = sizeof(Archive::Checksum);
    bytes.resize(below(2) == 0 ? kSum + below(bytes.size() - kSum)
                               : bytes.size() + 1 + below(bytes.size()));
  }

 private:
  std::mt19937 rng_;
};

}  // namespace stiction::test

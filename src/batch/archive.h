// Serializes arrays as bytes, one after the other, with a checksum at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace stiction {

// FNV-1a
inline std::uint64_t hash_bytes(const void* data, std::size_t n,
                                std::uint64_t hash = 0xcbf29ce484222325u) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < n; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

class Archive {
 public:
  using Checksum = std::uint64_t;

  // Creates an archive for writing.
  Archive() = default;
  void put(const void* data, std::size_t n) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + n);
    if (n > 0) std::memcpy(bytes_.data() + begin, data, n);
  }
  // Returns everything written so far and the checksum; the archive is empty afterwards.
  std::vector<std::byte> sealed() {
    const Checksum sum = hash_bytes(bytes_.data(), bytes_.size());
    put(&sum, sizeof sum);
    return std::exchange(bytes_, {});
  }

  // Creates an archive for reading: sealed bytes, at least as long as a checksum, that outlive it.
  explicit Archive(std::span<const std::byte> sealed)
      : given_(sealed.first(sealed.size() - sizeof(Checksum))) {
    std::memcpy(&sum_, sealed.data() + given_.size(), sizeof sum_);
  }
  bool whole() const { return sum_ == hash_bytes(given_.data(), given_.size()); }
  std::span<const std::byte> take(std::size_t n) {
    const auto part = given_.subspan(taken_, n);
    taken_ += n;
    return part;
  }
  void take(void* data, std::size_t n) {
    if (n > 0) std::memcpy(data, take(n).data(), n);
  }
  std::span<const std::byte> rest() const { return given_.subspan(taken_); }
  std::size_t left() const { return given_.size() - taken_; }

 private:
  std::vector<std::byte> bytes_;
  std::span<const std::byte> given_;
  Checksum sum_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace stiction

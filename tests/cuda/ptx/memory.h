// Memory that knows of each byte whether it belongs to anything and whether it was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/ptx/program.h"

namespace stiction::ptx {

// A mark per word of four bytes: a bit of the high half for each byte that is allocated, one of the
// low half for each that was written.
using Mark = std::uint8_t;
inline constexpr Mark kWhole = 0xff, kUnwritten = 0xf0;

// What an access finds: all that it may read, bytes that nobody wrote, or bytes of nobody.
enum class Found { written, unwritten, outside };

struct Region {
  std::byte* data = nullptr;
  Mark* marks = nullptr;
  std::uint64_t size = 0;

  // The access is aligned.
  template <int bytes>
  Found look(std::uint64_t at) const {
    if (at >= size || size - at < static_cast<std::uint64_t>(bytes)) return Found::outside;
    const Mark* const mark = marks + at / 4;
    if constexpr (bytes < 4) {
      const int of = ((1 << bytes) - 1) << (at % 4);
      if ((*mark >> 4 & of) != of) return Found::outside;
      return (*mark & of) == of ? Found::written : Found::unwritten;
    } else {
      Mark all = kWhole;
      for (int k = 0; k < bytes / 4; ++k) all &= mark[k];
      if (all == kWhole) return Found::written;
      return (all & kUnwritten) == kUnwritten ? Found::unwritten : Found::outside;
    }
  }
  template <int bytes>
  void mark(std::uint64_t at, bool written) const {
    Mark* const mark = marks + at / 4;
    if constexpr (bytes < 4) {
      const int of = ((1 << bytes) - 1) << (at % 4);
      *mark = static_cast<Mark>(written ? *mark | of : *mark & ~of);
    } else {
      std::memset(mark, written ? kWhole : kUnwritten, bytes / 4);
    }
  }
  // Of any length, as copies of the host have it.
  void mark(std::uint64_t at, std::uint64_t bytes, bool written) const;
  void copy_marks(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) const;
};

// Region and marks of their own; all of it allocated, nothing written.
class Buffer {
 public:
  Region& resized(std::uint64_t bytes);
  void forget() { std::memset(marks_.data(), kUnwritten, marks_.size()); }
  const Region& region() const { return region_; }

 private:
  std::vector<std::byte> data_;
  std::vector<Mark> marks_;
  Region region_;
};

// The card's memory. Addresses are the host's; room between two allocations belongs to nobody.
class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 34;

  void* allocate(std::uint64_t bytes);  // null: no room
  bool free(void* p);                   // false: was not allocated
  bool holds(const void* p) const;
  std::uint64_t free_bytes() const { return kBytes - used_; }
  void fill(void* p, int value, std::uint64_t bytes);  // with 0xff: as if nothing had been written
  void copy(void* to, const void* from, std::uint64_t bytes);
  const Region& region() const { return region_; }

 private:
  std::uint64_t offset(const void* p) const;

  Region region_;
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, std::uint64_t> blocks_;  // offset, bytes
};

}  // namespace stiction::ptx

// Zeroed memory on cache lines.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace stiction::cpu {

inline constexpr std::size_t kCacheLine = 64;

constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kCacheLine, whole_lines(bytes + 1)))) {
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0, whole_lines(bytes + 1));
  }
  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace stiction::cpu

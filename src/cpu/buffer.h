// Zeroed memory, aligned to a cache line. Pages of large buffers take memory when they are first
// touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace stiction::cpu {

inline constexpr std::size_t kCacheLine = 64;

constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes)
      : owned_(static_cast<std::byte*>(std::calloc(whole_lines(bytes + 1) + kCacheLine, 1))) {
    if (!owned_) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(owned_.get());
    data_ = owned_.get() + (whole_lines(address) - address);
  }
  Buffer(Buffer&& o) noexcept
      : owned_(std::move(o.owned_)), data_(std::exchange(o.data_, nullptr)) {}
  Buffer& operator=(Buffer&& o) noexcept {
    owned_ = std::move(o.owned_);
    data_ = std::exchange(o.data_, nullptr);
    return *this;
  }
  std::byte* data() const { return data_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> owned_;
  std::byte* data_ = nullptr;
};

}  // namespace stiction::cpu

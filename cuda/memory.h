// Owners of CUDA runtime resources.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cuda/errors.h"

namespace stiction::cuda {

// Converts to a stream the number by which torch, CuPy and our own interface identify it: its address.
inline cudaStream_t stream_of(std::uintptr_t address) {
  return reinterpret_cast<cudaStream_t>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Directs calls of the runtime to this device, and restores the caller's device afterwards.
class OnDevice {
 public:
  explicit OnDevice(int number) {
    check(cudaGetDevice(&before_), "asking for the current device");
    if (before_ != number) check(cudaSetDevice(number), "choosing a device");
  }
  ~OnDevice() { (void)cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

// Waits for all work of a device, for destructors: memory to be freed may be in use, and the
// stream may already have been destroyed.
inline void finish_work(int number) {
  int before = 0;
  (void)cudaGetDevice(&before);
  (void)cudaSetDevice(number);
  (void)cudaDeviceSynchronize();
  (void)cudaSetDevice(before);
}

// Move-only handle, released by `Free`.
template <class Handle, auto Free>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle h) : handle_(h) {}
  Owner(Owner&& o) noexcept : handle_(std::exchange(o.handle_, Handle{})) {}
  Owner& operator=(Owner&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Owner() {
    if (handle_ != Handle{}) (void)Free(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

inline cudaError_t free_device(std::byte* p) {
  return cudaFree(p);
}
inline cudaError_t free_pinned(std::byte* p) {
  return cudaFreeHost(p);
}
using DeviceMemory = Owner<std::byte*, free_device>;
using PinnedMemory = Owner<std::byte*, free_pinned>;
using Event = Owner<cudaEvent_t, cudaEventDestroy>;
using Stream = Owner<cudaStream_t, cudaStreamDestroy>;
using Graph = Owner<cudaGraph_t, cudaGraphDestroy>;
using Executable = Owner<cudaGraphExec_t, cudaGraphExecDestroy>;

inline DeviceMemory device_memory(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, bytes > 0 ? bytes : 1), "allocating " + std::to_string(bytes) + " bytes");
  return DeviceMemory(static_cast<std::byte*>(p));
}
inline PinnedMemory pinned_memory(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMallocHost(&p, bytes > 0 ? bytes : 1),
        "allocating " + std::to_string(bytes) + " bytes of pinned host memory");
  return PinnedMemory(static_cast<std::byte*>(p));
}
inline Event event() {
  cudaEvent_t e = nullptr;
  check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event");
  return Event(e);
}
inline Stream stream() {
  cudaStream_t s = nullptr;
  check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "making a stream");
  return Stream(s);
}

}  // namespace stiction::cuda

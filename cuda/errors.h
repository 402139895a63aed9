// What the CUDA runtime says, as sentences.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "stiction/devices.h"

namespace stiction::cuda {

// Throws Error: "<doing>: <what CUDA says>".
void check(cudaError_t result, const std::string& doing);
// A call that works makes no string: steps allocate nothing.
inline void check(cudaError_t result, const char* doing) {
  if (result != cudaSuccess) check(result, std::string(doing));
}

// "13.0" of 13000.
std::string version_text(int version);

// Oldest cards that run this: what the kernels need of shuffles and shared memory.
inline constexpr int kOldestMajor = 8;

// The device `number` (-1: the current one), fit to run this build. Throws ArgumentError that begins
// with `device`, the name that was asked for.
int find_device(const std::string& device, int number);

// Throws ArgumentError with what is needed and what is free on the current device. `local` is what
// the driver takes besides, at the first launch.
void require_memory(const std::string& device, std::size_t bytes, const std::string& what,
                    std::size_t local = 0);

}  // namespace stiction::cuda

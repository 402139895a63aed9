// Converts errors of the CUDA runtime to messages.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "stiction/devices.h"

namespace stiction::cuda {

// Throws Error: "<doing>: <CUDA's message>".
void check(cudaError_t result, const std::string& doing);
// Builds no string if the call succeeded: steps allocate nothing.
inline void check(cudaError_t result, const char* doing) {
  if (result != cudaSuccess) check(result, std::string(doing));
}

// Returns "13.0" for 13000.
std::string version_text(int version);

// Oldest supported GPUs: what the kernels need of shuffles and shared memory.
inline constexpr int kOldestMajor = 8;

// Returns the device `number` (-1: the current one), able to run this build. Throws ArgumentError that begins
// with `device`, the requested name.
int find_device(const std::string& device, int number);

// Throws ArgumentError naming what is needed and what is free on the current device. `local`: additional memory
// that the driver takes at the first launch.
void require_memory(const std::string& device, std::size_t bytes, const std::string& what,
                    std::size_t local = 0);

}  // namespace stiction::cuda

// Devices that a Batch can run on, in addition to the CPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stiction {

struct CudaDevice {
  std::string name;                  // "cuda:0", as BatchOptions::device takes it
  std::string description;           // of the GPU
  int major = 0, minor = 0;          // compute capability
  std::size_t memory = 0, free = 0;  // bytes
  std::string problem;               // why it cannot be used; empty: it can
};

struct CudaReport {
  bool built = false;         // this library was built with a CUDA back end
  std::string toolkit;        // CUDA version of the build
  std::string architectures;  // GPU architectures with compiled code
  std::string driver;         // CUDA version that the driver supports; empty: no driver
  std::string problem;        // why there is no available device, with the remedy; else empty
  std::vector<CudaDevice> devices;
};
CudaReport cuda_devices();

}  // namespace stiction

// What a Batch can run on besides the CPU.
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
  std::string problem;               // why it can't be used; empty: it can
};

struct CudaReport {
  bool built = false;         // this library has a CUDA back end
  std::string toolkit;        // version it was built with
  std::string architectures;  // of the GPUs that it has code for
  std::string driver;         // version of CUDA that the driver knows; empty: no driver
  std::string problem;        // why there is no device, with the remedy; empty: there is one
  std::vector<CudaDevice> devices;
};
CudaReport cuda_devices();

}  // namespace stiction

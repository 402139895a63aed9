#include "batch/devices.h"

#ifdef STICTION_CUDA
#include <cuda_runtime_api.h>
#endif

#include <cstring>

#include "batch/emulated_device.h"
#include "cuda/ptx/card.h"
#include "stiction/devices.h"
#include "stiction/error.h"

namespace stiction::test {

std::string& device() {
  static std::string name = "cpu";
  return name;
}

std::vector<std::string> device_names(bool with_cpu) {
  std::vector<std::string> names;
  if (with_cpu) names.emplace_back("cpu");
  names.emplace_back("emulated");
  if (cuda_devices().built) names.emplace_back("cuda");
  return names;
}

void use_device(const std::string& name) {
  if (name == "emulated") register_emulated_device();
  device() = name;
}

std::string missing_device() {
  static const std::string cuda = cuda_devices().problem;
  return device() == "cuda" ? cuda : "";
}

bool interpreted() {
  static const bool card = [] {
    const CudaReport r = cuda_devices();
    return !r.devices.empty() && r.devices[0].description == ptx::kCardName;
  }();
  return card && device().rfind("cuda", 0) == 0;
}

void copy_memory(const std::string& where, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
#ifdef STICTION_CUDA
  if (where.rfind("cuda", 0) == 0) {
    // after all that any stream was given
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(to, from, bytes, cudaMemcpyDefault) != cudaSuccess)
      throw Error("cudaMemcpy failed");
    return;
  }
#endif
  static_cast<void>(where);
  std::memcpy(to, from, bytes);
}

}  // namespace stiction::test

#include "cuda/errors.h"

#include <sstream>

#include "batch/device.h"
#include "cuda/local_memory.h"
#include "stiction/error.h"

namespace stiction {
namespace cuda {
namespace {

constexpr const char* kUseCpu = "; or use device = 'cpu'";

std::string message_of(cudaError_t e) {
  return std::string(cudaGetErrorString(e)) + " (" + cudaGetErrorName(e) + ")";
}

// Returns why there is no device at all, with the remedy; "": there is one. `count`: how many.
std::string why_none(int& count) {
  count = 0;
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return "no NVIDIA driver is installed; install one for CUDA " + version_text(CUDART_VERSION) +
           " or later";
  const cudaError_t e = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  // within a major version the runtime works with any driver, but the arguments of `step` exceed 4 KB
  constexpr int kLargeArguments = 12010;
  if (e == cudaErrorInsufficientDriver || driver < kLargeArguments)
    return "the NVIDIA driver is for CUDA " + version_text(driver) + ", this build needs one for " +
           version_text(e == cudaSuccess ? kLargeArguments : CUDART_VERSION) +
           "; update the driver";
  if (e == cudaErrorNoDevice || (e == cudaSuccess && count == 0))
    return "the NVIDIA driver sees no card; is CUDA_VISIBLE_DEVICES empty, is the card passed into "
           "this container?";
  if (e != cudaSuccess) return "the NVIDIA driver does not start: " + message_of(e);
  return "";
}

std::string why_unfit(int major, int minor) {
  if (major >= kOldestMajor) return "";
  return "its compute capability is " + std::to_string(major) + "." + std::to_string(minor) +
         ", needed is " + std::to_string(kOldestMajor) + ".0 (Ampere) or later";
}

CudaDevice describe(int number) {
  CudaDevice d;
  d.name = "cuda:" + std::to_string(number);
  cudaDeviceProp p;
  if (const cudaError_t e = cudaGetDeviceProperties(&p, number); e != cudaSuccess) {
    d.problem = message_of(e);
    return d;
  }
  d.description = p.name;
  d.major = p.major, d.minor = p.minor;
  d.memory = p.totalGlobalMem;
  d.problem = why_unfit(p.major, p.minor);
  if (d.problem.empty()) {
    int before = 0;
    (void)cudaGetDevice(&before);
    std::size_t total = 0;
    cudaError_t e = cudaSetDevice(number);
    if (e == cudaSuccess) e = cudaMemGetInfo(&d.free, &total);
    if (e != cudaSuccess) d.problem = message_of(e);
    (void)cudaSetDevice(before);
  }
  (void)cudaGetLastError();
  return d;
}

}  // namespace

void check(cudaError_t result, const std::string& doing) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  std::string hint;
  if (result == cudaErrorNoKernelImageForDevice || result == cudaErrorUnsupportedPtxVersion ||
      result == cudaErrorInvalidDeviceFunction)
    hint = "; this build has code for " STICTION_CUDA_ARCHITECTURES
           ": build with cmake -D CMAKE_CUDA_ARCHITECTURES=native";
  throw Error(doing + ": " + message_of(result) + hint);
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int find_device(const std::string& device, int number) {
  const std::string what = "device = '" + device + "': ";
  int count = 0;
  if (const std::string why = why_none(count); !why.empty())
    throw ArgumentError(what + why + kUseCpu);
  if (number >= count)
    throw ArgumentError(what + "there " + (count == 1 ? "is" : "are") + " only " +
                        std::to_string(count) + ", cuda:0" +
                        (count > 1 ? " to cuda:" + std::to_string(count - 1) : ""));
  if (number < 0) check(cudaGetDevice(&number), what + "asking for the current device");
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number), what);
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, number), what);
  if (const std::string why = why_unfit(major, minor); !why.empty())
    throw ArgumentError(what + why + kUseCpu);
  return number;
}

void require_memory(const std::string& device, std::size_t bytes, const std::string& what,
                    std::size_t local) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), device + ": asking for its memory");
  if (const std::string why = why_no_room(bytes, local, free, total); !why.empty())
    throw ArgumentError("device = '" + device + "': " + what + " " + why);
}

}  // namespace cuda

CudaReport cuda_report() {
  CudaReport r;
  r.built = true;
  r.toolkit = cuda::version_text(CUDART_VERSION);
  r.architectures = STICTION_CUDA_ARCHITECTURES;
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    r.driver = cuda::version_text(driver);
  int count = 0;
  r.problem = cuda::why_none(count);
  for (int i = 0; i < count && r.problem.empty(); ++i) r.devices.push_back(cuda::describe(i));
  return r;
}

}  // namespace stiction

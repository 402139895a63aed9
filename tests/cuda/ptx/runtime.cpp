// The calls of the CUDA runtime that the project makes, on the interpreter: what is enqueued has been
// done when the call returns. A fault stays, as on a card, and its text is that of the error. There are
// no graphs: batches are made without (STICTION_CUDA_GRAPHS).
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda/ptx/card.h"
#include "cuda/ptx/fat_binary.h"

namespace stiction::ptx {
namespace {

struct Kernel {
  std::string name;
  int most_shared = 48 << 10, carveout = -1;
};
struct Configuration {
  dim3 grid, block;
  std::size_t shared;
};

// An H100 SXM, as its data sheet and deviceQuery have it; see counts.cpp for its speeds.
struct Card {
  static constexpr int kMultiprocessors = 132, kThreads = 2048, kBlocks = 32, kRegisters = 65536;
  static constexpr std::size_t kReserved = 1 << 10;
  // of a multiprocessor; STICTION_PTX_SHARED: those of a smaller card in KiB
  static std::size_t shared() {
    const char* const text = std::getenv("STICTION_PTX_SHARED");
    return static_cast<std::size_t>(text != nullptr ? std::atoi(text) : 228) << 10;
  }

  Machine machine;
  std::map<std::string, Resources> resources;
  std::map<const void*, Kernel> kernels;
  std::vector<Configuration> configured;
  std::string fault;  // "": none so far
  std::function<void(const Launching&)> before_launch;
};
Card& card() {
  static Card* const one = [] {
    // read when a batch is made
    setenv("STICTION_CUDA_GRAPHS", "0", 0);
    Card* const made = new Card;
    const char* const threads = std::getenv("STICTION_PTX_THREADS");
    made->machine.threads = threads != nullptr ? std::atoi(threads) : 1;
    made->machine.races = std::getenv("STICTION_PTX_RACES") != nullptr;
    return made;
  }();
  return *one;
}

cudaError_t state() {
  return card().fault.empty() ? cudaSuccess : cudaErrorLaunchFailure;
}
// Whatever a fault says becomes the card's.
template <class F>
cudaError_t guarded(const F& f) {
  if (state() != cudaSuccess) return state();
  try {
    f();
  } catch (const Fault& found) {
    card().fault = found.what();
  }
  return state();
}

const Resources& resources_of(const Kernel& k) {
  return card().resources[k.name];
}

// By registers, which a warp gets in units of 256, by shared memory, by threads and by blocks.
int resident_blocks(const Kernel& k, int threads, std::size_t dynamic_shared) {
  const int warps = (threads + kLanes - 1) / kLanes;
  const int of_warp = (resources_of(k).registers * kLanes + 255) / 256 * 256;
  // each of four schedulers has a quarter of the registers
  const int by_registers = Card::kRegisters / 4 / std::max(of_warp, 1) * 4 / warps;
  const std::size_t shared = card().machine.shared_bytes(k.name) + dynamic_shared + Card::kReserved;
  const int by_shared = static_cast<int>(Card::shared() / ((shared + 127) / 128 * 128));
  return std::min({by_registers, by_shared, Card::kThreads / kLanes / warps, Card::kBlocks});
}

void fill_properties(cudaDeviceProp& p) {
  p = {};
  std::snprintf(p.name, sizeof p.name, "%s", kCardName);
  p.major = 9, p.minor = 0;
  p.multiProcessorCount = Card::kMultiprocessors;
  p.maxThreadsPerMultiProcessor = Card::kThreads, p.maxThreadsPerBlock = 1024;
  p.sharedMemPerMultiprocessor = Card::shared();
  p.sharedMemPerBlockOptin = Card::shared() - Card::kReserved;
  p.sharedMemPerBlock = 48 << 10, p.reservedSharedMemPerBlock = Card::kReserved;
  p.regsPerBlock = p.regsPerMultiprocessor = Card::kRegisters;
  p.warpSize = kLanes;
  p.totalGlobalMem = DeviceMemory::kBytes;
}

// Streams and events are names only.
int next_handle() {
  static int last = 0;
  return ++last;
}
template <class Handle>
Handle handle() {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(0x1000 + 16 * next_handle()));
}

}  // namespace

Machine& machine() {
  return card().machine;
}
void watch_launches(std::function<void(const Launching&)> watch) {
  card().before_launch = std::move(watch);
}

}  // namespace stiction::ptx

using stiction::ptx::card;
using stiction::ptx::Card;
using stiction::ptx::guarded;
using stiction::ptx::state;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  static void* none[1];
  const cudaError_t error = guarded([&] {
    stiction::ptx::FatBinary found = stiction::ptx::read_fat_binary(wrapper);
    for (std::string& text : found.ptx) card().machine.load(std::move(text));
    card().resources.merge(found.kernels);
  });
  if (error != cudaSuccess) std::fprintf(stderr, "%s\n", card().fault.c_str());
  return none;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  card().kernels[host].name = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void*) {
  card().configured.push_back({grid, block, shared});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  const auto c = card().configured.back();
  card().configured.pop_back();
  *grid = c.grid, *block = c.block, *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = nullptr;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t) {
  return guarded([&] {
    const auto& k = card().kernels.at(kernel);
    if (static_cast<int>(shared) > k.most_shared)
      throw stiction::ptx::Fault(k.name + ": more shared memory than the kernel is set to");
    if (card().before_launch) {
      const int blocks = stiction::ptx::resident_blocks(k, static_cast<int>(block.x), shared);
      const std::size_t of_block = card().machine.shared_bytes(k.name) + shared + Card::kReserved;
      card().before_launch(
          {k.name, blocks, static_cast<std::size_t>(blocks) * of_block, arguments});
    }
    card().machine.launch(k.name, {{grid.x, grid.y}, block.x, static_cast<unsigned>(shared)},
                          arguments);
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  stiction::ptx::fill_properties(*p);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = Card::kThreads; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = Card::kMultiprocessors; return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}
cudaError_t cudaDeviceSynchronize() {
  return state();
}
cudaError_t cudaGetLastError() {
  return state();
}
const char* cudaGetErrorName(cudaError_t) {
  return "PTX";
}
const char* cudaGetErrorString(cudaError_t error) {
  static thread_local std::string text;
  text = card().fault.empty() ? "error " + std::to_string(error) : card().fault;
  return text.c_str();
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = card().machine.memory.free_bytes(), *total = stiction::ptx::DeviceMemory::kBytes;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  *p = card().machine.memory.allocate(bytes);
  return *p != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* p) {
  return p == nullptr || card().machine.memory.free(p) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
  *p = std::malloc(bytes);
  return *p != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* p) {
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return guarded([&] { card().machine.memory.copy(to, from, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t) {
  return guarded([&] { card().machine.memory.fill(p, value, bytes); });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  *a = {};
  a->type = card().machine.memory.holds(p) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void* function) {
  return guarded([&] {
    const auto& k = card().kernels.at(function);
    *a = {};
    a->numRegs = stiction::ptx::resources_of(k).registers;
    a->localSizeBytes = static_cast<std::size_t>(stiction::ptx::resources_of(k).stack_bytes);
    a->sharedSizeBytes = card().machine.shared_bytes(k.name);
    a->maxDynamicSharedSizeBytes = k.most_shared, a->preferredShmemCarveout = k.carveout;
    a->maxThreadsPerBlock = 1024;
  });
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute what, int value) {
  auto& k = card().kernels.at(function);
  if (what == cudaFuncAttributeMaxDynamicSharedMemorySize) k.most_shared = value;
  if (what == cudaFuncAttributePreferredSharedMemoryCarveout) k.carveout = value;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t shared) {
  return guarded([&] {
    const auto& k = card().kernels.at(function);
    const bool allowed = shared <= static_cast<std::size_t>(k.most_shared);
    *blocks = allowed ? stiction::ptx::resident_blocks(k, threads, shared) : 0;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = stiction::ptx::handle<cudaStream_t>();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return state();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return cudaErrorNotSupported;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  return cudaErrorNotSupported;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return cudaErrorNotSupported;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = stiction::ptx::handle<cudaEvent_t>();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return state();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return state();
}
// Nothing here takes a card's time.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0;
  return cudaSuccess;
}

}  // extern "C"

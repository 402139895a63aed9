#include "cuda/transfer.h"

namespace stiction::cuda {
namespace {

constexpr int kThreads = 256;

__device__ std::size_t first_index() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::size_t index_step() {
  return std::size_t{gridDim.x} * blockDim.x;
}

// Each block works on one transfer.
template <class F>
__global__ void words_kernel(const __grid_constant__ Transfers t, const int* ids, int first, int n,
                             const __grid_constant__ F f) {
  physics::for_words(t.list[blockIdx.y], ids, first, n, first_index(), index_step(), f);
}

// Each block sums one column.
__global__ void sum_kernel(std::uint32_t* counters, int n, int columns, std::uint64_t* sums) {
  __shared__ std::uint64_t part[kThreads];
  std::uint64_t sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) {
    std::uint32_t& c =
        counters[static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) + blockIdx.x];
    sum += c;
    c = 0;
  }
  part[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

unsigned blocks_for(std::size_t items) {
  constexpr std::size_t kMost = 1024;
  const std::size_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMost ? (blocks > 0 ? blocks : 1) : kMost);
}
dim3 grid_for(const Transfers& t, int n) {
  std::size_t words = 0;
  for (int i = 0; i < t.count; ++i) words = t.list[i].words > words ? t.list[i].words : words;
  return {blocks_for(words * static_cast<std::size_t>(n)), static_cast<unsigned>(t.count), 1};
}

template <class F>
cudaError_t launch(const Transfers& t, const int* ids, int first, int n, const F& f,
                   cudaStream_t stream) {
  if (t.count == 0 || n == 0) return cudaSuccess;
  words_kernel<<<grid_for(t, n), kThreads, 0, stream>>>(t, ids, first, n, f);
  return cudaGetLastError();
}

}  // namespace

cudaError_t gather(const Transfers& t, const int* ids, int first, int n, std::uint32_t* to,
                   cudaStream_t stream) {
  return launch(t, ids, first, n, physics::Gather{to}, stream);
}
cudaError_t scatter(const Transfers& t, const int* ids, int first, int n, const std::uint32_t* from,
                    cudaStream_t stream) {
  return launch(t, ids, first, n, physics::Scatter{from}, stream);
}
cudaError_t repeat(const Transfers& t, const int* ids, int n, const std::uint32_t* row,
                   cudaStream_t stream) {
  return launch(t, ids, 0, n, physics::Repeat{row}, stream);
}
cudaError_t fill_unwritten(const Transfers& t, const Launch& l, bool decided, cudaStream_t stream) {
  return launch(t, l.envs, 0, l.count, physics::FillUnwritten{l, decided}, stream);
}

cudaError_t take_sums(std::uint32_t* counters, int n, int columns, std::uint64_t* sums,
                      cudaStream_t stream) {
  sum_kernel<<<static_cast<unsigned>(columns), kThreads, 0, stream>>>(counters, n, columns, sums);
  return cudaGetLastError();
}

}  // namespace stiction::cuda

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

// f(word of the row of an environment, word of the staging memory); a block works on one transfer.
template <class F>
__device__ void for_words(const Transfers& t, const int* ids, int first, int n, const F& f) {
  const Transfer& x = t.list[blockIdx.y];
  const std::size_t words = std::size_t{x.words} * static_cast<std::size_t>(n);
  for (std::size_t i = first_index(); i < words; i += index_step()) {
    const int k = first + static_cast<int>(i / x.words);
    const std::size_t env = static_cast<std::size_t>(ids != nullptr ? ids[k] : k);
    f(x.rows[env * x.words + i % x.words], x.begin + i);
  }
}

__global__ void gather_kernel(const __grid_constant__ Transfers t, const int* ids, int first, int n,
                              std::uint32_t* staging) {
  for_words(t, ids, first, n, [&](std::uint32_t& word, std::size_t i) { staging[i] = word; });
}
__global__ void scatter_kernel(const __grid_constant__ Transfers t, const int* ids, int first,
                               int n, const std::uint32_t* staging) {
  for_words(t, ids, first, n, [&](std::uint32_t& word, std::size_t i) { word = staging[i]; });
}

__global__ void repeat_kernel(const std::uint32_t* row, std::uint32_t words, std::size_t all,
                              std::uint32_t* rows) {
  for (std::size_t i = first_index(); i < all; i += index_step()) rows[i] = row[i % words];
}

// A block sums one column.
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

}  // namespace

cudaError_t gather(const Transfers& t, const int* ids, int first, int n, std::uint32_t* staging,
                   cudaStream_t stream) {
  gather_kernel<<<grid_for(t, n), kThreads, 0, stream>>>(t, ids, first, n, staging);
  return cudaGetLastError();
}
cudaError_t scatter(const Transfers& t, const int* ids, int first, int n,
                    const std::uint32_t* staging, cudaStream_t stream) {
  scatter_kernel<<<grid_for(t, n), kThreads, 0, stream>>>(t, ids, first, n, staging);
  return cudaGetLastError();
}

cudaError_t repeat(const std::uint32_t* row, std::uint32_t words, int n, std::uint32_t* rows,
                   cudaStream_t stream) {
  const std::size_t all = std::size_t{words} * static_cast<std::size_t>(n);
  if (all == 0) return cudaSuccess;
  repeat_kernel<<<blocks_for(all), kThreads, 0, stream>>>(row, words, all, rows);
  return cudaGetLastError();
}

cudaError_t take_sums(std::uint32_t* counters, int n, int columns, std::uint64_t* sums,
                      cudaStream_t stream) {
  sum_kernel<<<static_cast<unsigned>(columns), kThreads, 0, stream>>>(counters, n, columns, sums);
  return cudaGetLastError();
}

}  // namespace stiction::cuda

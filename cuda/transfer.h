// Rows of chosen environments side by side in one piece of memory, so that they cross to the host and
// back in one copy. Launches only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "physics/views.h"

namespace stiction::cuda {

// Rows of words; those of a chunk begin at `begin` in the staging memory, in words.
struct Transfer {
  std::uint32_t* rows;
  std::uint32_t words;  // of a row
  std::uint32_t begin;
};
inline constexpr int kTransfers = physics::kFields + 3;  // fields and books
struct Transfers {
  Transfer list[kTransfers];
  int count;
};

// The environments ids[first] ... ids[first + n - 1], or first ... first + n - 1 where ids is null.
cudaError_t gather(const Transfers& t, const int* ids, int first, int n, std::uint32_t* staging,
                   cudaStream_t stream);
cudaError_t scatter(const Transfers& t, const int* ids, int first, int n,
                    const std::uint32_t* staging, cudaStream_t stream);

// n rows like the given one.
cudaError_t repeat(const std::uint32_t* row, std::uint32_t words, int n, std::uint32_t* rows,
                   cudaStream_t stream);

// Sums over n environments of counters (n, columns), which become zero.
cudaError_t take_sums(std::uint32_t* counters, int n, int columns, std::uint64_t* sums,
                      cudaStream_t stream);

}  // namespace stiction::cuda

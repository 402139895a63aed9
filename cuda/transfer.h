// Kernels that apply the functions of rows.h to the words of chosen rows, and one that sums
// counters.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/rows.h"

namespace stiction::cuda {

// Of the environments ids[first] ... ids[first + n - 1], or first ... first + n - 1 where ids is
// null: copies their words to and from one piece of memory, in which the rows of a transfer lie one
// behind the other, so that one copy takes them to the host or back.
cudaError_t gather(const Transfers& t, const int* ids, int first, int n, std::uint32_t* to,
                   cudaStream_t stream);
cudaError_t scatter(const Transfers& t, const int* ids, int first, int n, const std::uint32_t* from,
                    cudaStream_t stream);
// The rows of n environments become copies of `row`.
cudaError_t repeat(const Transfers& t, const int* ids, int n, const std::uint32_t* row,
                   cudaStream_t stream);
// Rows of the environments whose outputs the launch stores.
cudaError_t fill_unwritten(const Transfers& t, const Launch& l, bool decided, cudaStream_t stream);

// Sums over n environments of counters (n, columns), which become zero.
cudaError_t take_sums(std::uint32_t* counters, int n, int columns, std::uint64_t* sums,
                      cudaStream_t stream);

}  // namespace stiction::cuda

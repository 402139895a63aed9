// Kernels that apply the functions of rows.h to the words of chosen rows, and a kernel that sums
// counters.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/rows.h"

namespace stiction::cuda {

// For the environments ids[first] ... ids[first + n - 1], or first ... first + n - 1 if ids is
// null: copies their words to or from one buffer, in which the rows of a transfer are
// consecutive, so that a single copy moves them to or from the host.
cudaError_t gather(const Transfers& t, const int* ids, int first, int n, std::uint32_t* to,
                   cudaStream_t stream);
cudaError_t scatter(const Transfers& t, const int* ids, int first, int n, const std::uint32_t* from,
                    cudaStream_t stream);
// Makes the rows of n environments copies of `row`.
cudaError_t repeat(const Transfers& t, const int* ids, int n, const std::uint32_t* row,
                   cudaStream_t stream);
// Fills rows of the environments whose outputs the launch stores.
cudaError_t fill_unwritten(const Transfers& t, const Launch& l, bool decided, cudaStream_t stream);

// Sums counters (n, columns) over n environments and sets them to zero.
cudaError_t take_sums(std::uint32_t* counters, int n, int columns, std::uint64_t* sums,
                      cudaStream_t stream);

}  // namespace stiction::cuda

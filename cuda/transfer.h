// Launches of what rows.h does to words, and the sums of counters.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/rows.h"

namespace stiction::cuda {

// Of the environments ids[first] ... ids[first + n - 1], or first ... first + n - 1 where ids is null:
// their words to and from memory where the rows of a transfer lie one behind the other, so that they
// cross to the host and back in one copy.
cudaError_t gather(const Transfers& t, const int* ids, int first, int n, std::uint32_t* to,
                   cudaStream_t stream);
cudaError_t scatter(const Transfers& t, const int* ids, int first, int n, const std::uint32_t* from,
                    cudaStream_t stream);
// n environments become like `row`.
cudaError_t repeat(const Transfers& t, const int* ids, int n, const std::uint32_t* row,
                   cudaStream_t stream);
// Environments of the launch that it stores.
cudaError_t spoil(const Transfers& t, const Launch& l, bool decided, cudaStream_t stream);

// Sums over n environments of counters (n, columns), which become zero.
cudaError_t take_sums(std::uint32_t* counters, int n, int columns, std::uint64_t* sums,
                      cudaStream_t stream);

}  // namespace stiction::cuda

// Lanes of cuda/group_team.h implemented with CUDA intrinsics. Only in device code.
#pragma once

#include "cuda/group_team.h"

STICTION_PHYSICS_BEGIN

class DeviceLanes {
 public:
  // Lanes of a tile with this many threads: 4, 8, 16 or 32.
  __device__ explicit DeviceLanes(int lanes)
      : lanes_(lanes), mask_((0xffffffffu >> (kWarp - lanes)) << first()) {}
  // Lanes of a block; `scratch`: shared memory of the block, kScratchWords per warp.
  __device__ explicit DeviceLanes(std::uint32_t* scratch)
      : lanes_(kWarp), mask_(0xffffffffu), scratch_(scratch) {}
  __device__ int lane() const { return static_cast<int>(threadIdx.x) & (lanes_ - 1); }
  __device__ int lanes() const { return lanes_; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x / kWarp); }
  __device__ static int warps() { return static_cast<int>(blockDim.x / kWarp); }
  __device__ std::uint32_t shuffle(std::uint32_t word, int from) const {
    return __shfl_sync(mask_, word, first() + from);
  }
  __device__ std::uint32_t shuffle_xor(std::uint32_t word, int mask) const {
    return __shfl_xor_sync(mask_, word, mask);
  }
  __device__ std::uint32_t ballot(bool mine) const { return __ballot_sync(mask_, mine) >> first(); }
  __device__ void sync_tile() const { __syncwarp(mask_); }
  __device__ static void sync_block() { __syncthreads(); }
  __device__ std::uint32_t* scratch() const { return scratch_; }

 private:
  // first lane of the tile in its warp
  __device__ int first() const { return static_cast<int>(threadIdx.x) & (kWarp - lanes_); }

  int lanes_;
  std::uint32_t mask_;
  std::uint32_t* scratch_ = nullptr;
};

STICTION_PHYSICS_END

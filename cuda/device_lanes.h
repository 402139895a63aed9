// Lanes of cuda/group_team.h by the intrinsics of CUDA. Only in device code.
#pragma once

#include "cuda/group_team.h"

STICTION_PHYSICS_BEGIN

inline constexpr std::uint32_t kAllLanes = 0xffffffffu;

class DeviceLanes {
 public:
  // `scratch`: shared memory of the block, kScratchWords per warp; a group of one warp needs none.
  __device__ explicit DeviceLanes(std::uint32_t* scratch) : scratch_(scratch) {}
  __device__ static int lane() { return static_cast<int>(threadIdx.x % kWarp); }
  __device__ static int warp() { return static_cast<int>(threadIdx.x / kWarp); }
  __device__ static int warps() { return static_cast<int>(blockDim.x / kWarp); }
  __device__ static std::uint32_t shuffle(std::uint32_t word, int from) {
    return __shfl_sync(kAllLanes, word, from);
  }
  __device__ static std::uint32_t shuffle_xor(std::uint32_t word, int mask) {
    return __shfl_xor_sync(kAllLanes, word, mask);
  }
  __device__ static std::uint32_t ballot(bool mine) { return __ballot_sync(kAllLanes, mine); }
  __device__ static void sync_warp() { __syncwarp(); }
  __device__ static void sync_block() { __syncthreads(); }
  __device__ std::uint32_t* scratch() const { return scratch_; }

 private:
  std::uint32_t* scratch_;
};

STICTION_PHYSICS_END

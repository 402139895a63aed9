// The solve of the environments of a warp, one tile for each. When one has converged its lanes do not idle: as soon
// as fewer environments are left than tiles, the lanes of the warp are divided among them again, 16 or 32 each. No bit
// depends on it (kLeaves in group_team.h), and the environments with the most iterations, which determine the duration
// of the kernel, make their last ones with more lanes.
#pragma once

#include "cuda/device_lanes.h"
#include "cuda/kernels.h"

STICTION_PHYSICS_BEGIN
namespace {

inline constexpr std::uint32_t kAllLanes = 0xffffffffu;

// Returns a value of whole words from lane `from` of the warp.
template <class T>
__device__ __forceinline__ T of_lane(const T& value, int from) {
  static_assert(sizeof(T) % 4 == 0 && std::is_trivially_copyable_v<T>);
  struct Words {
    std::uint32_t w[sizeof(T) / 4];
  };
  Words words = __builtin_bit_cast(Words, value);
  STICTION_UNROLLED
  for (std::uint32_t& w : words.w) w = __shfl_sync(kAllLanes, w, from);
  return __builtin_bit_cast(T, words);
}

// Returns the index of the n-th set bit, counted from 0; 0 if there is none.
__device__ __forceinline__ int set_bit(std::uint32_t bits, int n) {
  for (; n > 0; --n) bits &= bits - 1;
  return bits != 0 ? __ffs(static_cast<int>(bits)) - 1 : 0;
}

// Called by all tiles of a warp together. env: the environment of this tile, -1: none; slot: its position in the
// block's `memory`, where each environment has a view followed by its fast memory.
template <class S>
__device__ __forceinline__ void solve_in_warp(const ModelView& m, const Launch& l,
                                              const Arena& arena, int lanes, int env, int slot,
                                              std::byte* memory, int view_bytes) {
  const int stride = view_bytes + arena.bytes;
  const auto view_of = [&](int at) -> EnvView<S>& {
    return *reinterpret_cast<EnvView<S>*>(memory + at * stride);
  };
  const auto lane = [] { return static_cast<int>(threadIdx.x) % kWarp; };
  const GroupTeam own(TileGroup(DeviceLanes(lanes)));
  const auto mine = [&] { return env >= 0 && l.records.store[env] != 0; };
  SolveState<S> s{};
  int size = lanes, of = slot;  // slot of the tile that this lane works in
  bool open = mine();
  if (open) {
    EnvView<S>& e = view_of(of);
    enter_arena(own, l, env, arena, memory + of * stride + view_bytes, e.npoint[0], e);
    no_rows(own, m, e);
    start_solve(own, m, e, s);
  }
  while (true) {
    if (open) {
      const GroupTeam team(TileGroup(DeviceLanes(size)));
      EnvView<S>& e = view_of(of);
      judge(team, m, e, s, 0);
      open = s.active;
      if (!open) solver_report(team, e, s);
    }
    const std::uint32_t left = __ballot_sync(kAllLanes, open && (lane() & (size - 1)) == 0);
    const int count = __popc(left);
    if (count == 0) break;
    if (2 * size * count <= kWarp) {
      do size *= 2;
      while (2 * size * count <= kWarp);
      const int from = set_bit(left, lane() / size);
      s = of_lane(s, from), of = of_lane(of, from);
      open = lane() / size < count;
      __syncwarp();
    }
    if (!open) continue;
    const GroupTeam team(TileGroup(DeviceLanes(size)));
    EnvView<S>& e = view_of(of);
    assemble(team, m, e, s);
    factor_and_solve(team, m, e, e.gradient, e.dv);
    move_iterate(team, m, e, s);
  }
  __syncwarp();
  if (!mine()) return;
  EnvView<S>& e = view_of(slot);
  solve_outputs(own, m, e);
  leave_arena(own, l, env, arena, e.npoint[0], e);
  forget_arena(own, l, env, arena, e);
}

}  // namespace
STICTION_PHYSICS_END

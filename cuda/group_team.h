// The team of a group of GPU threads that work together on one environment: a single thread, a tile
// (4, 8, 16 or 32 threads of a warp, whose other threads work on other environments), or a block of
// warps.
//
// Groups are written in terms of Lanes, the few machine operations that threads of a warp (its lanes,
// in CUDA's terms) have in common, so that the same code runs on emulated ones
// (tests/cuda/emulated_lanes.h):
//
//   lane, lanes                 index of this thread in its tile, threads of the tile
//   warp, warps                 for a block, whose tiles are warps: index of the warp; warps of the group
//   shuffle_xor, shuffle        a word of another thread of the tile
//   ballot                      bit k: the value of thread k of the tile
//   sync_tile, sync_block       barriers that also order memory: of the tile, of all threads of the group
//   scratch                     kScratchWords words per warp shared by all threads of a block
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "physics/base/team.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kWarp = 32;
inline constexpr int kScratchWords = 4;
// A tile adds kLeaves partial sums, the k-th over every kLeaves-th number from the k-th on, and then reduces these
// as a tree, whatever its number of threads: so that number changes no bit.
inline constexpr int kLeaves = 8;

// Passes a value of whole words through a function of words.
template <class S, class F>
STICTION_FN S by_words(const S& value, const F& f) {
  static_assert(sizeof(S) % 4 == 0 && sizeof(S) <= 4 * kScratchWords);
  static_assert(std::is_trivially_copyable_v<S>);
  struct Words {
    std::uint32_t w[sizeof(S) / 4];
  };
  Words words = __builtin_bit_cast(Words, value);
  for (std::uint32_t& w : words.w) w = f(w);
  return __builtin_bit_cast(S, words);
}

// Butterfly reduction of n adjacent threads, a power of two; combine is commutative, so all get the same bits.
template <class Lanes, class S, class F>
STICTION_FN S butterfly(const Lanes& lanes, int n, S value, const F& combine) {
  const auto fold = [&](int mask) {
    value = combine(value,
                    by_words(value, [&](std::uint32_t w) { return lanes.shuffle_xor(w, mask); }));
  };
  if (n > 16) fold(16);
  if (n > 8) fold(8);
  if (n > 4) fold(4);
  fold(2);
  fold(1);
  return value;
}

// Exclusive prefix sum over the threads of a tile or group, in the order of their ranks: before: the sum
// over preceding threads; total: over all threads.
struct PrefixSum {
  int before, total;
};
// Prefix sum of the number of threads with `mine` true.
template <class Lanes>
STICTION_FN PrefixSum tile_prefix_sum(const Lanes& lanes, bool mine) {
  const std::uint32_t votes = lanes.ballot(mine);
  return {std::popcount(votes & ((1u << lanes.lane()) - 1u)), std::popcount(votes)};
}

template <class Lanes>
STICTION_FN PrefixSum tile_prefix_sum(const Lanes& lanes, int n) {
  int sum = n;
  for (int d = 1; d < lanes.lanes(); d *= 2) {
    const int other = static_cast<int>(
        lanes.shuffle(static_cast<std::uint32_t>(sum), lanes.lane() >= d ? lanes.lane() - d : 0));
    sum += lanes.lane() >= d ? other : 0;
  }
  const int total =
      static_cast<int>(lanes.shuffle(static_cast<std::uint32_t>(sum), lanes.lanes() - 1));
  return {sum - n, total};
}

template <class Lanes>
class TileGroup {
 public:
  STICTION_FN explicit TileGroup(const Lanes& lanes) : lanes_(lanes) {}
  STICTION_FN int size() const { return lanes_.lanes(); }
  STICTION_FN int rank() const { return lanes_.lane(); }
  STICTION_FN void sync() const { lanes_.sync_tile(); }
  STICTION_FN static constexpr int leaves() { return kLeaves; }
  template <class S, class F>
  STICTION_FN S reduce(const S& part, const F& combine) const {
    return butterfly(lanes_, size(), part, combine);
  }
  // Reduces over threads that have one leaf each, or two leaves and their sum: thread k has those that are k modulo
  // the number of threads.
  template <class S, class F>
  STICTION_FN S reduce_leaves(const S& part, const F& combine) const {
    // threads beyond the leaves may be about to overwrite what others read, and take no part in the exchange
    if (size() > kLeaves) sync();
    return butterfly(lanes_, size() < kLeaves ? size() : kLeaves, part, combine);
  }
  STICTION_FN PrefixSum prefix_sum(bool mine) const { return tile_prefix_sum(lanes_, mine); }
  STICTION_FN PrefixSum prefix_sum(int n) const { return tile_prefix_sum(lanes_, n); }
  template <class S>
  STICTION_FN S broadcast(const S& value, int from) const {
    return by_words(value, [&](std::uint32_t w) { return lanes_.shuffle(w, from); });
  }

 private:
  Lanes lanes_;
};

template <class Lanes>
class BlockGroup {
 public:
  STICTION_FN explicit BlockGroup(const Lanes& lanes) : lanes_(lanes) {}
  STICTION_FN int size() const { return kWarp * lanes_.warps(); }
  STICTION_FN int rank() const { return kWarp * lanes_.warp() + lanes_.lane(); }
  STICTION_FN void sync() const { lanes_.sync_block(); }
  STICTION_FN int leaves() const { return size(); }
  // Reduces over the warps in the order of their numbers.
  template <class S, class F>
  STICTION_FN S reduce(const S& part, const F& combine) const {
    S total = butterfly(lanes_, kWarp, part, combine);
    publish(total);
    total = of_warp<S>(0);
    for (int w = 1; w < lanes_.warps(); ++w) total = combine(total, of_warp<S>(w));
    sync();
    return total;
  }
  template <class S, class F>
  STICTION_FN S reduce_leaves(const S& part, const F& combine) const {
    return reduce(part, combine);
  }
  STICTION_FN PrefixSum prefix_sum(bool mine) const {
    return of_block(tile_prefix_sum(lanes_, mine));
  }
  STICTION_FN PrefixSum prefix_sum(int n) const { return of_block(tile_prefix_sum(lanes_, n)); }

 private:
  // Extends the prefix sum within the warp by the totals of the preceding warps.
  STICTION_FN PrefixSum of_block(PrefixSum sum) const {
    publish(sum.total);
    sum.total = 0;
    for (int w = 0; w < lanes_.warps(); ++w) {
      const int n = of_warp<int>(w);
      if (w < lanes_.warp()) sum.before += n;
      sum.total += n;
    }
    sync();
    return sum;
  }
  template <class S>
  STICTION_FN void publish(const S& value) const {
    int i = 0;
    std::uint32_t* const words = lanes_.scratch() + kScratchWords * lanes_.warp();
    by_words(value, [&](std::uint32_t w) {
      if (lanes_.lane() == 0) words[i] = w;
      ++i;
      return w;
    });
    sync();
  }
  template <class S>
  STICTION_FN S of_warp(int warp) const {
    int i = 0;
    const std::uint32_t* const words = lanes_.scratch() + kScratchWords * warp;
    return by_words(S(0), [&](std::uint32_t) { return words[i++]; });
  }

  Lanes lanes_;
};

// One thread: the other threads of its warp work on other environments, so nothing is shared.
class ThreadGroup {
 public:
  STICTION_FN static constexpr int size() { return 1; }
  STICTION_FN static constexpr int rank() { return 0; }
  STICTION_FN void sync() const {}
  STICTION_FN static constexpr int leaves() { return 1; }
  template <class S, class F>
  STICTION_FN S reduce(const S& part, const F&) const {
    return part;
  }
  template <class S, class F>
  STICTION_FN S reduce_leaves(const S& part, const F&) const {
    return part;
  }
  STICTION_FN PrefixSum prefix_sum(bool mine) const { return {0, mine ? 1 : 0}; }
  STICTION_FN PrefixSum prefix_sum(int n) const { return {0, n}; }
};

// Index i of a loop belongs to the thread of rank i mod size.
template <class Group>
class GroupTeam {
 public:
  static constexpr bool serial = false;
  STICTION_FN explicit GroupTeam(const Group& group) : group_(group) {}
  STICTION_FN const Group& group() const { return group_; }

  template <class F>
  STICTION_FN void for_each(int n, const F& f) const {
    STICTION_ROLLED
    for (int i = group_.rank(); i < n; i += group_.size()) f(i);
    group_.sync();
  }
  template <class S, class F>
  STICTION_FN S sum(int n, const F& f) const {
    const int leaves = group_.leaves();
    S part = S(0.0);
    STICTION_ROLLED
    for (int leaf = group_.rank() % leaves; leaf < leaves; leaf += group_.size()) {
      S sum = S(0.0);
      STICTION_ROLLED
      for (int i = leaf; i < n; i += leaves) sum = sum + f(i);
      part = part + sum;
    }
    return group_.reduce_leaves(part, [](const S& a, const S& b) { return a + b; });
  }
  template <class S, class F>
  STICTION_FN S max(int n, const F& f) const {
    S part = S(0.0);
    STICTION_ROLLED
    for (int i = group_.rank(); i < n; i += group_.size()) part = vmax(f(i), part);
    return group_.reduce(part, [](const S& a, const S& b) { return vmax(a, b); });
  }
  template <class F>
  STICTION_FN bool any(int n, const F& f) const {
    bool mine = false;
    each_own(n, [&](int i) { mine = mine || f(i); });
    return any(mine);
  }
  STICTION_FN bool any(bool mine) const { return group_.prefix_sum(mine).total > 0; }
  template <class F>
  STICTION_FN void each_own(int n, const F& f) const {
    STICTION_ROLLED
    for (int i = group_.rank(); i < n; i += group_.size()) f(i);
  }
  template <class F>
  STICTION_FN int compact(int n, int* list, const F& keep) const {
    int count = 0;
    STICTION_ROLLED
    for (int first = 0; first < n; first += group_.size()) {
      const int i = first + group_.rank();
      const bool kept = i < n && keep(i);
      const PrefixSum sum = group_.prefix_sum(kept);
      if (kept) list[count + sum.before] = i;
      count += sum.total;
    }
    group_.sync();
    return count;
  }
  // Calls take(i, begin), begin: the sum of count over the indices before i; returns the total.
  template <class Count, class Take>
  STICTION_FN int allot(int n, const Count& count, const Take& take) const {
    int total = 0;
    STICTION_ROLLED
    for (int first = 0; first < n; first += group_.size()) {
      const int i = first + group_.rank();
      const PrefixSum sum = group_.prefix_sum(i < n ? static_cast<int>(count(i)) : 0);
      if (i < n) take(i, total + sum.before);
      total += sum.total;
    }
    group_.sync();
    return total;
  }
  template <class F>
  STICTION_FN void once(const F& f) const {
    if (group_.rank() == 0) f();
    group_.sync();
  }
  STICTION_FN void sync() const { group_.sync(); }

 private:
  Group group_;
};

// Four numbers that are loaded or stored together.
struct alignas(16) Quad {
  float x, y, z, w;
};

STICTION_PHYSICS_END

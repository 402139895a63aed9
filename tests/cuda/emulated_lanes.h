// Lanes of a tile or a block on the host, for the text of cuda/group_team.h: a thread per lane
// under a sanitizer, else a coroutine per lane, resumed in a scrambled order after every sync.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "cuda/group_team.h"

namespace stiction::test {

// Lanes that wait for each other; `all` or those of one tile.
class LaneThreads {
 public:
  LaneThreads(int tiles, int lanes) : all_(lanes * tiles), lanes_(lanes) {
    for (int t = 0; t < tiles; ++t) tile_.push_back(std::make_unique<std::barrier<>>(lanes));
  }
  void wait_all() { all_.arrive_and_wait(); }
  void wait_tile(int tile) { tile_[static_cast<std::size_t>(tile)]->arrive_and_wait(); }
  void run(const std::function<void(int)>& lane) {
    std::vector<std::thread> threads;
    const int n = lanes_ * static_cast<int>(tile_.size());
    for (int i = 0; i < n; ++i) threads.emplace_back([&lane, i] { lane(i); });
    for (std::thread& t : threads) t.join();
  }

 private:
  std::barrier<> all_;
  int lanes_;
  std::vector<std::unique_ptr<std::barrier<>>> tile_;
};

class LaneCoroutines {
 public:
  LaneCoroutines(int tiles, int lanes)
      : lanes_(static_cast<std::size_t>(lanes * tiles)),
        of_tile_(static_cast<std::size_t>(lanes)) {}
  void wait_all() { wait(-1); }
  void wait_tile(int tile) { wait(tile); }
  void run(const std::function<void(int)>& lane) {
    text_ = &lane;
    constexpr std::size_t kStack = 1 << 18;
    for (Lane& l : lanes_) {
      if (!l.stack) l.stack.reset(new char[kStack]);
      l.done = false, l.waits = kRuns;
      getcontext(&l.context);
      l.context.uc_stack = {l.stack.get(), 0, kStack};
      l.context.uc_link = &main_;
      const auto self = reinterpret_cast<std::uintptr_t>(this);
      makecontext(&l.context, reinterpret_cast<void (*)()>(&enter), 2, static_cast<unsigned>(self),
                  static_cast<unsigned>(self >> 32));
    }
    std::vector<std::size_t> order(lanes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool ran = true; ran;) {
      ran = false;
      shuffle(order);
      for (const std::size_t i : order)
        if (!lanes_[i].done && lanes_[i].waits == kRuns) resume(i), ran = true;
      ran = release() || ran;
    }
    for (const Lane& l : lanes_)
      if (!l.done) std::abort();  // lanes that wait for others that never come
  }

 private:
  static constexpr int kRuns = -2;
  struct Lane {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    int waits;  // kRuns, -1: for all, else for its tile
    bool done;
  };
  static void enter(unsigned low, unsigned high) {
    auto* self = reinterpret_cast<LaneCoroutines*>(low | (std::uintptr_t{high} << 32));
    (*self->text_)(static_cast<int>(self->current_));
    self->lanes_[self->current_].done = true;
  }
  void resume(std::size_t i) {
    current_ = i;
    swapcontext(&main_, &lanes_[i].context);
  }
  void wait(int what) {
    Lane& l = lanes_[current_];
    l.waits = what;
    swapcontext(&l.context, &main_);
  }
  // Lets lanes go on where all that they wait for have come.
  bool release() {
    bool any = false;
    const auto free = [&](std::size_t begin, std::size_t end, bool all) {
      for (std::size_t i = begin; i < end; ++i)
        if (lanes_[i].done || lanes_[i].waits == kRuns || (lanes_[i].waits == -1) != all) return;
      for (std::size_t i = begin; i < end; ++i) lanes_[i].waits = kRuns;
      any = true;
    };
    free(0, lanes_.size(), true);
    for (std::size_t t = 0; t < lanes_.size(); t += of_tile_) free(t, t + of_tile_, false);
    return any;
  }
  void shuffle(std::vector<std::size_t>& order) {
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      random_ = random_ * 1664525u + 1013904223u;
      std::swap(order[i], order[(random_ >> 8) % (i + 1)]);
    }
  }

  std::vector<Lane> lanes_;
  std::size_t of_tile_;
  const std::function<void(int)>* text_ = nullptr;
  std::size_t current_ = 0;
  std::uint32_t random_ = 1;
  ucontext_t main_{};
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
using LaneRunner = LaneThreads;
#else
using LaneRunner = LaneCoroutines;
#endif

// What the lanes of a group share: of `tiles` warps of a block, or one tile of `lanes`.
struct LanesShared {
  explicit LanesShared(int n, int of_tile = physics::kWarp)
      : tiles(n),
        lanes(of_tile),
        runner(n, of_tile),
        words(static_cast<std::size_t>(of_tile * n)),
        scratch(static_cast<std::size_t>(physics::kScratchWords * n)) {}
  int tiles, lanes;
  LaneRunner runner;
  std::vector<std::uint32_t> words, scratch;
};

// One lane.
class EmulatedLanes {
 public:
  EmulatedLanes(LanesShared& shared, int rank) : shared_(&shared), rank_(rank) {}
  int lane() const { return rank_ % shared_->lanes; }
  int lanes() const { return shared_->lanes; }
  int warp() const { return rank_ / shared_->lanes; }
  int warps() const { return shared_->tiles; }
  std::uint32_t shuffle(std::uint32_t word, int from) const {
    publish(word);
    const std::uint32_t result = word_of(from);
    sync_tile();
    return result;
  }
  std::uint32_t shuffle_xor(std::uint32_t word, int mask) const {
    return shuffle(word, lane() ^ mask);
  }
  std::uint32_t ballot(bool mine) const {
    publish(mine ? 1u : 0u);
    std::uint32_t votes = 0;
    for (int k = 0; k < lanes(); ++k) votes |= word_of(k) << k;
    sync_tile();
    return votes;
  }
  void sync_tile() const { shared_->runner.wait_tile(warp()); }
  void sync_block() const { shared_->runner.wait_all(); }
  std::uint32_t* scratch() const { return shared_->scratch.data(); }

 private:
  void publish(std::uint32_t word) const {
    shared_->words[static_cast<std::size_t>(rank_)] = word;
    sync_tile();
  }
  std::uint32_t word_of(int lane) const {
    return shared_->words[static_cast<std::size_t>(lanes() * warp() + lane)];
  }

  LanesShared* shared_;
  int rank_;
};

using EmulatedTile = physics::TileGroup<EmulatedLanes>;
using EmulatedBlock = physics::BlockGroup<EmulatedLanes>;
inline constexpr int kTiles[] = {4, 8, 16, 32};  // lanes of a tile

// Runs f(team) on every lane of an emulated group.
template <class Group, class F>
void on_lanes(LanesShared& shared, const F& f) {
  if constexpr (std::is_same_v<Group, physics::ThreadGroup>)
    f(physics::GroupTeam<Group>(Group()));
  else
    shared.runner.run(
        [&](int rank) { f(physics::GroupTeam<Group>(Group(EmulatedLanes(shared, rank)))); });
}
template <class F>
void on_tile(int lanes, const F& f) {
  LanesShared shared(1, lanes);
  on_lanes<EmulatedTile>(shared, f);
}
template <class F>
void on_block(int warps, const F& f) {
  LanesShared shared(warps);
  on_lanes<EmulatedBlock>(shared, f);
}

}  // namespace stiction::test

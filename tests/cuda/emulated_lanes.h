// Lanes of a warp or a block on the host, for the text of cuda/group_team.h: a thread per lane
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

// Lanes that wait for each other; `all` or those of one warp.
class LaneThreads {
 public:
  explicit LaneThreads(int warps) : all_(physics::kWarp * warps) {
    for (int w = 0; w < warps; ++w)
      warp_.push_back(std::make_unique<std::barrier<>>(physics::kWarp));
  }
  void wait_all() { all_.arrive_and_wait(); }
  void wait_warp(int warp) { warp_[static_cast<std::size_t>(warp)]->arrive_and_wait(); }
  void run(const std::function<void(int)>& lane) {
    std::vector<std::thread> threads;
    const int n = physics::kWarp * static_cast<int>(warp_.size());
    for (int i = 0; i < n; ++i) threads.emplace_back([&lane, i] { lane(i); });
    for (std::thread& t : threads) t.join();
  }

 private:
  std::barrier<> all_;
  std::vector<std::unique_ptr<std::barrier<>>> warp_;
};

class LaneCoroutines {
 public:
  explicit LaneCoroutines(int warps) : lanes_(static_cast<std::size_t>(physics::kWarp * warps)) {}
  void wait_all() { wait(-1); }
  void wait_warp(int warp) { wait(warp); }
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
    int waits;  // kRuns, -1: for all, else for its warp
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
    for (std::size_t w = 0; w < lanes_.size(); w += physics::kWarp)
      free(w, w + physics::kWarp, false);
    return any;
  }
  void shuffle(std::vector<std::size_t>& order) {
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      random_ = random_ * 1664525u + 1013904223u;
      std::swap(order[i], order[(random_ >> 8) % (i + 1)]);
    }
  }

  std::vector<Lane> lanes_;
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

// What the lanes of a group share.
struct LanesShared {
  explicit LanesShared(int n)
      : warps(n),
        runner(n),
        words(static_cast<std::size_t>(physics::kWarp * n)),
        scratch(static_cast<std::size_t>(physics::kScratchWords * n)) {}
  int warps;
  LaneRunner runner;
  std::vector<std::uint32_t> words, scratch;
};

// One lane.
class EmulatedLanes {
 public:
  EmulatedLanes(LanesShared& shared, int rank) : shared_(&shared), rank_(rank) {}
  int lane() const { return rank_ % physics::kWarp; }
  int warp() const { return rank_ / physics::kWarp; }
  int warps() const { return shared_->warps; }
  std::uint32_t shuffle(std::uint32_t word, int from) const {
    publish(word);
    const std::uint32_t result = word_of(from);
    sync_warp();
    return result;
  }
  std::uint32_t shuffle_xor(std::uint32_t word, int mask) const {
    return shuffle(word, lane() ^ mask);
  }
  std::uint32_t ballot(bool mine) const {
    publish(mine ? 1u : 0u);
    std::uint32_t votes = 0;
    for (int k = 0; k < physics::kWarp; ++k) votes |= word_of(k) << k;
    sync_warp();
    return votes;
  }
  void sync_warp() const { shared_->runner.wait_warp(warp()); }
  void sync_block() const { shared_->runner.wait_all(); }
  std::uint32_t* scratch() const { return shared_->scratch.data(); }

 private:
  void publish(std::uint32_t word) const {
    shared_->words[static_cast<std::size_t>(rank_)] = word;
    sync_warp();
  }
  std::uint32_t word_of(int lane) const {
    return shared_->words[static_cast<std::size_t>(physics::kWarp * warp() + lane)];
  }

  LanesShared* shared_;
  int rank_;
};

using EmulatedWarp = physics::WarpGroup<EmulatedLanes>;
using EmulatedBlock = physics::BlockGroup<EmulatedLanes>;

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
void on_warp(const F& f) {
  LanesShared shared(1);
  on_lanes<EmulatedWarp>(shared, f);
}
template <class F>
void on_block(int warps, const F& f) {
  LanesShared shared(warps);
  on_lanes<EmulatedBlock>(shared, f);
}

}  // namespace stiction::test

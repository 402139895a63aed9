// Teams that prove lane-parallel text right without a GPU.
#pragma once

#include <barrier>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "physics/base/team.h"

namespace stiction::test {

// Visits the indices of for_each in a scrambled order: a result that changes had an index read what
// another one writes. Sums keep their order.
class ShuffledTeam {
 public:
  static constexpr bool serial = true;
  explicit ShuffledTeam(std::uint32_t seed = 1) : state_(seed) {}

  template <class F>
  void for_each(int n, const F& f) const {
    std::vector<int> order;
    for (int i = 0; i < n; ++i) order.push_back(i);
    for (int i = n - 1; i > 0; --i) {
      state_ = state_ * 1664525u + 1013904223u;
      std::swap(order[static_cast<std::size_t>(i)],
                order[(state_ >> 8) % static_cast<std::uint32_t>(i + 1)]);
    }
    for (const int i : order) f(i);
  }
  template <class S, class F>
  S sum(int n, const F& f) const {
    return physics::TeamOfOne().sum<S>(n, f);
  }
  template <class S, class F>
  S max(int n, const F& f) const {
    return physics::TeamOfOne().max<S>(n, f);
  }
  template <class F>
  int compact(int n, int* list, const F& keep) const {
    return physics::TeamOfOne().compact(n, list, keep);
  }
  template <class F>
  void once(const F& f) const {
    f();
  }
  void sync() const {}

 private:
  mutable std::uint32_t state_;
};

// What the lanes of a ThreadTeam share.
struct ThreadTeamShared {
  explicit ThreadTeamShared(int n) : size(n), barrier(n), parts(static_cast<std::size_t>(n)) {}
  int size;
  std::barrier<> barrier;
  std::vector<const void*> parts;  // of a sum, each on its lane
};

// One lane of a team of real threads with a real barrier, for ThreadSanitizer. Every lane runs the
// whole text; index i belongs to lane i mod size.
class ThreadTeam {
 public:
  static constexpr bool serial = true;
  ThreadTeam(ThreadTeamShared& shared, int rank) : shared_(&shared), rank_(rank) {}

  template <class F>
  void for_each(int n, const F& f) const {
    for (int i = rank_; i < n; i += shared_->size) f(i);
    sync();
  }
  template <class S, class F>
  S sum(int n, const F& f) const {
    S part = S(0.0);
    for (int i = rank_; i < n; i += shared_->size) part = part + f(i);
    return exchange<S>(part, [](S a, S b) { return a + b; });
  }
  template <class S, class F>
  S max(int n, const F& f) const {
    S part = S(0.0);
    for (int i = rank_; i < n; i += shared_->size) part = physics::vmax(f(i), part);
    return exchange<S>(part, [](S a, S b) { return physics::vmax(a, b); });
  }
  template <class F>
  int compact(int n, int* list, const F& keep) const {
    int count = 0;
    for (int i = 0; i < n; ++i) {
      if (!keep(i)) continue;
      if (rank_ == 0) list[count] = i;
      ++count;
    }
    sync();
    return count;
  }
  template <class F>
  void once(const F& f) const {
    if (rank_ == 0) f();
    sync();
  }
  void sync() const { shared_->barrier.arrive_and_wait(); }

  // Runs f(team) on `size` threads.
  template <class F>
  static void run(int size, const F& f) {
    ThreadTeamShared shared(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] { f(ThreadTeam(shared, rank)); });
    for (std::thread& t : threads) t.join();
  }

 private:
  // Every lane combines the parts in the same order, so all get the same bits.
  template <class S, class F>
  S exchange(S part, const F& combine) const {
    const auto part_of = [&](int rank) {
      return *static_cast<const S*>(shared_->parts[static_cast<std::size_t>(rank)]);
    };
    shared_->parts[static_cast<std::size_t>(rank_)] = &part;
    sync();
    S total = part_of(0);
    for (int i = 1; i < shared_->size; ++i) total = combine(total, part_of(i));
    sync();
    return total;
  }

  ThreadTeamShared* shared_;
  int rank_;
};

}  // namespace stiction::test

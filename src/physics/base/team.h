// A team: the threads that work together on one environment (on a CPU: on the environments of one
// pack). Its functions are for_each, each_own, sum, max, any, compact, once and sync; each thread's rank and their
// number stay private to the team.
//
// Rules: inside for_each, index i writes only the entries of i, and no index reads what another one
// writes; for_each ends with a sync. No other function of the team inside for_each. Every thread
// calls every function of the team, so code between the calls is executed by all threads and must
// not write shared arrays. sum and max return the bitwise same value in all threads.
#pragma once

#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

// A team that runs serial code: loops along chains of a tree, lists that one thread builds in order. A team
// that divides such work among its threads has its own overload of every function constrained by SerialTeam,
// and a call without such an overload does not compile.
template <class Team>
concept SerialTeam = Team::serial;

// Several sums computed side by side: one pass over shared data, and on a GPU one exchange between threads.
template <class S, int N>
struct Sums {
  S of[N];
  template <class... T>
  requires(sizeof...(T) == N) STICTION_FN explicit Sums(const T&... x) : of{x...} {}
  STICTION_FN explicit Sums(double x) {
    STICTION_UNROLLED
    for (S& s : of) s = S(x);
  }
};
template <class S, int N>
STICTION_FN Sums<S, N> operator+(Sums<S, N> a, const Sums<S, N>& b) {
  STICTION_UNROLLED
  for (int k = 0; k < N; ++k) a.of[k] = a.of[k] + b.of[k];
  return a;
}

// One thread, as on a CPU, where the environments that run in parallel are the lanes of a pack.
struct TeamOfOne {
  static constexpr bool serial = true;
  template <class F>
  STICTION_FN void for_each(int n, const F& f) const {
    for (int i = 0; i < n; ++i) f(i);
  }
  // Returns Σ f(i) in the order of i; S: a number type, or a type with S(0.0) and +.
  template <class S, class F>
  STICTION_FN S sum(int n, const F& f) const {
    S total = S(0.0);
    for (int i = 0; i < n; ++i) total = total + f(i);
    return total;
  }
  // Returns max(0, f(i)...).
  template <class S, class F>
  STICTION_FN S max(int n, const F& f) const {
    S largest = S(0.0);
    for (int i = 0; i < n; ++i) largest = vmax(f(i), largest);
    return largest;
  }
  // Returns whether f(i) is true for any index; `mine`: whether it is true in any thread of the team.
  template <class F>
  STICTION_FN bool any(int n, const F& f) const {
    bool found = false;
    each_own(n, [&](int i) { found = found || f(i); });
    return found;
  }
  STICTION_FN bool any(bool mine) const { return mine; }
  // Calls f for the indices of this thread; f writes nothing that other threads read: no sync.
  template <class F>
  STICTION_FN void each_own(int n, const F& f) const {
    for (int i = 0; i < n; ++i) f(i);
  }
  // Writes the indices with keep(i), a bool, to list in ascending order; returns their number.
  template <class F>
  STICTION_FN int compact(int n, int* list, const F& keep) const {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (keep(i)) list[count++] = i;
    return count;
  }
  // Calls f() in one thread, then syncs.
  template <class F>
  STICTION_FN void once(const F& f) const {
    f();
  }
  STICTION_FN void sync() const {}
};

STICTION_PHYSICS_END

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

// A team that goes through serial text: chains of a tree, lists that one thread makes in a row. A team that
// shares such work among its threads has an overload of its own for every function that asks for this, and
// no call of one that it lacks compiles.
template <class Team>
concept SerialTeam = Team::serial;

// Sums of N numbers side by side: one pass over what they share, on a GPU one exchange between the threads.
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

// One thread, as on a CPU, where the parallel environments are the lanes of a pack.
struct TeamOfOne {
  static constexpr bool serial = true;
  template <class F>
  STICTION_FN void for_each(int n, const F& f) const {
    for (int i = 0; i < n; ++i) f(i);
  }
  // Σ f(i) in the order of i; S: a number, or what has S(0.0) and +.
  template <class S, class F>
  STICTION_FN S sum(int n, const F& f) const {
    S total = S(0.0);
    for (int i = 0; i < n; ++i) total = total + f(i);
    return total;
  }
  // max(0, f(i)...)
  template <class S, class F>
  STICTION_FN S max(int n, const F& f) const {
    S largest = S(0.0);
    for (int i = 0; i < n; ++i) largest = vmax(f(i), largest);
    return largest;
  }
  // Whether f(i), a bool, is true of any index; `mine`: of any that this thread has.
  template <class F>
  STICTION_FN bool any(int n, const F& f) const {
    bool found = false;
    each_own(n, [&](int i) { found = found || f(i); });
    return found;
  }
  STICTION_FN bool any(bool mine) const { return mine; }
  // f of the indices of this thread, which writes nothing that others read: no sync.
  template <class F>
  STICTION_FN void each_own(int n, const F& f) const {
    for (int i = 0; i < n; ++i) f(i);
  }
  // Writes the indices with keep(i), a bool, in rising order to list; returns their number.
  template <class F>
  STICTION_FN int compact(int n, int* list, const F& keep) const {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (keep(i)) list[count++] = i;
    return count;
  }
  // f() by one thread, then a sync.
  template <class F>
  STICTION_FN void once(const F& f) const {
    f();
  }
  STICTION_FN void sync() const {}
};

STICTION_PHYSICS_END

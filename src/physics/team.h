// The lanes that work together on one environment. Seven words: for_each, sum, max, compact, sync,
// once, and rank/size, which stay private to the team.
//
// Rules: inside for_each, index i writes only what i owns, and nobody reads what another index
// writes; for_each ends with a sync. No collective inside for_each. Every lane reaches every
// collective, so code between collectives is executed by all lanes and must not write shared
// arrays. sum and max return the bitwise same value in all lanes.
#pragma once

#include "physics/scalar.h"

STICTION_PHYSICS_BEGIN

// One lane: the CPU, where an environment is a lane of a pack instead.
struct TeamOfOne {
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
  // Writes the indices with keep(i), a bool, in rising order to list; returns their number.
  template <class F>
  STICTION_FN int compact(int n, int* list, const F& keep) const {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (keep(i)) list[count++] = i;
    return count;
  }
  // f() by one lane, then a sync.
  template <class F>
  STICTION_FN void once(const F& f) const {
    f();
  }
  STICTION_FN void sync() const {}
};

STICTION_PHYSICS_END

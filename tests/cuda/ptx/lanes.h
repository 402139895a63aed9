// A function of numbers, on all active lanes at once.
#pragma once

#include <cstring>
#include <type_traits>

#include "cuda/ptx/warp.h"

namespace stiction::ptx {

// What a row holds of a number: the number, or for 8 and 16 bits a word with them at its low end.
template <class T>
using Held = std::conditional_t<(sizeof(T) >= 4), T, std::uint32_t>;
template <class T>
constexpr T held(Held<T> x) {
  return static_cast<T>(x);
}
template <class T>
constexpr Held<T> hold(T x) {
  if constexpr (sizeof(T) >= 4)
    return x;
  else
    return static_cast<Held<T>>(static_cast<std::make_unsigned_t<T>>(x));
}

template <class D, class F>
inline void write_lanes(Warp& w, const Instruction& i, const F& f) {
  Held<D>* const d = w.row<Held<D>>(i.to);
  const Lanes active = w.active;
  if (active == kAll) {
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) d[l] = hold<D>(f(l));
  } else {
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) d[l] = (active >> l & 1) != 0 ? hold<D>(f(l)) : d[l];
  }
}
inline Lanes unwritten_sources(const Warp& w, const Instruction& i) {
  return w.unwritten_in(i.from[0]) | w.unwritten_in(i.from[1]) | w.unwritten_in(i.from[2]);
}

// D(A), D(A, B), D(A, B, C), D(A, B, C, E), of a functor without state.
template <class F, class D, class A>
void map_lanes(Warp& w, const Instruction& i) {
  const Held<A>* const a = w.row<Held<A>>(i.from[0]);
  write_lanes<D>(w, i, [=](int l) { return static_cast<D>(F()(held<A>(a[l]))); });
  w.depends(i.to, w.unwritten_in(i.from[0]));
}
template <class F, class D, class A, class B>
void map_lanes(Warp& w, const Instruction& i) {
  const Held<A>* const a = w.row<Held<A>>(i.from[0]);
  const Held<B>* const b = w.row<Held<B>>(i.from[1]);
  write_lanes<D>(w, i, [=](int l) { return static_cast<D>(F()(held<A>(a[l]), held<B>(b[l]))); });
  w.depends(i.to, unwritten_sources(w, i));
}
template <class F, class D, class A, class B, class C>
void map_lanes(Warp& w, const Instruction& i) {
  const Held<A>* const a = w.row<Held<A>>(i.from[0]);
  const Held<B>* const b = w.row<Held<B>>(i.from[1]);
  const Held<C>* const c = w.row<Held<C>>(i.from[2]);
  write_lanes<D>(w, i, [=](int l) {
    return static_cast<D>(F()(held<A>(a[l]), held<B>(b[l]), held<C>(c[l])));
  });
  w.depends(i.to, unwritten_sources(w, i));
}

template <class F, class D, class A, class B, class C, class E>
void map_lanes(Warp& w, const Instruction& i) {
  const Held<A>* const a = w.row<Held<A>>(i.from[0]);
  const Held<B>* const b = w.row<Held<B>>(i.from[1]);
  const Held<C>* const c = w.row<Held<C>>(i.from[2]);
  const Held<E>* const e = w.row<Held<E>>(i.from[3]);
  write_lanes<D>(w, i, [=](int l) {
    return static_cast<D>(F()(held<A>(a[l]), held<B>(b[l]), held<C>(c[l]), held<E>(e[l])));
  });
  w.depends(i.to, unwritten_sources(w, i) | w.unwritten_in(i.from[3]));
}

inline void write_predicate(Warp& w, int row, Lanes value) {
  Lanes& d = *w.row<Lanes>(row);
  d = (d & ~w.active) | (value & w.active);
}
inline Lanes predicate(Warp& w, int row) {
  return *w.row<Lanes>(row);
}

// F(a, b) to a predicate.
template <class F, class T>
void compare_lanes(Warp& w, const Instruction& i) {
  const Held<T>* const a = w.row<Held<T>>(i.from[0]);
  const Held<T>* const b = w.row<Held<T>>(i.from[1]);
  std::uint8_t yes[kLanes];
  for (int l = 0; l < kLanes; ++l) yes[l] = F()(held<T>(a[l]), held<T>(b[l])) ? 1 : 0;
  // the lowest bits of eight bytes, side by side
  Lanes value = 0;
  for (int k = 0; k < kLanes / 8; ++k) {
    std::uint64_t eight;
    std::memcpy(&eight, yes + 8 * k, 8);
    value |= static_cast<Lanes>(eight * 0x0102040810204080u >> 56) << (8 * k);
  }
  write_predicate(w, i.to, value);
  w.depends(i.to, unwritten_sources(w, i));
}

template <class T>
void select_lanes(Warp& w, const Instruction& i) {
  const Held<T>* const a = w.row<Held<T>>(i.from[0]);
  const Held<T>* const b = w.row<Held<T>>(i.from[1]);
  const Lanes which = predicate(w, i.from[2]);
  const Lanes from = w.unwritten_in(i.from[2]) | (which & w.unwritten_in(i.from[0])) |
                     (~which & w.unwritten_in(i.from[1]));
  write_lanes<T>(w, i, [=](int l) { return held<T>((which >> l & 1) != 0 ? a[l] : b[l]); });
  w.depends(i.to, from);
}

}  // namespace stiction::ptx

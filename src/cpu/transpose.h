// Transposes dense rows of W environments to and from blocks in which the W lanes of a number are adjacent.
#pragma once

#include <cstring>
#include <utility>

#include "cpu/pack.h"

STICTION_PHYSICS_BEGIN

// V numbers of V rows, one vector per row.
template <class T>
struct Tile {
  using Real = typename Vector<T>::Real;
  static constexpr int V = kVectorBytes / static_cast<int>(sizeof(T));
  Real row[V];

  // Swaps the off-diagonal blocks of H x H numbers of rows a and b = a + H.
  template <int H, int... K>
  static void swap_blocks(Real& a, Real& b, std::integer_sequence<int, K...>) {
    const Real x = __builtin_shufflevector(a, b, ((K & H) != 0 ? V + K - H : K)...);
    const Real y = __builtin_shufflevector(a, b, ((K & H) != 0 ? V + K : K + H)...);
    a = x, b = y;
  }
  template <int H = V / 2>
  void transpose() {
    for (int i = 0; i < V; ++i)
      if ((i & H) == 0) swap_blocks<H>(row[i], row[i + H], std::make_integer_sequence<int, V>());
    if constexpr (H > 1) transpose<H / 2>();
  }
};

// The last tile of a row overlaps the preceding one.
inline int tile_column(int c, int n, int v) {
  return c + v <= n ? c : n - v;
}

template <class T, int W>
inline void load_rows(int n, const T* const* rows, T* block) {
  constexpr int V = Tile<T>::V;
  if constexpr (W % V == 0) {
    for (int c = 0; c < n && n >= V; c += V)
      for (int g = 0; g < W; g += V) {
        const int column = tile_column(c, n, V);
        Tile<T> tile;
        for (int i = 0; i < V; ++i) std::memcpy(&tile.row[i], rows[g + i] + column, kVectorBytes);
        tile.transpose();
        for (int k = 0; k < V; ++k)
          std::memcpy(block + (column + k) * W + g, &tile.row[k], kVectorBytes);
      }
    if (n >= V) return;
  }
  for (int c = 0; c < n; ++c)
    for (int lane = 0; lane < W; ++lane) block[c * W + lane] = rows[lane][c];
}

// A null row is not stored.
template <class T, int W>
inline void store_rows(int n, const T* block, T* const* rows) {
  constexpr int V = Tile<T>::V;
  if constexpr (W % V == 0) {
    for (int c = 0; c < n && n >= V; c += V)
      for (int g = 0; g < W; g += V) {
        const int column = tile_column(c, n, V);
        Tile<T> tile;
        for (int k = 0; k < V; ++k)
          std::memcpy(&tile.row[k], block + (column + k) * W + g, kVectorBytes);
        tile.transpose();
        for (int i = 0; i < V; ++i)
          if (rows[g + i] != nullptr) std::memcpy(rows[g + i] + column, &tile.row[i], kVectorBytes);
      }
    if (n >= V) return;
  }
  for (int lane = 0; lane < W; ++lane)
    for (int c = 0; c < n && rows[lane] != nullptr; ++c) rows[lane][c] = block[c * W + lane];
}

STICTION_PHYSICS_END

// Sparse factorization H = Lᵀ D L of a symmetric positive definite matrix over the dofs, from the
// last dof to the first, so that a tree gives no fill-in; and products with A.
#pragma once

#include <type_traits>

#include "physics/solver/structure.h"

STICTION_PHYSICS_BEGIN

// The smallest pivot in units of the diagonal: round-off of the sum that forms the pivot.
template <class S>
STICTION_FN S pivot_floor() {
  return S(4 * epsilon<S>());
}

// Rows are eliminated in blocks: consecutive dofs with the same rows below, so that each entry of those rows is
// loaded once for all rows of a block. A panel has as many rows and columns as keep their sums in registers.
template <class S>
inline constexpr int kSums = kRegisters<S> >= 32 ? 24 : 12;
template <class S>
inline constexpr int kRows = kSums<S> / 4;
template <int T, class S>
inline constexpr int kPanel = kSums<S> / T < 12 ? kSums<S> / T : 12;

// Independent sums side by side hide the latency of the additions.
inline constexpr int kChains = 4;

// Calls f(n) with n as a compile-time constant, 1 to Most; larger n count as Most.
template <int Most, class F>
STICTION_FN void with_constant(int n, const F& f) {
  if constexpr (Most > 1)
    if (n < Most) return with_constant<Most - 1>(n, f);
  f(std::integral_constant<int, Most>());
}

// Returns the size of the block of rows that ends with `last`.
template <class S>
STICTION_FN int block_size(const EnvView<S>& e, int last) {
  const int* const below = e.below_adr;
  int i = last;
  while (last - i + 1 < kRows<S> && i > 0 && e.row_parent[i] == i - 1 &&
         below[i] - below[i - 1] == below[i + 1] - below[i] + 1)
    --i;
  return last - i + 1;
}

// Eliminates the columns i .. i + T − 1 of the block of the rows i .. i + T − 1; gives the pivots D, and x = D⁻¹ L⁻ᵀ b,
// the right-hand side being treated as another column. For each row r, the last first,
//
//   D_r L_rc = H_rc − Σ_k (D_k L_kr) L_kc    over the rows k below r, descending
template <int T, class S>
STICTION_OUTLINE void eliminate_triangle(EnvView<S>& e, int i, const S* b, S* x) {
  S h[T][T], rhs[T], full[T];
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) {
    const S* const H = e.H + tri(i + r, e.row_num[i]);
    STICTION_UNROLLED
    for (int c = 0; c <= r; ++c) h[r][c] = H[c];
    full[r] = h[r][r], rhs[r] = b[i + r];
  }
  for (int n = e.below_adr[i + T - 1], end = e.below_adr[i + T]; n < end; ++n) {
    const int at = e.below_place[n] - (T - 1);
    const S *const u = e.H + at, *const l = e.L + at, below = x[e.below_row[n]];
    STICTION_UNROLLED
    for (int r = 0; r < T; ++r) {
      STICTION_UNROLLED
      for (int c = 0; c <= r; ++c) h[r][c] = h[r][c] - u[r] * l[c];
      rhs[r] = rhs[r] - u[r] * below;
    }
  }
  STICTION_UNROLLED
  for (int r = T - 1; r >= 0; --r) {
    const int row = tri(i + r, e.row_num[i]);
    // a pivot below the round-off of its diagonal is raised to that round-off
    const S inverse = e.L[row + r] = S(1.0) / vmax(h[r][r], pivot_floor<S>() * full[r]);
    const S solved = x[i + r] = inverse * rhs[r];
    STICTION_UNROLLED
    for (int c = 0; c < r; ++c) {
      const S l = inverse * h[r][c];
      e.H[row + c] = h[r][c], e.L[row + c] = l;
      STICTION_UNROLLED
      for (int q = c; q < r; ++q) h[q][c] = h[q][c] - h[r][q] * l;
    }
    STICTION_UNROLLED
    for (int q = 0; q < r; ++q) rhs[q] = rhs[q] - h[r][q] * solved;
  }
}

// The same sums for N columns to the left of the block, from the position `first` on.
template <int T, int N, class S>
STICTION_OUTLINE void eliminate_panel(EnvView<S>& e, int i, int first) {
  S acc[T][N];
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) {
    const S* const H = e.H + tri(i + r, first);
    STICTION_UNROLLED
    for (int c = 0; c < N; ++c) acc[r][c] = H[c];
  }
  const std::ptrdiff_t left = e.row_num[i + T - 1] - first;
  for (int n = e.below_adr[i + T - 1], end = e.below_adr[i + T]; n < end; ++n) {
    const int at = e.below_place[n];
    const S *const u = e.H + at - (T - 1), *const l = e.L + (at - left);
    STICTION_UNROLLED
    for (int c = 0; c < N; ++c) {
      const S of_column = l[c];
      STICTION_UNROLLED
      for (int r = 0; r < T; ++r) acc[r][c] = acc[r][c] - u[r] * of_column;
    }
  }
  STICTION_UNROLLED
  for (int r = T - 1; r >= 0; --r) {
    const int row = tri(i + r, first);
    const int block = tri(i + r, e.row_num[i]);
    const S *const u = e.H + block, inverse = e.L[block + r];
    STICTION_UNROLLED
    for (int c = 0; c < N; ++c) {
      const S l = inverse * acc[r][c];
      e.H[row + c] = acc[r][c], e.L[row + c] = l;
      STICTION_UNROLLED
      for (int q = 0; q < r; ++q) acc[q][c] = acc[q][c] - u[q] * l;
    }
  }
}

// Eliminates the block of T rows from i on.
template <int T, class Team, class S>
STICTION_FN void eliminate(const Team& team, EnvView<S>& e, int i, const S* b, S* x) {
  team.once([&] { eliminate_triangle<T>(e, i, b, x); });
  constexpr int N = kPanel<T, S>;
  const int columns = e.row_num[i];
  team.for_each((columns + N - 1) / N, [&](int p) {
    with_constant<N>(columns - p * N, [&](auto n) { eliminate_panel<T, n()>(e, i, p * N); });
  });
}

// Returns how many rows from i on, at most kChains, have the columns of the preceding row plus that row itself.
STICTION_FN int chain_length(const int* parent, int n, int i) {
  int rows = 1;
  while (rows < kChains && i + rows < n && parent[i + rows] == i + rows - 1) ++rows;
  return rows;
}

// Solves L x = y for rows i .. i + T − 1, each having the columns of the preceding row plus that row; y is passed in x.
template <int T, class S>
STICTION_FN void substitute(const EnvView<S>& e, int i, S* x) {
  S sum[T];
  const S* l[T];
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) sum[r] = x[i + r], l[r] = e.L + tri(i + r, 0);
  for_columns(e, i, [&](auto k, auto j) {
    STICTION_UNROLLED
    for (int r = 0; r < T; ++r) sum[r] = sum[r] - l[r][k] * x[j];
  });
  const int own = e.row_num[i];
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) {
    STICTION_UNROLLED
    for (int q = 0; q < r; ++q) sum[r] = sum[r] - l[r][own + q] * sum[q];
    x[i + r] = sum[r];
  }
}

// Computes x = H⁻¹ b with H = Lᵀ D L. H keeps D L left of the diagonal, L has D⁻¹ on the diagonal.
template <SerialTeam Team, class S>
STICTION_FN void factor_and_solve(const Team& team, const ModelView& m, EnvView<S>& e, const S* b,
                                  S* x) {
  for (int last = m.nv - 1; last >= 0;) {
    const int rows = block_size(e, last), i = last - rows + 1;
    with_constant<kRows<S>>(rows, [&](auto t) { eliminate<t()>(team, e, i, b, x); });
    last = i - 1;
  }
  // solves L x = D⁻¹ L⁻ᵀ b
  team.once([&] {
    for (int i = 0, rows; i < m.nv; i += rows) {
      rows = chain_length(e.row_parent, m.nv, i);
      with_constant<kChains>(rows, [&](auto t) { substitute<t()>(e, i, x); });
    }
  });
}

// Computes rows i .. i + T − 1 of out = A x, and the contributions of the mirrored entries left of the diagonal.
template <int T, class S>
STICTION_FN void multiply(const ModelView& m, const EnvView<S>& e, int i, const S* x, S* out) {
  S sum[T], own[T];
  const S* a[T];
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) {
    a[r] = e.A + tri(i + r, 0), own[r] = x[i + r];
    sum[r] = a[r][i + r] * own[r];
  }
  for_columns(m, i, [&](auto, auto j) {
    S mirrored = out[j];
    STICTION_UNROLLED
    for (int r = 0; r < T; ++r) {
      sum[r] = sum[r] + a[r][j] * x[j];
      mirrored = mirrored + a[r][j] * own[r];
    }
    out[j] = mirrored;
  });
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) {
    STICTION_UNROLLED
    for (int q = 0; q < r; ++q) {
      sum[r] = sum[r] + a[r][i + q] * own[q];
      sum[q] = sum[q] + a[r][i + q] * own[r];
    }
  }
  STICTION_UNROLLED
  for (int r = 0; r < T; ++r) out[i + r] = sum[r];
}

// Computes out = A x. A couples the dofs that the model couples, with or without points.
template <SerialTeam Team, class S>
STICTION_FN void multiply_A(const Team& team, const ModelView& m, const EnvView<S>& e, const S* x,
                            S* out) {
  team.once([&] {
    for (int i = 0, rows; i < m.nv; i += rows) {
      rows = chain_length(m.row_parent, m.nv, i);
      with_constant<kChains>(rows, [&](auto t) { multiply<t()>(m, e, i, x, out); });
    }
  });
}

// Computes both products.
template <SerialTeam Team, class S>
STICTION_FN void multiply_A(const Team& team, const ModelView& m, const EnvView<S>& e, const S* x,
                            S* out, const S* y, S* out_y) {
  multiply_A(team, m, e, x, out), multiply_A(team, m, e, y, out_y);
}

STICTION_PHYSICS_END

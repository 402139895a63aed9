// H x = b and A x by the threads of a group, on dense matrices: H = Wᵀ W or Lᵀ D L from the last dof to
// the first, as physics/factor.h has it, where row_num[j] = j. Overloads for a GroupTeam, which the
// stages in src/physics call in place of the serial loops there.
#pragma once

#include "cuda/group_team.h"
#include "cuda/launch.h"
#include "physics/factor.h"

// What a register array is indexed with must be a constant.
#ifdef __CUDACC__
#define STICTION_UNROLL _Pragma("unroll")
#else
#define STICTION_UNROLL
#endif

STICTION_PHYSICS_BEGIN

// The structure of the factor is the model's, or full.
template <class Group, class S>
STICTION_FN void model_structure(const GroupTeam<Group>& team, const ModelView&, EnvView<S>& e) {
  team.once([&] { e.nlivecross[0] = 0; });
}
template <class Group, class S>
STICTION_FN void couple_points(const GroupTeam<Group>&, const ModelView&, EnvView<S>&) {}

// The structure of H: of each row the columns left of the diagonal, rising, and of each column the rows
// below the diagonal, falling. That of the model:
struct TreeStructure {
  const int *column_adr, *column, *below_adr, *below;
  STICTION_FN explicit TreeStructure(const ModelView& m)
      : column_adr(m.factor_columnadr),
        column(m.factor_column),
        below_adr(m.factor_belowadr),
        below(m.factor_below) {}
  STICTION_FN int columns(int i) const { return column_adr[i + 1] - column_adr[i]; }
  STICTION_FN int column_of(int i, int k) const { return column[column_adr[i] + k]; }
  STICTION_FN int rows(int j) const { return below_adr[j + 1] - below_adr[j]; }
  STICTION_FN int row_of(int j, int k) const { return below[below_adr[j] + k]; }
};
// and a full one:
struct FullStructure {
  int n;
  STICTION_FN int columns(int i) const { return i; }
  STICTION_FN int column_of(int, int k) const { return k; }
  STICTION_FN int rows(int j) const { return n - 1 - j; }
  STICTION_FN int row_of(int, int k) const { return n - 1 - k; }
};

// H = Wᵀ W in place of H, from the last row to the first: W_ij = (H_ij − Σ_k W_ki W_kj)/W_ii over the rows k
// below i; the diagonal keeps 1/W_ii. The right-hand side is a column as well, z = W⁻ᵀ b. A thread has a
// column of the row, the first one the diagonal.
template <class Group, class Structure, class S>
STICTION_FN void solve_by_structure(const GroupTeam<Group>& team, const Structure& structure, int n,
                                    S* H, const S* b, S* x) {
  const Group& group = team.group();
  STICTION_ROLLED
  for (int i = n - 1; i >= 0; --i) {
    S* const row = H + tri(i, 0);
    const int left = structure.columns(i), rows = structure.rows(i);
    S inverse = S(0.0);
    STICTION_ROLLED
    for (int first = 0; first < left + 2; first += group.size()) {
      const int c =
          first + group.rank();  // 0: the diagonal, then the columns, then the right-hand side
      const bool mine = c < left + 2, right = c == left + 1;
      const int j = c == 0 || !mine || right ? i : structure.column_of(i, c - 1);
      const S full = right ? b[i] : mine ? row[j] : S(0.0);
      S sum = full;
      STICTION_ROLLED
      for (int k = 0, terms = mine ? rows : 0; k < terms; ++k) {
        const int below = structure.row_of(i, k);
        const S* const w = H + tri(below, 0);
        sum = sum - w[i] * (right ? x[below] : w[j]);
      }
      if (first == 0) {
        // a pivot below the round-off of its diagonal is raised to it
        const S pivot = vmax(sum, pivot_floor<S>() * full);
        inverse = group.broadcast(S(1.0) / vsqrt(pivot), 0);
      }
      if (c == 0) row[i] = inverse;
      if (c > 0 && !right && mine) row[j] = inverse * sum;
      if (right) x[i] = inverse * sum;
    }
    group.sync();
  }
  // x_j = (z_j − Σ W_ji x_i)/W_jj over the columns i left of the diagonal
  STICTION_ROLLED
  for (int i = 0; i < n; ++i) {
    const int rows = structure.rows(i);
    if (rows == 0) continue;
    const S solved = H[tri(i, i)] * x[i];
    team.for_each(rows, [&](int k) {
      const int j = structure.row_of(i, k);
      x[j] = x[j] - H[tri(j, i)] * solved;
    });
  }
  team.for_each(n, [&](int i) { x[i] = H[tri(i, i)] * x[i]; });
}

// Order n <= N by one thread, the lower triangle in its registers.
template <int N, class S>
STICTION_FN void solve_by_thread(int n, const S* H, const S* b, S* x) {
  S h[N][N], y[N];
  STICTION_UNROLL
  for (int i = 0; i < N; ++i) {
    y[i] = i < n ? b[i] : S(0.0);
    STICTION_UNROLL
    for (int j = 0; j <= i; ++j) h[i][j] = i < n ? H[tri(i, j)] : S(0.0);
  }
  S floor[N];
  STICTION_UNROLL
  for (int i = 0; i < N; ++i) floor[i] = pivot_floor<S>() * h[i][i];
  STICTION_UNROLL
  for (int k = N - 1; k >= 0; --k) {
    if (k >= n) continue;
    // the diagonal keeps the inverse of the pivot
    h[k][k] = S(1.0) / vmax(h[k][k], floor[k]);
    STICTION_UNROLL
    for (int i = 0; i < k; ++i) {
      const S l = h[k][k] * h[k][i];
      y[i] = y[i] - l * y[k];
      STICTION_UNROLL
      for (int j = 0; j <= i; ++j) h[i][j] = h[i][j] - l * h[k][j];
    }
  }
  // L x = D⁻¹ L⁻ᵀ b
  STICTION_UNROLL
  for (int k = 0; k < N; ++k) {
    if (k >= n) continue;
    STICTION_UNROLL
    for (int j = 0; j < k; ++j) y[k] = y[k] - h[k][j] * y[j];
    y[k] = h[k][k] * y[k];
    x[k] = y[k];
  }
}

// Any order, in place of H, by a team of `threads`. Threads side by side take columns of a row.
template <class Team, class S>
STICTION_FN void solve_in_memory(const Team& team, int threads, int n, S* H, const S* b, S* x) {
  const auto pivot = [&](int k) { return vmax(H[tri(k, k)], x[k]); };
  team.for_each(n, [&](int i) { x[i] = pivot_floor<S>() * H[tri(i, i)]; });
  STICTION_ROLLED
  for (int k = n - 1; k > 0; --k) {
    const S inverse = S(1.0) / pivot(k);
    const S* const u = H + tri(k, 0);
    const int parts = threads > k ? threads / k : 1;
    team.for_each(parts * k, [&](int t) {
      const int j = t % k;
      STICTION_ROLLED
      for (int i = j + t / k; i < k; i += parts) {
        S& h = H[tri(i, j)];
        h = h - (inverse * u[i]) * u[j];
      }
    });
  }
  team.for_each(n, [&](int i) { H[tri(i, i)] = S(1.0) / pivot(i); });
  team.for_each(n, [&](int i) { x[i] = b[i]; });
  STICTION_ROLLED
  for (int k = n - 1; k > 0; --k) {
    const S solved = H[tri(k, k)] * x[k];
    team.for_each(k, [&](int i) { x[i] = x[i] - H[tri(k, i)] * solved; });
  }
  team.for_each(n, [&](int i) { x[i] = H[tri(i, i)] * x[i]; });
  STICTION_ROLLED
  for (int k = 0; k < n; ++k)
    team.for_each(n - k - 1, [&](int t) {
      const int i = k + 1 + t;
      x[i] = x[i] - (H[tri(i, i)] * H[tri(i, k)]) * x[k];
    });
}

// Points between two moving bodies couple what the model does not.
template <class Lanes, class S>
STICTION_FN void factor_and_solve(const GroupTeam<TileGroup<Lanes>>& team, const ModelView& m,
                                  EnvView<S>& e, const S* b, S* x) {
  if (e.nlivecross[0] == 0) return solve_by_structure(team, TreeStructure(m), m.nv, e.H, b, x);
  solve_by_structure(team, FullStructure{m.nv}, m.nv, e.H, b, x);
}
template <class Lanes, class S>
STICTION_FN void factor_and_solve(const GroupTeam<BlockGroup<Lanes>>& team, const ModelView& m,
                                  EnvView<S>& e, const S* b, S* x) {
  solve_in_memory(team, team.group().size(), m.nv, e.H, b, x);
}

template <class S>
STICTION_FN void factor_and_solve(const GroupTeam<ThreadGroup>& team, const ModelView& m,
                                  EnvView<S>& e, const S* b, S* x) {
  if (m.nv <= 4) return solve_by_thread<4>(m.nv, e.H, b, x);
  constexpr int kMost = cuda::ThreadSizes::nv;
  if (m.nv <= kMost) return solve_by_thread<kMost>(m.nv, e.H, b, x);
  solve_in_memory(team, 1, m.nv, e.H, b, x);
}

// out = A x, a row per index.
template <class Group, class S>
STICTION_FN void multiply_A(const GroupTeam<Group>& team, const ModelView& m, const EnvView<S>& e,
                            const S* x, S* out) {
  team.for_each(m.nv, [&](int i) {
    // one loop over both halves: threads of a warp would run two loops one after the other
    S sum = S(0.0);
    STICTION_ROLLED
    for (int j = 0, k = tri(i, 0); j < m.nv; ++j) {
      sum = sum + e.A[k] * x[j];
      k += j < i ? 1 : j + 1;
    }
    out[i] = sum;
  });
}

STICTION_PHYSICS_END

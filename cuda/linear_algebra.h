// H x = b and A x by the threads of a group, on dense matrices: H = Wᵀ W or Lᵀ D L from the last dof to
// the first, as physics/factor.h has it, where row_num[j] = j. Overloads for a GroupTeam, which the
// stages in src/physics call in place of the serial loops there.
#pragma once

#include "cuda/group_team.h"
#include "cuda/launch.h"
#include "physics/factor.h"

// Loads that need not wait for each other, where time is spent.
#ifdef __CUDACC__
#define STICTION_UNROLLED_BY_4 _Pragma("unroll 4")
#else
#define STICTION_UNROLLED_BY_4
#endif

STICTION_PHYSICS_BEGIN

// The structure of the factor is the model's, or full.
template <class Group, class S>
STICTION_FN void model_structure(const GroupTeam<Group>& team, const ModelView&, EnvView<S>& e) {
  team.once([&] { e.nlivecross[0] = 0; });
}
template <class Group, class S>
STICTION_FN void couple_points(const GroupTeam<Group>&, const ModelView&, EnvView<S>&) {}
template <class Group, class S>
STICTION_FN void place_A(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.ntri, [&](int k) { e.H[k] = e.A[k]; });
}

// The structure of H: of row i the columns left of the diagonal, rising, and of column j the rows below
// the diagonal, falling.
struct Structure {
  const int *column_adr, *column, *below_adr, *below,
      *place;  // place: where row k = below[t] begins
};
// That of the model, or with the points that couple two bodies.
template <class S>
STICTION_FN Structure structure_of(const ModelView& m, const EnvView<S>& e) {
  if (e.nlivecross[0] > 0) return {e.run_adr, e.run_first, e.below_adr, e.below_row, e.below_place};
  return {m.factor_columnadr, m.factor_column, m.factor_belowadr, m.factor_below,
          m.factor_belowplace};
}

// The latter; nothing where no point couples.
template <class Lanes, class S>
STICTION_FN void couple_points(const GroupTeam<TileGroup<Lanes>>& team, const ModelView& m,
                               EnvView<S>& e) {
  const auto crosses = [&](int p) { return is_cross(e, p) ? S(1.0) : S(0.0); };
  if (m.nv > cuda::kMostTileOrder || team.template max<S>(e.npoint[0], crosses) == S(0.0)) return;
  int *const parent = e.row_parent, *const adr = e.run_adr, *const column = e.run_first;
  team.for_each(m.nv, [&](int i) {
    const int begin = m.factor_columnadr[i], end = m.factor_columnadr[i + 1];
    parent[i] = begin < end ? m.factor_column[end - 1] : -1;
  });
  team.once([&] {
    for (int p = 0; p < e.npoint[0]; ++p) {
      if (!is_cross(e, p)) continue;
      const int dof1 = m.body_lastdof[e.point_weld[2 * p]];
      const int dof2 = m.body_lastdof[e.point_weld[2 * p + 1]];
      if (dof1 != dof2) link(parent, dof1 > dof2 ? dof1 : dof2, dof1 > dof2 ? dof2 : dof1);
    }
    adr[0] = 0;
    for (int i = 0; i < m.nv; ++i) {
      const int p = parent[i];
      adr[i + 1] = adr[i] + (p < 0 ? 0 : adr[p + 1] - adr[p] + 1);
    }
  });
  team.for_each(m.nv, [&](int i) {
    int k = adr[i + 1];
    for (int j = parent[i]; j >= 0; j = parent[j]) column[--k] = j;
  });
  // a row has j at the place that j's own columns leave, or has not got it
  const auto each_row = [&](int j, const auto& f) {
    const int depth = adr[j + 1] - adr[j];
    for (int i = m.nv - 1; i > j; --i)
      if (adr[i + 1] - adr[i] > depth && column[adr[i] + depth] == j) f(i);
  };
  const int total = team.allot(
      m.nv,
      [&](int j) {
        int n = 0;
        each_row(j, [&](int) { ++n; });
        return n;
      },
      [&](int j, int begin) {
        e.below_adr[j] = begin;
        each_row(j, [&](int i) { e.below_row[begin] = i, e.below_place[begin++] = tri(i, 0); });
      });
  team.once([&] { e.below_adr[m.nv] = total; });
}

// H = Wᵀ W in place of H, from the last row to the first: W_ij = (H_ij − Σ_k W_ki W_kj)/W_ii over the rows k
// below i; the diagonal keeps 1/W_ii. The right-hand side is a column as well, z = W⁻ᵀ b. A thread has a
// column of the row, the first one the diagonal, the last one the right-hand side.
template <class Group, class S>
STICTION_FN void solve_by_structure(const GroupTeam<Group>& team, const Structure& structure, int n,
                                    S* H, const S* b, S* x) {
  const Group& group = team.group();
  STICTION_ROLLED
  for (int i = n - 1; i >= 0; --i) {
    S* const row = H + tri(i, 0);
    const S* const column_i = H + i;
    const int* const columns = structure.column + structure.column_adr[i];
    const int* const below = structure.below + structure.below_adr[i];
    const int* const place = structure.place + structure.below_adr[i];
    const int last = structure.column_adr[i + 1] - structure.column_adr[i] + 1;
    const int rows = structure.below_adr[i + 1] - structure.below_adr[i];
    S inverse = S(0.0);
    STICTION_ROLLED
    for (int first = 0; first <= last; first += group.size()) {
      const int c = first + group.rank();
      const bool inner = c > 0 && c < last, right = c == last;
      const int j = inner ? columns[c - 1] : i;
      const S full = right ? b[i] : c < last ? row[j] : S(0.0);
      const S* const other = right ? x : H + j;
      const int* const from = right ? below : place;
      S sum = full;
      STICTION_UNROLLED_BY_4
      for (int t = 0, terms = c <= last ? rows : 0; t < terms; ++t)
        sum = sum - column_i[place[t]] * other[from[t]];
      if (first == 0) {
        // a pivot below the round-off of its diagonal is raised to it
        const S pivot = vmax(sum, pivot_floor<S>() * full);
        inverse = group.broadcast(S(1.0) / vsqrt(pivot), 0);
        if (c == 0) row[i] = inverse;
      }
      if (inner || right) (right ? x : row)[j] = inverse * sum;
    }
    group.sync();
  }
  // x_j = (z_j − Σ W_ji x_i)/W_jj over the columns i left of the diagonal
  STICTION_ROLLED
  for (int i = 0; i < n; ++i) {
    const int* const below = structure.below + structure.below_adr[i];
    const int* const place = structure.place + structure.below_adr[i];
    const int rows = structure.below_adr[i + 1] - structure.below_adr[i];
    if (rows == 0) continue;
    const S *const column_i = H + i, solved = column_i[tri(i, 0)] * x[i];
    team.for_each(rows, [&](int t) {
      const int k = below[t];
      x[k] = x[k] - column_i[place[t]] * solved;
    });
  }
  team.for_each(n, [&](int i) { x[i] = H[tri(i, i)] * x[i]; });
}

// Order n <= N by one thread, the lower triangle in its registers.
template <int N, class S>
STICTION_FN void solve_by_thread(int n, const S* H, const S* b, S* x) {
  S h[N][N], y[N];
  STICTION_UNROLLED
  for (int i = 0; i < N; ++i) {
    y[i] = i < n ? b[i] : S(0.0);
    STICTION_UNROLLED
    for (int j = 0; j <= i; ++j) h[i][j] = i < n ? H[tri(i, j)] : S(0.0);
  }
  S floor[N];
  STICTION_UNROLLED
  for (int i = 0; i < N; ++i) floor[i] = pivot_floor<S>() * h[i][i];
  STICTION_UNROLLED
  for (int k = N - 1; k >= 0; --k) {
    if (k >= n) continue;
    // the diagonal keeps the inverse of the pivot
    h[k][k] = S(1.0) / vmax(h[k][k], floor[k]);
    STICTION_UNROLLED
    for (int i = 0; i < k; ++i) {
      const S l = h[k][k] * h[k][i];
      y[i] = y[i] - l * y[k];
      STICTION_UNROLLED
      for (int j = 0; j <= i; ++j) h[i][j] = h[i][j] - l * h[k][j];
    }
  }
  // L x = D⁻¹ L⁻ᵀ b
  STICTION_UNROLLED
  for (int k = 0; k < N; ++k) {
    if (k >= n) continue;
    STICTION_UNROLLED
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

template <class Lanes, class S>
STICTION_FN void factor_and_solve(const GroupTeam<TileGroup<Lanes>>& team, const ModelView& m,
                                  EnvView<S>& e, const S* b, S* x) {
  if (m.nv > cuda::kMostTileOrder)
    return solve_in_memory(team, team.group().size(), m.nv, e.H, b, x);
  solve_by_structure(team, structure_of(m, e), m.nv, e.H, b, x);
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
    STICTION_UNROLLED_BY_4
    for (int j = 0, k = tri(i, 0); j < m.nv; ++j) {
      sum = sum + e.A[k] * x[j];
      k += j < i ? 1 : j + 1;
    }
    out[i] = sum;
  });
}

STICTION_PHYSICS_END

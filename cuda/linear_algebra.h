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

// The structure of H: its entries in levels, whose rows do not need each other, and of column i the last row that
// has it. Rows between that one and i without the column have an exact zero there.
struct Structure {
  int levels;
  const int *level_adr, *entry, *last;
};
// That of the model, or with the points that couple two bodies.
template <class S>
STICTION_FN Structure structure_of(const ModelView& m, const EnvView<S>& e) {
  if (e.nlivecross[0] > 0) return {m.nv, e.run_adr, e.run_first, e.below_adr};
  return {m.nfactorlevel, m.factor_leveladr, m.factor_entry, m.factor_last};
}

// The latter, a row to a level; nothing where no point couples.
template <class Lanes, class S>
STICTION_FN void couple_points(const GroupTeam<TileGroup<Lanes>>& team, const ModelView& m,
                               EnvView<S>& e) {
  const auto crosses = [&](int p) { return is_cross(e, p); };
  if (m.nv > cuda::kMostTileOrder || !team.any(e.npoint[0], crosses)) return;
  int *const parent = e.row_parent, *const last = e.below_adr, *const level = e.run_adr;
  team.for_each(m.nv, [&](int i) { parent[i] = m.factor_parent[i], last[i] = i; });
  team.once([&] {
    for (int p = 0; p < e.npoint[0]; ++p) {
      if (!crosses(p)) continue;
      const int dof1 = m.body_lastdof[e.point_weld[2 * p]];
      const int dof2 = m.body_lastdof[e.point_weld[2 * p + 1]];
      if (dof1 != dof2) link(parent, dof1 > dof2 ? dof1 : dof2, dof1 > dof2 ? dof2 : dof1);
    }
    for (int i = m.nv - 1; i >= 0; --i)
      if (const int p = parent[i]; p >= 0 && last[p] < last[i]) last[p] = last[i];
  });
  const int total = team.allot(
      m.nv,
      [&](int l) {
        int n = 0;
        for (int j = m.nv - 1 - l; j >= 0; j = parent[j]) ++n;
        return n;
      },
      [&](int l, int begin) {
        level[l] = begin;
        const int i = m.nv - 1 - l;
        for (int j = i; j >= 0; j = parent[j]) e.run_first[begin++] = pack_entry({i, j, last[i]});
      });
  team.once([&] { level[m.nv] = total; });
}

// H = Wᵀ W in place of H, from the last row to the first: W_ij = (H_ij − Σ_k W_ki W_kj)/W_ii over the rows k
// below i, falling. The right-hand side is a column as well, z = W⁻ᵀ b. A thread has an entry; each computes the
// pivot of its row by itself, so that a level is over with one barrier. The diagonal stays that of H.
template <class Team, class S>
STICTION_FN void factor_by_structure(const Team& team, const Structure& structure, S* H, S* inverse,
                                     const S* b, S* x) {
  STICTION_ROLLED
  for (int l = 0; l < structure.levels; ++l) {
    const int begin = structure.level_adr[l];
    team.for_each(structure.level_adr[l + 1] - begin, [&](int n) {
      const FactorEntry f = unpack_entry(structure.entry[begin + n]);
      const bool right = f.row == f.column;
      const S *const diagonal = H + tri(f.row, f.row), *const row = H + tri(f.last, 0);
      const S full = *diagonal;
      S* const own = right ? x + f.row : H + tri(f.row, f.column);
      S sum = right ? b[f.row] : *own, square = full;
      const S *of_row = row + f.row, *other = right ? x + f.last : row + f.column;
      // to the row before: packed rows shorten by one
      int step = -f.last, other_step = right ? -1 : step;
      const int shortens = right ? 0 : 1;
      STICTION_UNROLLED_BY_4
      for (int k = f.last; k > f.row; --k) {
        const S w = *of_row;
        sum = sum - w * *other;
        square = square - w * w;
        of_row += step++, other += other_step;
        other_step += shortens;
      }
      // a pivot below the round-off of its diagonal is raised to it
      const S scale = S(1.0) / vsqrt(vmax(square, pivot_floor<S>() * full));
      *own = scale * sum;
      if (right) inverse[f.row] = scale;
    });
  }
}

// x_j = (z_j − Σ W_ji x_i)/W_jj over the columns i left of the diagonal; z comes in x. Up to three neighbours with the same
// rows below them at a time: each thread solves these by itself.
template <class Group, class S>
STICTION_FN void substitute_by_structure(const GroupTeam<Group>& team, const Structure& structure,
                                         int n, const S* H, const S* inverse, S* x) {
  STICTION_ROLLED
  for (int i = 0, rows = 1; i < n; i += rows) {
    const int last = structure.last[i];
    const auto shares = [&](int r) { return i + r <= last && structure.last[i + r] == last; };
    rows = !shares(1) ? 1 : !shares(2) ? 2 : 3;
    const S *const h1 = H + tri(i + 1, i), *const h2 = H + tri(i + 2, i), zero = S(0.0);
    const S x0 = inverse[i] * x[i];
    const S x1 = rows > 1 ? inverse[i + 1] * (x[i + 1] - h1[0] * x0) : zero;
    const S x2 = rows > 2 ? inverse[i + 2] * (x[i + 2] - h2[0] * x0 - h2[1] * x1) : zero;
    team.sync();
    if (const int r = team.group().rank(); r < rows) x[i + r] = r == 0 ? x0 : r == 1 ? x1 : x2;
    team.for_each(last - i - rows + 1, [&](int t) {
      const int k = i + rows + t;
      const S* const h = H + tri(k, i);
      S y = x[k] - h[0] * x0;
      if (rows > 1) y = y - h[1] * x1;
      if (rows > 2) y = y - h[2] * x2;
      x[k] = y;
    });
  }
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
  const Structure structure = structure_of(m, e);
  S* const inverse = e.Adv;  // 1/W_ii; A Δv is what comes next
  factor_by_structure(team, structure, e.H, inverse, b, x);
  substitute_by_structure(team, structure, m.nv, e.H, inverse, x);
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

// out = A x, a row per index: its columns up to the diagonal, then the rows below that may have that column.
template <class Group, class S>
STICTION_FN void multiply_A(const GroupTeam<Group>& team, const ModelView& m, const EnvView<S>& e,
                            const S* x, S* out) {
  team.for_each(m.nv, [&](int i) {
    const S* a = e.A + tri(i, 0);
    S sum = S(0.0);
    STICTION_UNROLLED_BY_4
    for (int j = 0; j <= i; ++j) sum = sum + a[j] * x[j];
    a += i;
    STICTION_UNROLLED_BY_4
    for (int k = i + 1, last = m.factor_last[i]; k <= last; ++k) {
      a += k;
      sum = sum + *a * x[k];
    }
    out[i] = sum;
  });
}

STICTION_PHYSICS_END

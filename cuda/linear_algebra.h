// H x = b and A x by the threads of a group, on dense matrices: H = Wᵀ W or Lᵀ D L from the last dof to
// the first, as in physics/solver/factor.h with row_num[j] = j. Overloads for a GroupTeam, which the
// stages in src/physics call instead of the serial loops there.
#pragma once

#include "cuda/group_team.h"
#include "cuda/launch.h"
#include "physics/solver/factor.h"

// Lets loads overlap in time-critical loops.
#ifdef __CUDACC__
#define STICTION_UNROLLED_BY_4 _Pragma("unroll 4")
#else
#define STICTION_UNROLLED_BY_4
#endif

STICTION_PHYSICS_BEGIN

// The structure of the factor is that of the model, or dense.
template <class Group, class S>
STICTION_FN void model_structure(const GroupTeam<Group>& team, const ModelView&, EnvView<S>& e) {
  team.once([&] { e.nlivecross[0] = 0; });
}
template <class Group, class S>
STICTION_FN void couple_points(const GroupTeam<Group>&, const ModelView&, EnvView<S>&) {}
template <class Group, class S>
STICTION_FN void place_A(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  // the scratch of a team is aligned for loads of four numbers; that of threads side by side is not
  const int quads = std::is_same_v<Group, ThreadGroup> ? 0 : m.ntri / 4;
  const auto* const from = reinterpret_cast<const Quad*>(e.A);
  auto* const to = reinterpret_cast<Quad*>(e.H);
  team.each_own(quads, [&](int k) { to[k] = from[k]; });
  team.for_each(m.ntri - 4 * quads, [&](int k) { e.H[4 * quads + k] = e.A[4 * quads + k]; });
}

// The structure of H: its panels in levels; rows of a level are independent. last: of column i, pack_last of the last
// row that has it. Rows between that row and i without the column have an exact zero there.
struct Structure {
  int levels;
  const int *level_adr, *panel, *last;
};
// Returns the structure of the model, or the one with points that couple two bodies.
template <class S>
STICTION_FN Structure structure_of(const ModelView& m, const EnvView<S>& e) {
  if (e.nlivecross[0] > 0) return {e.nfactorlevel[0], e.run_adr, e.run_first, e.below_adr};
  return {m.nfactorlevel, m.factor_leveladr, m.factor_panel, m.factor_last};
}

// Builds the latter, with one group of rows per level; does nothing if no point couples bodies.
template <class Lanes, class S>
STICTION_FN void couple_points(const GroupTeam<TileGroup<Lanes>>& team, const ModelView& m,
                               EnvView<S>& e) {
  const auto crosses = [&](int p) { return is_cross(e, p); };
  if (m.nv > cuda::kMostTileOrder || !team.any(e.npoint[0], crosses)) return;
  int *const parent = e.row_parent, *const last = e.below_adr, *const first = e.path_dof;
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
    int levels = 0;
    for (int i = 0, rows = 0; i < m.nv; i += rows) {
      rows = panel_rows(last, i);
      last[i] = pack_last(last[i], rows);
      first[levels++] = i;
    }
    e.nfactorlevel[0] = levels;
  });
  const int levels = e.nfactorlevel[0];
  const int total = team.allot(
      levels,
      [&](int l) {
        int n = 0;
        for (int j = first[levels - 1 - l]; j >= 0; j = parent[j]) ++n;
        return n;
      },
      [&](int l, int begin) {
        e.run_adr[l] = begin;
        const int i = first[levels - 1 - l], rows = rows_of_panel(last[i]);
        for (int j = i; j >= 0; j = parent[j])
          e.run_first[begin++] = pack_panel({i, rows, j, last_row(last[i])});
      });
  team.once([&] { e.run_adr[levels] = total; });
}

// The parts of the factorization that factor_by_structure does not store in H: for the rows of a panel 1/W_ii, and the
// entries between them: W of the second row in the first column, then of the third row in both.
template <class S>
struct Pivots {
  S *inverse, *between;
};

// H = Wᵀ W in place, from the last row to the first: W_ij = (H_ij − Σ_k W_ki W_kj)/W_ii over the rows k
// below i, descending. The right-hand side is another column, z = W⁻ᵀ b. A thread has a panel: W of up to three rows
// i, i + 1, i + 2 in one column. Each thread recomputes the triangle a of these rows, so that a level needs a single
// barrier; that triangle is not overwritten in H.
template <class Team, class S>
STICTION_FN void factor_by_structure(const Team& team, const Structure& structure, S* H,
                                     const Pivots<S>& pivots, const S* b, S* x) {
  STICTION_ROLLED
  for (int l = 0; l < structure.levels; ++l) {
    const int begin = structure.level_adr[l];
    team.for_each(structure.level_adr[l + 1] - begin, [&](int n) {
      const FactorPanel f = unpack_panel(structure.panel[begin + n]);
      const bool right = f.row == f.column;
      // rows beyond the panel repeat its last one with weight zero
      const int i = f.row, i1 = i + (f.rows > 1 ? 1 : 0), i2 = i1 + (f.rows > 2 ? 1 : 0);
      S *const h0 = H + tri(i, 0), *const h1 = h0 + (i1 > i ? i1 : 0),
               *const h2 = h1 + (i2 > i1 ? i2 : 0);
      const S full0 = h0[i], full1 = h1[i1], full2 = h2[i2];
      S a00 = full0, a10 = h1[i], a11 = full1, a20 = h2[i], a21 = h2[i1], a22 = full2;
      const int own = f.column;
      S y0 = *(right ? b + i : h0 + own), y1 = *(right ? b + i1 : h1 + own),
        y2 = *(right ? b + i2 : h2 + own);
      // step to the preceding row: packed rows are shorter by one each
      const S* const row = H + tri(f.last, 0);
      const S *of0 = row + i, *of1 = row + i1, *of2 = row + i2;
      const S* other = right ? x + f.last : row + own;
      STICTION_ROLLED
      for (std::ptrdiff_t step = -f.last; step <= -(i + f.rows); ++step) {
        const S w0 = *of0, w1 = *of1, w2 = *of2, w = *other;
        y0 = y0 - w0 * w, y1 = y1 - w1 * w, y2 = y2 - w2 * w;
        a00 = a00 - w0 * w0, a10 = a10 - w1 * w0, a11 = a11 - w1 * w1;
        a20 = a20 - w2 * w0, a21 = a21 - w2 * w1, a22 = a22 - w2 * w2;
        of0 += step, of1 += step, of2 += step, other += right ? -1 : step;
      }
      // a pivot below the round-off of its diagonal is raised to that round-off
      const auto inverse_pivot = [](bool there, S a, S full) {
        return there ? S(1.0) / vsqrt(vmax(a, pivot_floor<S>() * full)) : S(0.0);
      };
      const S s2 = inverse_pivot(f.rows > 2, a22, full2);
      const S w20 = s2 * a20, w21 = s2 * a21, z2 = s2 * y2;
      a00 = a00 - w20 * w20, a10 = a10 - w21 * w20, a11 = a11 - w21 * w21;
      y0 = y0 - w20 * z2, y1 = y1 - w21 * z2;
      const S s1 = inverse_pivot(f.rows > 1, a11, full1);
      const S w10 = s1 * a10, z1 = s1 * y1;
      a00 = a00 - w10 * w10, y0 = y0 - w10 * z1;
      const S s0 = inverse_pivot(true, a00, full0), z0 = s0 * y0;
      *(right ? x + i2 : h2 + own) = z2;
      *(right ? x + i1 : h1 + own) = z1;
      *(right ? x + i : h0 + own) = z0;
      if (!right) return;
      pivots.inverse[i2] = s2, pivots.inverse[i1] = s1, pivots.inverse[i] = s0;
      S* const between = pivots.between + 3 * i;
      between[0] = w10, between[1] = w20, between[2] = w21;
    });
  }
}

// x_j = (z_j − Σ W_ji x_i)/W_jj over the columns i left of the diagonal; z is passed in x. Each thread solves the rows
// of a panel redundantly.
template <class Group, class S>
STICTION_FN void substitute_by_structure(const GroupTeam<Group>& team, const Structure& structure,
                                         int n, const S* H, const Pivots<S>& pivots, S* x) {
  STICTION_ROLLED
  for (int i = 0, rows = 1; i < n; i += rows) {
    const int last = last_row(structure.last[i]);
    rows = rows_of_panel(structure.last[i]);
    const S *const inverse = pivots.inverse + i, *const between = pivots.between + 3 * i;
    const S zero = S(0.0);
    const S x0 = inverse[0] * x[i];
    const S x1 = rows > 1 ? inverse[1] * (x[i + 1] - between[0] * x0) : zero;
    const S x2 = rows > 2 ? inverse[2] * (x[i + 2] - between[1] * x0 - between[2] * x1) : zero;
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

// Solves a system of order n <= N in one thread, with the lower triangle in registers.
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
    // the diagonal stores the inverse of the pivot
    h[k][k] = S(1.0) / vmax(h[k][k], floor[k]);
    STICTION_UNROLLED
    for (int i = 0; i < k; ++i) {
      const S l = h[k][k] * h[k][i];
      y[i] = y[i] - l * y[k];
      STICTION_UNROLLED
      for (int j = 0; j <= i; ++j) h[i][j] = h[i][j] - l * h[k][j];
    }
  }
  // solves L x = D⁻¹ L⁻ᵀ b
  STICTION_UNROLLED
  for (int k = 0; k < N; ++k) {
    if (k >= n) continue;
    STICTION_UNROLLED
    for (int j = 0; j < k; ++j) y[k] = y[k] - h[k][j] * y[j];
    y[k] = h[k][k] * y[k];
    x[k] = y[k];
  }
}

// Solves a system of any order, overwriting H, with a team of `threads`. Adjacent threads take columns of a row.
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
  // scratch: A Δv is computed afterwards
  const Pivots<S> pivots = {e.Adv, e.path_J};
  factor_by_structure(team, structure, e.H, pivots, b, x);
  substitute_by_structure(team, structure, m.nv, e.H, pivots, x);
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

// Calls f(a, j) for the entries a = A_ij ≠ 0 of row i: its columns up to the diagonal, then the rows below that may
// have column i.
template <class S, class F>
STICTION_FN void for_row_of_A(const ModelView& m, const EnvView<S>& e, int i, const F& f) {
  const S* a = e.A + tri(i, 0);
  STICTION_UNROLLED_BY_4
  for (int j = 0; j <= i; ++j) f(a[j], j);
  a += i;
  STICTION_UNROLLED_BY_4
  for (int k = i + 1, last = last_row(m.factor_last[i]); k <= last; ++k) {
    a += k;
    f(*a, k);
  }
}
// Computes out = A x, one row per index.
template <class Group, class S>
STICTION_FN void multiply_A(const GroupTeam<Group>& team, const ModelView& m, const EnvView<S>& e,
                            const S* x, S* out) {
  team.for_each(m.nv, [&](int i) {
    S sum = S(0.0);
    for_row_of_A(m, e, i, [&](S a, int j) { sum = sum + a * x[j]; });
    out[i] = sum;
  });
}
// Computes both products, loading each entry of A once.
template <class Group, class S>
STICTION_FN void multiply_A(const GroupTeam<Group>& team, const ModelView& m, const EnvView<S>& e,
                            const S* x, S* out, const S* y, S* out_y) {
  team.for_each(m.nv, [&](int i) {
    S sum_x = S(0.0), sum_y = S(0.0);
    for_row_of_A(m, e, i, [&](S a, int j) { sum_x = sum_x + a * x[j], sum_y = sum_y + a * y[j]; });
    out[i] = sum_x, out_y[i] = sum_y;
  });
}

STICTION_PHYSICS_END

// H x = b and A x by the threads of a group, on dense matrices: H = Lᵀ D L from the last dof to the
// first, as physics/factor.h has it, where row_num[j] = j. Overloads for a GroupTeam, which the
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

// The structure of the factor is the model's, whichever points are active.
template <class Group, class S>
STICTION_FN void model_structure(const GroupTeam<Group>&, const ModelView&, EnvView<S>&) {}
template <class Group, class S>
STICTION_FN void couple_points(const GroupTeam<Group>&, const ModelView&, EnvView<S>&) {}

// Order n <= N by a warp: thread i has row i of the full symmetric matrix in its registers. At the
// elimination of k it keeps column i of row k, u_i = D_k L_ki, so row k goes round by shuffles.
template <int N, class Group, class S>
STICTION_FN void solve_in_registers(const Group& group, int n, const S* H, const S* b, S* x) {
  const int i = group.rank();
  const bool mine = i < n;
  S row[N];
  for (int j = 0; j < N; ++j) row[j] = mine && j < n ? H[j <= i ? tri(i, j) : tri(j, i)] : S(0.0);
  const S floor = mine ? pivot_floor<S>() * H[tri(i, i)] : S(0.0);
  S rhs = mine ? b[i] : S(0.0), inverse = S(0.0);
  STICTION_UNROLL
  for (int k = N - 1; k >= 0; --k) {
    if (k >= n) continue;
    // a pivot below the round-off of its diagonal is raised to it
    const S own = S(1.0) / group.broadcast(vmax(row[k], floor), k);
    const S l = i < k ? own * row[k] : S(0.0);
    if (i == k) inverse = own;
    rhs = rhs - l * group.broadcast(rhs, k);
    STICTION_UNROLL
    for (int j = 0; j < k; ++j) row[j] = row[j] - l * group.broadcast(row[k], j);
  }
  // L x = D⁻¹ L⁻ᵀ b
  rhs = inverse * rhs;
  STICTION_UNROLL
  for (int k = 0; k < N; ++k) {
    if (k >= n) continue;
    const S solved = group.broadcast(rhs, k);
    rhs = i > k ? rhs - (inverse * row[k]) * solved : rhs;
  }
  if (mine) x[i] = rhs;
  group.sync();
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
  for (int k = n - 1; k > 0; --k) {
    const S inverse = S(1.0) / pivot(k);
    const S* const u = H + tri(k, 0);
    const int parts = threads > k ? threads / k : 1;
    team.for_each(parts * k, [&](int t) {
      const int j = t % k;
      for (int i = j + t / k; i < k; i += parts) {
        S& h = H[tri(i, j)];
        h = h - (inverse * u[i]) * u[j];
      }
    });
  }
  team.for_each(n, [&](int i) { H[tri(i, i)] = S(1.0) / pivot(i); });
  team.for_each(n, [&](int i) { x[i] = b[i]; });
  for (int k = n - 1; k > 0; --k) {
    const S solved = H[tri(k, k)] * x[k];
    team.for_each(k, [&](int i) { x[i] = x[i] - H[tri(k, i)] * solved; });
  }
  team.for_each(n, [&](int i) { x[i] = H[tri(i, i)] * x[i]; });
  for (int k = 0; k < n; ++k)
    team.for_each(n - k - 1, [&](int t) {
      const int i = k + 1 + t;
      x[i] = x[i] - (H[tri(i, i)] * H[tri(i, k)]) * x[k];
    });
}

template <class Lanes, class S>
STICTION_FN void factor_and_solve(const GroupTeam<WarpGroup<Lanes>>& team, const ModelView& m,
                                  EnvView<S>& e, const S* b, S* x) {
  const auto& group = team.group();
  if (m.nv <= 8) return solve_in_registers<8>(group, m.nv, e.H, b, x);
  if (m.nv <= 16) return solve_in_registers<16>(group, m.nv, e.H, b, x);
  if (m.nv <= 24) return solve_in_registers<24>(group, m.nv, e.H, b, x);
  if (m.nv <= 32) return solve_in_registers<32>(group, m.nv, e.H, b, x);
  solve_in_memory(team, group.size(), m.nv, e.H, b, x);
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
    for (int j = 0, k = tri(i, 0); j < m.nv; ++j) {
      sum = sum + e.A[k] * x[j];
      k += j < i ? 1 : j + 1;
    }
    out[i] = sum;
  });
}

STICTION_PHYSICS_END

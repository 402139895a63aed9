// Sparse factorization H = Lᵀ D L of a symmetric positive definite matrix over the dofs, from the
// last dof to the first, so that a tree gives no fill. Uniform integers hold the structure.
//
// Row i of H and L holds its columns row_col[0 .. row_num[i]) and then the diagonal, from tri(i, 0)
// on: the ancestors of i in the elimination tree, rising. A column j has the same place row_num[j]
// in every row, and the row of an ancestor is a prefix of the rows below it.
#pragma once

#include "physics/team.h"
#include "physics/vec.h"
#include "physics/views.h"

STICTION_PHYSICS_BEGIN

// Place of (i, j) in H and L; j = i or an ancestor of i in the elimination tree.
template <class S>
STICTION_FN int place(const EnvView<S>& e, int i, int j) {
  return tri(i, 0) + e.row_num[j];
}

// Makes j < i an ancestor of i: H(i, j) is then part of the structure. Eliminating i couples what
// was above it with j, so the two paths merge.
STICTION_FN void link(int* parent, int i, int j) {
  while (j >= 0 && parent[i] != j) {
    const int above = parent[i];
    if (above > j) {
      i = above;
    } else {
      parent[i] = j;
      i = j, j = above;
    }
  }
}

// Last dofs of the two bodies of a point; those of what does not move are -1.
struct PointDofs {
  int dof1, dof2;
};
template <class S>
STICTION_FN PointDofs point_dofs(const ModelView& m, const EnvView<S>& e, int point) {
  const int pair = e.point_pair[point];
  return {m.body_lastdof[m.geom_bodyid[m.pair_geom1[pair]]],
          m.body_lastdof[m.geom_bodyid[m.pair_geom2[pair]]]};
}

// Couplings: the tree; servos that act on several dofs; the two paths of a cross point.
template <class S>
STICTION_FN void elimination_tree(const ModelView& m, EnvView<S>& e, int ncross) {
  for (int i = 0; i < m.nv; ++i) e.row_parent[i] = m.dof_parentid[i];
  for (int a = 0; a < m.nu; ++a) {
    const int begin = m.act_momentadr[a], end = m.act_momentadr[a + 1];
    if (m.actuator_mayservo[a] == 0) continue;
    for (int x = begin; x < end; ++x)
      for (int y = begin; y < end; ++y)
        if (m.act_momentdof[x] > m.act_momentdof[y])
          link(e.row_parent, m.act_momentdof[x], m.act_momentdof[y]);
  }
  for (int k = 0; k < ncross; ++k) {
    const PointDofs p = point_dofs(m, e, e.cross_point[k]);
    if (p.dof1 < p.dof2) link(e.row_parent, p.dof2, p.dof1);
    if (p.dof2 < p.dof1) link(e.row_parent, p.dof1, p.dof2);
  }
}

// Columns of all rows and, for each dof, the rows below it.
template <class S>
STICTION_FN void structure(const ModelView& m, EnvView<S>& e, int ncross) {
  elimination_tree(m, e, ncross);
  int* const adr = e.below_adr;
  for (int i = 0; i <= m.nv; ++i) adr[i] = 0;
  for (int i = 0; i < m.nv; ++i) {
    const int p = e.row_parent[i], n = p < 0 ? 0 : e.row_num[p] + 1;
    e.row_num[i] = n;
    for (int k = 0; k < n - 1; ++k) e.row_col[tri(i, k)] = e.row_col[tri(p, k)];
    if (n > 0) e.row_col[tri(i, n - 1)] = p;
    for (int k = 0; k < n; ++k) ++adr[e.row_col[tri(i, k)]];
  }
  // counts -> ends of the lists, which filling from their back turns into their beginnings
  for (int i = 0; i < m.nv; ++i) adr[i + 1] += adr[i];
  for (int i = 0; i < m.nv; ++i)
    for (int k = 0; k < e.row_num[i]; ++k) {
      const int b = --adr[e.row_col[tri(i, k)]];
      e.below_row[b] = i, e.below_place[b] = tri(i, k);
    }
}

template <class Team, class S>
STICTION_FN void factor_structure(const Team& team, const ModelView& m, EnvView<S>& e, int ncross) {
  team.once([&] { structure(m, e, ncross); });
  team.for_each(m.nv, [&](int i) {
    const int row = tri(i, 0), n = e.row_num[i];
    for (int k = 0; k < n; ++k) e.A_placed[row + k] = e.A[row + e.row_col[row + k]];
    e.A_placed[row + n] = e.A[row + i];
  });
}

// The smallest pivot in units of the diagonal: round-off of the sum that makes it.
template <class S>
STICTION_FN S pivot_floor() {
  return S(4 * epsilon<S>());
}

// N columns of row i from `first` on: H_ij − Σ_k (D_k L_ki) L_kj over the rows k below i, falling.
template <int N, class S>
STICTION_FN void eliminate(EnvView<S>& e, int i, int first) {
  S acc[N];
  S* const h = e.H + tri(i, first);
  for (int c = 0; c < N; ++c) acc[c] = h[c];
  const int own = e.row_num[i], end = e.below_adr[i + 1];
  for (int b = e.below_adr[i]; b < end; ++b) {
    const int at = e.below_place[b];
    const S u = e.H[at];
    const S* const l = e.L + (at - own + first);
    for (int c = 0; c < N; ++c) acc[c] = acc[c] - u * l[c];
  }
  for (int c = 0; c < N; ++c) h[c] = acc[c];
}

inline constexpr int kPanel = 8;  // columns of a row that stay in registers

template <class S>
STICTION_FN void eliminate_panel(EnvView<S>& e, int i, int first, int n) {
  switch (n) {
    case 1: return eliminate<1>(e, i, first);
    case 2: return eliminate<2>(e, i, first);
    case 3: return eliminate<3>(e, i, first);
    case 4: return eliminate<4>(e, i, first);
    case 5: return eliminate<5>(e, i, first);
    case 6: return eliminate<6>(e, i, first);
    case 7: return eliminate<7>(e, i, first);
    default: return eliminate<kPanel>(e, i, first);
  }
}

// L and 1/D from H; H keeps D L. A pivot below the round-off of its diagonal is raised to it.
template <class Team, class S>
STICTION_FN void factor(const Team& team, const ModelView& m, EnvView<S>& e) {
  for (int i = m.nv - 1; i >= 0; --i) {
    const int n = e.row_num[i], panels = n / kPanel + 1;
    team.for_each(panels, [&](int p) {
      const int first = p * kPanel, diagonal = tri(i, n);
      const bool last = p == panels - 1;  // the panel that owns the diagonal
      const S full = last ? e.H[diagonal] : S(0.0);
      if (e.below_adr[i] < e.below_adr[i + 1])
        eliminate_panel(e, i, first, last ? n + 1 - first : kPanel);
      if (last) e.L[diagonal] = S(1.0) / vmax(e.H[diagonal], pivot_floor<S>() * full);
    });
    team.for_each(n, [&](int k) { e.L[tri(i, k)] = e.L[tri(i, n)] * e.H[tri(i, k)]; });
  }
}

// x ← H⁻¹ x with H = Lᵀ D L
template <class Team, class S>
STICTION_FN void solve_factored(const Team& team, const ModelView& m, const EnvView<S>& e, S* x) {
  // Lᵀ y = x: y_i = x_i − Σ_k L_ki y_k over the rows k below i
  for (int i = m.nv - 1; i >= 0; --i)
    team.once([&] {
      S y = x[i];
      for (int b = e.below_adr[i]; b < e.below_adr[i + 1]; ++b)
        y = y - e.L[e.below_place[b]] * x[e.below_row[b]];
      x[i] = y;
    });
  // L x = D⁻¹ y: x_i = y_i / D_i − Σ_j L_ij x_j over its columns
  for (int i = 0; i < m.nv; ++i)
    team.once([&] {
      const int row = tri(i, 0), n = e.row_num[i];
      S y = e.L[row + n] * x[i];
      for (int k = 0; k < n; ++k) y = y - e.L[row + k] * x[e.row_col[row + k]];
      x[i] = y;
    });
}

// out = A x: the columns, the diagonal and the rows below, in this order
template <class Team, class S>
STICTION_FN void multiply_A(const Team& team, const ModelView& m, const EnvView<S>& e, const S* x,
                            S* out) {
  team.for_each(m.nv, [&](int i) {
    const int row = tri(i, 0), n = e.row_num[i];
    S sum = S(0.0);
    for (int k = 0; k < n; ++k) sum = sum + e.A_placed[row + k] * x[e.row_col[row + k]];
    sum = sum + e.A_placed[row + n] * x[i];
    for (int b = e.below_adr[i]; b < e.below_adr[i + 1]; ++b)
      sum = sum + e.A_placed[e.below_place[b]] * x[e.below_row[b]];
    out[i] = sum;
  });
}

STICTION_PHYSICS_END

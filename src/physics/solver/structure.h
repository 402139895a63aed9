// Sparsity structure: which entries of H and of its factor are stored, and where; the elimination tree over the
// dofs. It is held in integers that are the same in all lanes.
//
// Row i of H and L holds the ancestors of i in the elimination tree, ascending, and then the diagonal,
// from tri(i, 0) on. A column j has the same position row_num[j] in every row, and the row of an
// ancestor is a prefix of the rows below it. The columns come in runs of consecutive dofs.
#pragma once

#include <cstddef>

#include "physics/base/team.h"
#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

// Returns the position of (i, j) in H and L; j = i or an ancestor of i in the elimination tree.
template <class S>
STICTION_FN int place(const EnvView<S>& e, int i, int j) {
  return tri(i, 0) + e.row_num[j];
}

// A panel, packed into a word: `rows` adjacent rows, at most kPanelRows, from `row` on, with the same last row below
// that has them as columns. They are eliminated together, in one `column` to their left, or, if that is their own row,
// in the right-hand side.
inline constexpr int kPanelRows = 3;
struct FactorPanel {
  int row, rows, column, last;
};
STICTION_FN constexpr int pack_panel(const FactorPanel& f) {
  const unsigned word = static_cast<unsigned>(f.row) | static_cast<unsigned>(f.column) << 10 |
                        static_cast<unsigned>(f.last) << 20 | static_cast<unsigned>(f.rows) << 30;
  return static_cast<int>(word);
}
STICTION_FN constexpr FactorPanel unpack_panel(int packed) {
  const auto word = static_cast<unsigned>(packed);
  return {static_cast<int>(word & 1023), static_cast<int>(word >> 30),
          static_cast<int>(word >> 10 & 1023), static_cast<int>(word >> 20 & 1023)};
}
// Returns how many rows from i on are eliminated together, counting from row 0; last[i]: last row below i, or i.
STICTION_FN int panel_rows(const int* last, int i) {
  const int end = last[i];
  int rows = 1;
  while (rows < kPanelRows && i + rows <= end && last[i + rows] == end) ++rows;
  return rows;
}

// Packs into a word the last row below a row and, for the first row of a panel, the number of rows of the panel.
STICTION_FN constexpr int pack_last(int last, int rows) {
  return last | rows << 16;
}
STICTION_FN constexpr int last_row(int packed) {
  return packed & 0xffff;
}
STICTION_FN constexpr int rows_of_panel(int packed) {
  return packed >> 16;
}

// Makes j < i an ancestor of i: H(i, j) is then part of the structure. Eliminating i couples its former
// ancestors with j, so the two paths merge.
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

// Returns whether a point is a cross point: both its bodies move, so it couples their dofs.
template <class S>
STICTION_FN bool is_cross(const EnvView<S>& e, int point) {
  return e.point_weld[2 * point] > 0 && e.point_weld[2 * point + 1] > 0;
}

// Builds from e.row_parent the runs of all rows and, for each dof, the list of the rows below it.
template <class S>
STICTION_FN void structure(const ModelView& m, EnvView<S>& e) {
  int *const runs = e.run_adr, *const below = e.below_adr;
  for (int i = 0; i <= m.nv; ++i) below[i] = 0;
  runs[0] = 0;
  for (int i = 0; i < m.nv; ++i) {
    const int p = e.row_parent[i], from = p < 0 ? 0 : runs[p], n = p < 0 ? 0 : runs[p + 1] - from;
    e.row_num[i] = p < 0 ? 0 : e.row_num[p] + 1;
    int end = runs[i];
    for (int k = from; k < from + n; ++k)
      e.run_first[end] = e.run_first[k], e.run_end[end++] = e.run_end[k];
    if (n > 0 && e.run_end[end - 1] == p)
      e.run_end[end - 1] = p + 1;
    else if (p >= 0)
      e.run_first[end] = p, e.run_end[end++] = p + 1;
    runs[i + 1] = end;
    for (int j = p; j >= 0; j = e.row_parent[j]) ++below[j];
  }
  // counts -> ends of the lists (prefix sum); filling each list from its end turns ends into beginnings
  for (int i = 0; i < m.nv; ++i) below[i + 1] += below[i];
  for (int i = 0; i < m.nv; ++i)
    for (int j = e.row_parent[i]; j >= 0; j = e.row_parent[j])
      e.below_row[--below[j]] = i, e.below_place[below[j]] = tri(i, e.row_num[j]);
}

// Calls f(k, j) for the columns j of row i, ascending; k is the position within the row.
template <class View, class F>
STICTION_FN void for_columns(const View& runs, int i, const F& f) {
  std::ptrdiff_t k = 0;
  for (int r = runs.run_adr[i], last = runs.run_adr[i + 1]; r < last; ++r)
    for (std::ptrdiff_t j = runs.run_first[r], end = runs.run_end[r]; j < end; ++j, ++k) f(k, j);
}

// Sets H = A. A has the columns of the model; columns that only points couple are zero. Entries of a row behind its
// diagonal are never read.
template <SerialTeam Team, class S>
STICTION_FN void place_A(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nv, [&](int i) {
    const S* const a = e.A + tri(i, 0);
    S* const h = e.H + tri(i, 0);
    const int own = e.row_num[i];
    if (own != m.row_num[i])
      for (int k = 0; k < own; ++k) h[k] = S(0.0);
    for_columns(m, i, [&](auto, auto j) { h[e.row_num[j]] = a[j]; });
    h[own] = a[i];
  });
}

// Adds the coupling of cross points, between the two paths of each, to that of tree and rows in the model.
template <SerialTeam Team, class S>
STICTION_FN void couple_points(const Team& team, const ModelView& m, EnvView<S>& e) {
  bool any = false;
  for (int p = 0; p < e.npoint[0]; ++p) any = any || is_cross(e, p);
  if (!any) return;
  team.once([&] {
    for (int p = 0; p < e.npoint[0]; ++p) {
      if (!is_cross(e, p)) continue;
      const int dof1 = m.body_lastdof[e.point_weld[2 * p]];
      const int dof2 = m.body_lastdof[e.point_weld[2 * p + 1]];
      if (dof1 < dof2) link(e.row_parent, dof2, dof1);
      if (dof2 < dof1) link(e.row_parent, dof1, dof2);
    }
    structure(m, e);
  });
}

// Sets the structure without points.
template <SerialTeam Team, class S>
STICTION_FN void model_structure(const Team& team, const ModelView& m, EnvView<S>& e) {
  const auto copy = [&](int n, const int* from, int* to) {
    team.for_each(n, [&](int i) { to[i] = from[i]; });
  };
  const int nrun = m.run_adr[m.nv], nbelow = m.below_adr[m.nv];
  copy(m.nv, m.row_parent, e.row_parent), copy(m.nv, m.row_num, e.row_num);
  copy(m.nv + 1, m.run_adr, e.run_adr), copy(m.nv + 1, m.below_adr, e.below_adr);
  copy(nrun, m.run_first, e.run_first), copy(nrun, m.run_end, e.run_end);
  copy(nbelow, m.below_row, e.below_row), copy(nbelow, m.below_place, e.below_place);
}

STICTION_PHYSICS_END

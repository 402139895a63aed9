// The diagonal of A that sets the Delassus scales of contacts and rows.
#pragma once

#include "physics/base/team.h"
#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

// Returns A_ij, from either triangle.
template <class S>
STICTION_FN S entry(const EnvView<S>& e, int i, int j) {
  return e.A[i >= j ? tri(i, j) : tri(j, i)];
}

// Computes inv_diag (nv) = 1 / diag(R A Rᵀ); R rotates the angular velocity of free joints from body
// axes to world axes and is the identity for all other dofs.
template <class Team, class S>
STICTION_FN void inverse_diagonal(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nv, [&](int i) {
    const int r = m.dof_freerot[i];
    S diagonal = e.A[tri(i, i)];
    if (r >= 0) {
      // row i - r of R: the component of each body axis along that world axis
      const Wide<S>* x = e.xmat + 9 * m.dof_bodyid[i] + (i - r);
      const Vec3<S> row = narrow3<S>({x[0], x[3], x[6]});
      const Sym3<S> block = {entry(e, r, r),     entry(e, r + 1, r + 1), entry(e, r + 2, r + 2),
                             entry(e, r + 1, r), entry(e, r + 2, r),     entry(e, r + 2, r + 1)};
      diagonal = dot(row, block * row);
    }
    e.inv_diag[i] = S(1.0) / diagonal;
  });
}

// Returns Σ inv_diag a_i b_i over the entries x in [begin, end): i = dof[x], a_i = a(x, i), b_i = b(x, i). The three
// rotational dofs of a free joint are consecutive entries; they are rotated to world axes.
template <class S, class A, class B>
STICTION_FN S inverse_product(const ModelView& m, const EnvView<S>& e, int begin, int end,
                              const int* dof, const A& a, const B& b) {
  S sum = S(0.0);
  for (int x = begin; x < end; ++x) {
    const int i = dof[x], r = m.dof_freerot[i];
    if (r == i) {
      const auto to_world = [&](const S& p, const S& q, const S& s) {
        const Vec3<Wide<S>> body = {widen(p), widen(q), widen(s)};
        return narrow3<S>(load9(e.xmat, m.dof_bodyid[i]) * body);
      };
      const Vec3<S> u = to_world(a(x, i), a(x + 1, i + 1), a(x + 2, i + 2));
      const Vec3<S> v = to_world(b(x, i), b(x + 1, i + 1), b(x + 2, i + 2));
      sum = sum + e.inv_diag[i] * (u.x * v.x) + e.inv_diag[i + 1] * (u.y * v.y) +
            e.inv_diag[i + 2] * (u.z * v.z);
    } else if (r < 0) {
      sum = sum + e.inv_diag[i] * (a(x, i) * b(x, i));
    }
  }
  return sum;
}

STICTION_PHYSICS_END

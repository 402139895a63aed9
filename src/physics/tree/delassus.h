// The diagonal of A that scales contacts and rows.
#pragma once

#include "physics/base/team.h"
#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

// A is read at (i, j) of either triangle.
template <class S>
STICTION_FN S entry(const EnvView<S>& e, int i, int j) {
  return e.A[i >= j ? tri(i, j) : tri(j, i)];
}

// inv_diag (nv) = 1 / diag(R A Rᵀ); R turns the angular velocity of free joints, which is in body
// axes, into world axes and is the identity elsewhere.
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

// Σ inv_diag a_i b_i over entries of dofs dof[begin .. end), a(x, i) and b(x, i) of entry x, which is of dof i. The
// three rotations of a free joint, which come together, are turned into world axes.
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

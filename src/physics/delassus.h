// The diagonal of A that scales contacts and rows.
#pragma once

#include "physics/team.h"
#include "physics/vec.h"
#include "physics/views.h"

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

STICTION_PHYSICS_END

// Spatial velocities of the bodies for any generalized velocity.
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"
#include "physics/tree/mocap.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

STICTION_FN bool is_free(const ModelView& m, int joint) {
  return m.jnt_type[joint] == static_cast<int>(JointType::free);
}

// Returns Σ S_i v_i over n dofs from `dof` on; the first three dofs of a free joint have S = (0, e_k).
template <class S>
STICTION_FN Spatial<S> dof_motion(const ModelView& m, const EnvView<S>& e, const S* v, int dof,
                                  int n) {
  Spatial<S> u = zero6<S>();
  const int end = dof + n;
  if (n == 6 && is_free(m, m.dof_jntid[dof])) u.l = load3(v + dof, 0), dof += 3;
  STICTION_ROLLED
  for (int i = dof; i < end; ++i) u = u + v[i] * load6_aligned(e.cdof, i);
  return u;
}

// Writes out (nbody,6), the velocity of each body about O: V_b = V_parent + Σ S_i v_i, 0 for bodies that cannot
// move. `twist`: velocities of the mocap bodies.
template <class Team, class S>
STICTION_FN void body_velocities(const Team& team, const ModelView& m, const EnvView<S>& e,
                                 const S* twist, const S* v, S* out) {
  team.once([&] { store6(out, 0, zero6<S>()); });
  for (int l = 1; l < m.nlevel; ++l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int i) {
      const int b = m.level_body[first + i];
      const Spatial<S> parent = parent_velocity(m, e, twist, out, b);
      store6(out, b, parent + dof_motion(m, e, v, m.body_dofadr[b], m.body_dofnum[b]));
    });
  }
}

STICTION_PHYSICS_END

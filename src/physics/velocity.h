// Spatial velocities of all bodies from generalized velocities.
#pragma once

#include "physics/team.h"
#include "physics/vec.h"
#include "physics/views.h"

STICTION_PHYSICS_BEGIN

// out (nbody,6): V_b = V_parent + Σ cdof_i v_i over the dofs of b, about the origin of its tree.
template <class Team, class S>
STICTION_FN void body_velocities(const Team& team, const ModelView& m, EnvView<S>& e, const S* v,
                                 S* out) {
  for (int l = 0; l < m.nlevel; ++l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int k) {
      const int b = m.level_body[first + k];
      Spatial<S> velocity = b == 0 ? zero6<S>() : load6(out, m.body_parentid[b]);
      for (int i = m.body_dofadr[b]; i < m.body_dofadr[b] + m.body_dofnum[b]; ++i)
        velocity = velocity + v[i] * load6(e.cdof, i);
      store6(out, b, velocity);
    });
  }
}

STICTION_PHYSICS_END

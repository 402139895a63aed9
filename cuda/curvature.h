// Jᵀ G J of the points against what does not move, by all lanes: subtrees level by level as in
// physics/hessian.h, then all rows at once instead of those of a level.
#pragma once

#include "cuda/lane_team.h"
#include "physics/hessian.h"

STICTION_PHYSICS_BEGIN

// Row i of H += S_j · (Gc S_i) for j on the path of i; the axes of the translations of a free joint
// only pick components.
template <class S>
STICTION_FN void add_composite_row(const ModelView& m, EnvView<S>& e, int i, const Sym6<S>& g) {
  const int last = m.body_translation[m.dof_bodyid[i]];
  S* const row = e.H + tri(i, 0);
  Vec3<S> l;
  if (i > last) {
    const Spatial<S> f = g * load6(e.cdof, i);
    l = f.l;
    for (int j = i; j > last; j = m.dof_parentid[j]) {
      S& h = row[e.row_num[j]];
      h = h + dot(load6(e.cdof, j), f);
    }
    if (last < 0) return;
  } else {
    const int k = i - (last - 2);
    l = k == 0   ? Vec3<S>{g.ll.xx, g.ll.xy, g.ll.xz}
        : k == 1 ? Vec3<S>{g.ll.xy, g.ll.yy, g.ll.yz}
                 : Vec3<S>{g.ll.xz, g.ll.yz, g.ll.zz};
  }
  S* const h = row + e.row_num[last - 2];
  h[0] = h[0] + l.x;
  if (i > last - 2) h[1] = h[1] + l.y;
  if (i > last - 1) h[2] = h[2] + l.z;
}

template <class Group, class S>
STICTION_FN void composite_curvature(const LaneTeam<Group>& team, const ModelView& m,
                                     EnvView<S>& e) {
  for (int l = m.nlevel - 1; l > 0; --l) {
    const int first = e.live_adr[l];
    team.for_each(e.live_adr[l + 1] - first, [&](int k) {
      const int b = e.live_body[first + k];
      if (e.body_composite[b] == b) store_sym6(e.body_hess, b, subtree_curvature(e, b));
    });
  }
  team.for_each(m.nv, [&](int i) {
    const int b = m.dof_bodyid[i];
    if (is_live(e, b) && e.body_composite[b] >= 0)
      add_composite_row(m, e, i, load_sym6(e.body_hess, e.body_composite[b]));
  });
}

STICTION_PHYSICS_END

// The bodies of a pair of geoms, and the origins that their contact points are relative to.
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

struct PairBodies {
  int body1, body2;
};
STICTION_FN PairBodies pair_bodies(const ModelView& m, int pair) {
  return {m.geom_bodyid[m.pair_geom1[pair]], m.geom_bodyid[m.pair_geom2[pair]]};
}

// Returns O of the body's tree; for a body that cannot move, its centre of mass.
template <class S>
STICTION_FN Vec3<Wide<S>> tree_origin(const ModelView& m, const EnvView<S>& e, int body) {
  const int tree = m.body_treeid[body];
  if (tree >= 0) return load3(e.xpos, m.tree_origin[tree]);
  return load3(e.xpos, body) + load9(e.xmat, body) * load3(e.body_ipos, body);
}

STICTION_PHYSICS_END

// Sums over the trees of a model, each by itself: what is small beside a heavy tree need not be small for a light one. With one
// tree they are those of the environment.
#pragma once

#include "physics/solver/rows.h"

STICTION_PHYSICS_BEGIN

STICTION_FN int tree_dof(const ModelView& m, int tree) {
  return tree < m.ntree ? m.body_dofadr[m.tree_body[tree]] : m.nv;
}

// Σ f(i) over the dofs of a tree.
template <class T, class F>
STICTION_FN T sum_of_tree(const ModelView& m, int tree, const F& f) {
  T sum(0.0);
  STICTION_ROLLED
  for (int i = tree_dof(m, tree); i < tree_dof(m, tree + 1); ++i) sum = sum + f(i);
  return sum;
}

// Σ f(k, p) over the live points that push a tree.
template <class S, class F>
STICTION_FN S sum_on_tree(const ModelView& m, const EnvView<S>& e, int tree, const F& f) {
  S sum = S(0.0);
  STICTION_ROLLED
  for (int k = 0; k < e.nlive[0]; ++k) {
    const int p = e.live_point[k], *const body = e.point_weld + 2 * p;
    if (m.body_treeid[body[0]] == tree || m.body_treeid[body[1]] == tree) sum = sum + f(k, p);
  }
  return sum;
}

// The most of f(t) over the trees.
template <class Team, class S, class F>
STICTION_FN S most_of_trees(const Team& team, const ModelView& m, const F& f) {
  return team.template max<S>(m.ntree, f);
}

STICTION_PHYSICS_END

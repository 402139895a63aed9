// Sums over the groups of trees that tendons and equality constraints of a model couple, each group by itself: what
// is small beside a heavy robot need not be small for a light one. Within a group A is not block diagonal, and the
// momentum of one tree may be nothing but what a coupling gives it. With one group the sums are those of the
// environment.
#pragma once

#include "physics/solver/rows.h"

STICTION_PHYSICS_BEGIN

// Σ f(i) over the dofs of a group.
template <class T, class F>
STICTION_FN T sum_of_group(const ModelView& m, int group, const F& f) {
  T sum(0.0);
  STICTION_ROLLED
  for (int k = m.group_dofadr[group]; k < m.group_dofadr[group + 1]; ++k)
    sum = sum + f(m.group_dof[k]);
  return sum;
}

// Σ f(k, p) over the live points that push a group.
template <class S, class F>
STICTION_FN S sum_on_group(const ModelView& m, const EnvView<S>& e, int group, const F& f) {
  S sum = S(0.0);
  STICTION_ROLLED
  for (int k = 0; k < e.nlive[0]; ++k) {
    const int p = e.live_point[k], *const body = e.point_weld + 2 * p;
    if (m.body_groupid[body[0]] == group || m.body_groupid[body[1]] == group) sum = sum + f(k, p);
  }
  return sum;
}

// The most of f(group) over the groups.
template <class Team, class S, class F>
STICTION_FN S most_of_groups(const Team& team, const ModelView& m, const F& f) {
  return team.template max<S>(m.ngroup, f);
}

STICTION_PHYSICS_END

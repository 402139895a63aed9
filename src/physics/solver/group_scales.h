// Sums over the groups of trees that tendons and equality constraints of a model couple, each group by itself: what
// is small beside a heavy robot need not be small for a light one. Within a group A is not block diagonal, and the
// momentum of one tree may be nothing but what a coupling gives it. A subtree that is light beside its group, as a gripper
// on a gantry, is judged once more by itself: as if it had a scale of its own, and no less than its share of the group's,
// m_part/m_group of the squares, which is what it carries as it moves along with the rest. With one group the sums are those
// of the environment.
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

// max(Σ a, Σ b) over the dofs of a group, f(i) the two of dof i; of a light part no less than its share of the group's.
template <class S, class F>
STICTION_FN S group_scale2(const ModelView& m, int group, const F& f) {
  const auto larger = [&](int g) {
    const auto sums = sum_of_group<Sums<S, 2>>(m, g, f);
    return vmax(sums.of[0], sums.of[1]);
  };
  const S own = larger(group);
  const int whole = m.group_whole[group];
  return whole == group ? own : vmax(own, S(m.group_share[group]) * larger(whole));
}

STICTION_FN bool in_group(const ModelView& m, int group, int body) {
  return m.body_groupid[body] == group || m.body_lightid[body] == group;
}
// A point that pushes a group.
template <class S>
STICTION_FN bool pushes_group(const ModelView& m, const EnvView<S>& e, int group, int p) {
  const int* const body = e.point_weld + 2 * p;
  return in_group(m, group, body[0]) || in_group(m, group, body[1]);
}

// Σ f(k, p) over the live points that push a group.
template <class S, class F>
STICTION_FN S sum_on_group(const ModelView& m, const EnvView<S>& e, int group, const F& f) {
  S sum = S(0.0);
  STICTION_ROLLED
  for (int k = 0; k < e.nlive[0]; ++k) {
    const int p = e.live_point[k];
    if (pushes_group(m, e, group, p)) sum = sum + f(k, p);
  }
  return sum;
}

// The most of f(group) over the groups. A thread reads what others own, and may write next.
template <class Team, class S, class F>
STICTION_FN S most_of_groups(const Team& team, const ModelView& m, const F& f) {
  const S most = team.template max<S>(m.ngroup, f);
  team.sync();
  return most;
}

STICTION_PHYSICS_END

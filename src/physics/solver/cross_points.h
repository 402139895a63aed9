// Adds Jᵀ G J of the points between two moving bodies, along the paths from both up to their common ancestor.
#pragma once

#include "physics/base/sym6.h"
#include "physics/solver/factor.h"

STICTION_PHYSICS_BEGIN

// Writes path_*: the paths from the two bodies of a point towards the root, below their common ancestor.
template <SerialTeam Team, class S>
STICTION_FN void cross_path(const Team& team, const ModelView& m, EnvView<S>& e, int point) {
  team.once([&] {
    const int* const body = e.point_weld + 2 * point;
    int dof[2] = {m.body_lastdof[body[0]], m.body_lastdof[body[1]]}, n = 0;
    for (; dof[0] != dof[1]; ++n) {
      const int side = dof[1] > dof[0] ? 1 : 0, i = dof[side];
      e.path_dof[n] = i, e.path_side[n] = side, e.path_col[n] = e.row_num[i];
      dof[side] = m.dof_parentid[i];
    }
    e.npath[0] = n;
  });
}

// Adds H_ij += a_i · Gω a_j of one cross point, a_i = ±(angular velocity of dof i's axis).
template <class Team, class S>
STICTION_FN void add_cross_couple(const Team& team, EnvView<S>& e, int point) {
  const int n = e.npath[0];
  const Sym3<S> g = load_sym3(e.point_couple_hess, point);
  const auto axis = [&](int k) {
    const Vec3<S> a = load6_aligned(e.cdof, e.path_dof[k]).a;
    return e.path_side[k] == 1 ? a : -a;
  };
  team.for_each(n, [&](int k) {
    const Vec3<S> f = g * axis(k);
    S* const row = e.H + tri(e.path_dof[k], 0);
    STICTION_ROLLED
    for (int x = k; x < n; ++x) {
      S& h = row[e.path_col[x]];
      h = h + dot(axis(x), f);
    }
  });
}

// Adds H_ij += J_iᵀ G J_j of one cross point; J_i = ±(velocity of dof i's axis at the point). Needs its path.
template <class Team, class S>
STICTION_FN void add_cross_point(const Team& team, const ModelView& m, EnvView<S>& e, int point) {
  const int n = e.npath[0];
  team.for_each(n, [&](int k) {
    const Spatial<S> axis = load6_aligned(e.cdof, e.path_dof[k]);
    if (e.path_side[k] == 1)
      store3(e.path_J, k, velocity_at(axis, load3(e.point_r2, point)));
    else
      store3(e.path_J, k, -velocity_at(axis, load3(e.point_r1, point)));
  });
  const Sym3<S> g = load_sym3(e.point_hess, point);
  team.for_each(n, [&](int k) {
    const Vec3<S> f = g * load3(e.path_J, k);
    S* const row = e.H + tri(e.path_dof[k], 0);
    STICTION_ROLLED
    for (int x = k; x < n; ++x) {
      S& h = row[e.path_col[x]];
      h = h + dot(load3(e.path_J, x), f);
    }
  });
  if (m.ncouple > 0) add_cross_couple(team, e, point);
}

// Adds Jᵀ G J of the live cross points to H. Points of the same two bodies share a path and are mostly consecutive.
template <class Team, class S>
STICTION_FN void add_cross_points(const Team& team, const ModelView& m, EnvView<S>& e) {
  STICTION_ROLLED
  for (int k = 0; k < e.nlivecross[0]; ++k) {
    const int point = e.live_cross[k];
    const int* const body = e.point_weld + 2 * point;
    const int* const last = e.point_weld + 2 * e.live_cross[k > 0 ? k - 1 : 0];
    if (k == 0 || body[0] != last[0] || body[1] != last[1]) cross_path(team, m, e, point);
    add_cross_point(team, m, e, point);
  }
}

STICTION_PHYSICS_END

// Products with the contact Jacobian by all threads of a group; the sums of physics/solver/hessian.h. A
// thread has a point or a dof and works independently: along the path of the point's bodies to the root, or over
// the points of the dof's subtree, which are adjacent in body_point since bodies are in depth-first
// order. So no thread waits for another.
#pragma once

#include "cuda/group_team.h"
#include "physics/solver/hessian.h"

STICTION_PHYSICS_BEGIN

// Numbers per point: the wrench, then Φᵀ G Φ in the layout of Sym6.
inline constexpr int kWrench = 6, kSpatial = kWrench + SizesView::sym6;
static_assert(kSpatial == SizesView::spatial);

// Writes, for each entry of body_point, where its wrench begins in point_spatial; the complement if both
// bodies move.
template <class Group, class S>
STICTION_FN void live_tree(const GroupTeam<Group>& team, const ModelView&, EnvView<S>& e) {
  const int* const body = e.point_weld;
  const auto both_move = [&](int p) { return body[2 * p] > 0 && body[2 * p + 1] > 0; };
  int *const cross = e.live_cross, *const entry = e.point_next;
  const int *const live = e.live_point, *const code = e.body_point;
  const int ncross = team.compact(e.nlive[0], cross, [&](int k) { return both_move(live[k]); });
  team.for_each(ncross, [&](int k) { cross[k] = live[cross[k]]; });
  team.once([&] { e.nlivecross[0] = ncross; });
  team.for_each(2 * e.npoint[0], [&](int n) {
    const int p = point_of(code[n]);
    const int first = kSpatial * p;
    entry[n] = !both_move(p) ? first : ~(code[n] > 0 ? first : first + kWrench);
  });
}

// Returns V_b = Σ S_i v_i over the path from body b to the root; its last dofs may be the translations of a
// free joint, S = (0, e_k).
template <class S>
STICTION_FN Spatial<S> path_velocity(const ModelView& m, const EnvView<S>& e, const S* v, int b) {
  const int last = m.body_translation[b];
  Spatial<S> u = zero6<S>();
  STICTION_ROLLED
  for (int i = m.body_lastdof[b]; i > last; i = m.dof_parentid[i])
    u = u + v[i] * load6_aligned(e.cdof, i);
  if (last >= 0) u.l = u.l + load3(v + last - 2, 0);
  return u;
}

// Computes J v.
template <class Group, class S>
STICTION_FN void point_velocities(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                                  const S* v, S* out, S* turning) {
  const int *const live = e.live_point, *const body = e.point_weld;
  team.for_each(e.nlive[0], [&](int k) {
    const int p = live[k];
    Spatial<S> difference = zero6<S>();  // ω, and the velocity at the point
    STICTION_ROLLED
    for (int side = 0; side < 2; ++side) {
      const int b = body[2 * p + side];
      if (b == 0) continue;
      const Spatial<S> u = path_velocity(m, e, v, b);
      const Spatial<S> at = {u.a, velocity_at(u, load3(side == 1 ? e.point_r2 : e.point_r1, p))};
      difference = side == 1 ? difference + at : difference - at;
    }
    store3(out, p, difference.l);
    if (m.ncouple > 0) store3(turning, p, difference.a);
  });
}

// Writes the wrench of a point against an immovable body; else the wrenches on body 2 and on body 1. `couple`:
// that of torsional and rolling friction.
template <class Group, class S>
STICTION_FN void point_wrenches(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const S *const impulse = e.point_impulse, *const r1 = e.point_r1, *const r2 = e.point_r2;
  const int* const body = e.point_weld;
  S* const spatial = e.point_spatial;
  team.for_each(e.npoint[0], [&](int p) {
    const bool moves1 = body[2 * p] > 0, moves2 = body[2 * p + 1] > 0;
    const Vec3<S> on2 = load3(impulse, p), f = moves2 ? on2 : -on2;
    const Vec3<S> couple2 = m.ncouple > 0 ? load3(e.point_couple, p) : zero3<S>();
    const Vec3<S> couple = moves2 ? couple2 : -couple2;
    S* const to = spatial + kSpatial * p;
    store6(to, 0, {cross(load3(moves2 ? r2 : r1, p), f) + couple, f});
    if (moves1 && moves2) store6(to + kWrench, 0, {cross(load3(r1, p), -f) - couple, -f});
  });
}

// The entries of body_point that belong to the subtree of a dof's body.
struct SubtreePoints {
  int begin, end;
};
template <class S>
STICTION_FN SubtreePoints subtree_points(const ModelView& m, const EnvView<S>& e, int dof) {
  const int b = m.dof_bodyid[dof];
  return {e.body_pointadr[b], e.body_pointadr[m.body_end[b]]};
}

// Computes out = Jᵀ γ.
template <class Group, class S>
STICTION_FN void contact_impulses(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                                  S* out) {
  if (e.npoint[0] == 0) return team.for_each(m.nv, [&](int i) { out[i] = S(0.0); });
  point_wrenches(team, m, e);
  const int* const entry = e.point_next;
  const S *const cdof = e.cdof, *const spatial = e.point_spatial;
  team.for_each(m.nv, [&](int i) {
    const SubtreePoints points = subtree_points(m, e, i);
    Spatial<S> wrench = zero6<S>();
    STICTION_ROLLED
    for (int n = points.begin; n < points.end; ++n) {
      const int from = entry[n];
      wrench = wrench + load6(spatial + (from ^ (from >> 31)), 0);
    }
    out[i] = dot(load6_aligned(cdof, i), wrench);
  });
}

// Adds S_j · (Gc S_i) to row i of H for j on the path of i; the axes of the translations of a free joint
// only select components.
template <class S>
STICTION_FN void add_composite_row(const ModelView& m, EnvView<S>& e, int i, const Sym6<S>& g) {
  const int last = m.body_translation[m.dof_bodyid[i]];
  const int* const up = m.dof_parentid;
  const S* const cdof = e.cdof;
  S* const row = e.H + tri(i, 0);  // dense
  Vec3<S> l;
  if (i > last) {
    const Spatial<S> f = g * load6_aligned(cdof, i);
    l = f.l;
    STICTION_ROLLED
    for (int j = i; j > last; j = up[j]) row[j] = row[j] + dot(load6_aligned(cdof, j), f);
    if (last < 0) return;
  } else {
    const int k = i - (last - 2);
    l = k == 0   ? Vec3<S>{g.ll.xx, g.ll.xy, g.ll.xz}
        : k == 1 ? Vec3<S>{g.ll.xy, g.ll.yy, g.ll.yz}
                 : Vec3<S>{g.ll.xz, g.ll.yz, g.ll.zz};
  }
  S* const h = row + last - 2;
  h[0] = h[0] + l.x;
  if (i > last - 2) h[1] = h[1] + l.y;
  if (i > last - 1) h[2] = h[2] + l.z;
}

// Writes path_*, descending: a dof moves the body that lies in the subtree of the dof's body.
template <class Group, class S>
STICTION_FN void cross_path(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                            int point) {
  const int body1 = e.point_weld[2 * point], body2 = e.point_weld[2 * point + 1];
  const auto moves = [&](int dof, int body) {
    const int b = m.dof_bodyid[dof];
    return b <= body && body < m.body_end[b];
  };
  const int n = team.compact(m.nv, e.path_col, [&](int k) {
    const int i = m.nv - 1 - k;
    return moves(i, body1) != moves(i, body2);
  });
  team.for_each(n, [&](int k) {
    const int i = m.nv - 1 - e.path_col[k];
    e.path_dof[k] = i, e.path_side[k] = moves(i, body2) ? 1 : 0, e.path_col[k] = i;
  });
  team.once([&] { e.npath[0] = n; });
}

// Writes Φᵀ G Φ of the points against immovable bodies, behind their wrenches.
template <class Group, class S>
STICTION_FN void point_curvatures(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const int* const body = e.point_weld;
  team.for_each(e.npoint[0], [&](int p) {
    const bool moves1 = body[2 * p] > 0, moves2 = body[2 * p + 1] > 0;
    if (moves1 && moves2) return;
    Sym6<S> g =
        about_origin(load3(moves2 ? e.point_r2 : e.point_r1, p), load_sym3(e.point_hess, p));
    if (m.ncouple > 0) g.aa = g.aa + load_sym3(e.point_couple_hess, p);
    store_sym6(e.point_spatial + kSpatial * p + kWrench, 0, g);
  });
}

// Computes all rows at once.
template <class Group, class S>
STICTION_FN void composite_curvature(const GroupTeam<Group>& team, const ModelView& m,
                                     EnvView<S>& e) {
  if (e.npoint[0] == 0) return;
  point_curvatures(team, m, e);
  const int* const entry = e.point_next;
  const S* const spatial = e.point_spatial;
  team.for_each(m.nv, [&](int i) {
    const SubtreePoints points = subtree_points(m, e, i);
    if (points.begin == points.end) return;
    Sym6<S> g = {};
    STICTION_ROLLED
    for (int n = points.begin; n < points.end; ++n)
      if (const int from = entry[n]; from >= 0) g = g + load_sym6(spatial + from + kWrench, 0);
    add_composite_row(m, e, i, g);
  });
}

STICTION_PHYSICS_END

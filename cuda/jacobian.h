// Products with the contact Jacobian by all threads of a group; the sums of physics/hessian.h.
// Loops over points, bodies and dofs are parallel. Between them, for each component of a spatial
// vector one thread goes through a whole tree, from the last body to the first or back, so that no
// thread waits for another on the way.
#pragma once

#include "cuda/group_team.h"
#include "physics/hessian.h"

// Short loops of one thread: unrolled they only cost instruction fetches.
#ifdef __CUDACC__
#define STICTION_ROLLED _Pragma("unroll 1")
#else
#define STICTION_ROLLED
#endif

STICTION_PHYSICS_BEGIN

// Of a point and of a subtree: the wrench, then Φᵀ G Φ as Sym6 has it.
inline constexpr int kWrench = 6, kSpatial = kWrench + SizesView::sym6;
static_assert(kSpatial == SizesView::spatial);

// Of each entry of body_point, where its wrench begins in point_spatial; the complement where both
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

// Body velocities, then J v.
template <class Group, class S>
STICTION_FN void point_velocities(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                                  const S* v, S* out, S* turning) {
  if (e.npoint[0] == 0) return;
  S* const vel = e.body_vel;
  const S* const cdof = e.cdof;
  team.for_each(6 * m.nbody, [&](int i) {
    const int b = i / 6, first = m.body_dofadr[b], end = first + m.body_dofnum[b];
    const S* const axis = cdof + i % 6;
    S sum = S(0.0);
    STICTION_ROLLED
    for (int k = first; k < end; ++k) sum = sum + v[k] * axis[6 * k];
    vel[i] = sum;
  });
  team.for_each(6 * m.ntree, [&](int i) {
    S* const u = vel + i % 6;
    const int* const up = m.body_parentid;
    const int end = m.tree_end[i / 6];
    for (int b = m.tree_body[i / 6] + 1; b < end; ++b) u[6 * b] = u[6 * b] + u[6 * up[b]];
  });
  const int *const live = e.live_point, *const body = e.point_weld;
  const S *const r1 = e.point_r1, *const r2 = e.point_r2;
  team.for_each(e.nlive[0], [&](int k) {
    const int p = live[k], b1 = body[2 * p], b2 = body[2 * p + 1];
    Vec3<S> u = zero3<S>();
    if (b2 > 0) u = velocity_at(load6(vel, b2), load3(r2, p));
    if (b1 > 0) u = u - velocity_at(load6(vel, b1), load3(r1, p));
    store3(out, p, u);
  });
  point_turning(team, m, e, turning);
}

// Adds what torsional and rolling friction give to them.
template <class Group, class S>
STICTION_FN void spatial_couples(const GroupTeam<Group>& team, EnvView<S>& e) {
  const S *const couples = e.point_couple, *const hess = e.point_couple_hess;
  const int* const body = e.point_weld;
  S* const spatial = e.point_spatial;
  const auto add = [](S* to, const Vec3<S>& x) { store3(to, 0, load3(to, 0) + x); };
  team.for_each(e.npoint[0], [&](int p) {
    const bool moves1 = body[2 * p] > 0, moves2 = body[2 * p + 1] > 0;
    const Vec3<S> on2 = load3(couples, p);
    S* const to = spatial + kSpatial * p;
    add(to, moves2 ? on2 : -on2);
    if (moves1 && moves2) return add(to + kWrench, -on2);
    store_sym3(to + kWrench, 0, load_sym3(to + kWrench, 0) + load_sym3(hess, p));
  });
}

// Of a point against what does not move: its wrench and Φᵀ G Φ. Else the wrenches on body 2 and on
// body 1.
template <class Group, class S>
STICTION_FN void spatial_points(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const S *const impulse = e.point_impulse, *const r1 = e.point_r1, *const r2 = e.point_r2;
  const S* const hess = e.point_hess;
  const int* const body = e.point_weld;
  S* const spatial = e.point_spatial;
  team.for_each(e.npoint[0], [&](int p) {
    const bool moves1 = body[2 * p] > 0, moves2 = body[2 * p + 1] > 0;
    const Vec3<S> on2 = load3(impulse, p), f = moves2 ? on2 : -on2;
    const Vec3<S> r = load3(moves2 ? r2 : r1, p);
    S* const to = spatial + kSpatial * p;
    store6(to, 0, {cross(r, f), f});
    if (moves1 && moves2) return store6(to + kWrench, 0, {cross(load3(r1, p), -f), -f});
    store_sym6(to + kWrench, 0, about_origin(r, load_sym3(hess, p)));
  });
  if (m.ncouple > 0) spatial_couples(team, e);
}

// body_wrench and body_hess of all bodies of trees: over the points of the subtree.
template <class Group, class S>
STICTION_FN void subtree_sums(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e) {
  const int *const adr = e.body_pointadr, *const entry = e.point_next;
  const S* const spatial = e.point_spatial;
  S *const wrenches = e.body_wrench, *const curvatures = e.body_hess;
  team.for_each(kSpatial * m.ntree, [&](int i) {
    const int tree = i / kSpatial, c = i % kSpatial;
    const bool wrench = c < kWrench;
    S* const sum = wrench ? wrenches + c : curvatures + (c - kWrench);
    const int stride = wrench ? kWrench : SizesView::sym6;
    const int* const up = m.body_parentid;
    const int root = m.tree_body[tree], end = m.tree_end[tree];
    for (int k = stride * root; k < stride * end; k += stride) sum[k] = S(0.0);
    for (int b = end - 1, k = stride * b, last = adr[end]; b >= root; --b, k -= stride) {
      S total = sum[k];
      const int first = adr[b];
      STICTION_ROLLED
      for (int n = first; n < last; ++n) {
        const int from = entry[n];
        const bool adds = from >= 0 || wrench;
        const S x = spatial[adds ? (from ^ (from >> 31)) + c : c];
        total = total + (adds ? x : S(0.0));
      }
      last = first;
      sum[k] = total;
      if (b == root) break;
      S& above = sum[stride * up[b]];
      above = above + total;
    }
  });
}

// out = Jᵀ γ; leaves what composite_curvature needs at the same laws.
template <class Group, class S>
STICTION_FN void contact_impulses(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                                  S* out) {
  if (e.npoint[0] == 0) return team.for_each(m.nv, [&](int i) { out[i] = S(0.0); });
  spatial_points(team, m, e);
  subtree_sums(team, m, e);
  const S *const cdof = e.cdof, *const wrench = e.body_wrench;
  const int* const body = m.dof_bodyid;
  team.for_each(m.nv, [&](int i) { out[i] = dot(load6(cdof, i), load6(wrench, body[i])); });
}

// Row i of H += S_j · (Gc S_i) for j on the path of i; the axes of the translations of a free joint
// only pick components.
template <class S>
STICTION_FN void add_composite_row(const ModelView& m, EnvView<S>& e, int i, const Sym6<S>& g) {
  const int last = m.body_translation[m.dof_bodyid[i]];
  const int *const col = e.row_num, *const up = m.dof_parentid;
  const S* const cdof = e.cdof;
  S* const row = e.H + tri(i, 0);
  Vec3<S> l;
  if (i > last) {
    const Spatial<S> f = g * load6(cdof, i);
    l = f.l;
    for (int j = i; j > last; j = up[j]) {
      S& h = row[col[j]];
      h = h + dot(load6(cdof, j), f);
    }
    if (last < 0) return;
  } else {
    const int k = i - (last - 2);
    l = k == 0   ? Vec3<S>{g.ll.xx, g.ll.xy, g.ll.xz}
        : k == 1 ? Vec3<S>{g.ll.xy, g.ll.yy, g.ll.yz}
                 : Vec3<S>{g.ll.xz, g.ll.yz, g.ll.zz};
  }
  S* const h = row + col[last - 2];
  h[0] = h[0] + l.x;
  if (i > last - 2) h[1] = h[1] + l.y;
  if (i > last - 1) h[2] = h[2] + l.z;
}

// All rows at once, of the sums that contact_impulses has left.
template <class Group, class S>
STICTION_FN void composite_curvature(const GroupTeam<Group>& team, const ModelView& m,
                                     EnvView<S>& e) {
  if (e.npoint[0] == 0) return;
  team.for_each(
      m.nv, [&](int i) { add_composite_row(m, e, i, load_sym6(e.body_hess, m.dof_bodyid[i])); });
}

STICTION_PHYSICS_END

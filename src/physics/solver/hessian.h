// Products with the contact Jacobian, which is never stored, and the Hessian H = A + Jᵀ G J + rows.
// About the origin O of a tree the velocity of a point at r is Φ V_b, Φ = [−[r]×, I]. In models with torsional or
// rolling friction the angular velocity counts, too: Φ gets the extra rows [I, 0], γ a couple and G an angular part.
#pragma once

#include "physics/base/sym6.h"
#include "physics/law/couple_law.h"
#include "physics/solver/cross_points.h"
#include "physics/solver/factor.h"
#include "physics/tree/velocity.h"

STICTION_PHYSICS_BEGIN

STICTION_FN int point_of(int code) {
  return code > 0 ? code - 1 : -code - 1;
}

// Returns whether body b has a live point in its subtree.
template <class S>
STICTION_FN bool is_live(const EnvView<S>& e, int b) {
  return e.body_firstpoint[b] >= 0 || e.body_firstchild[b] >= 0;
}
// Inserts a live body into the child list of its nearest ancestor with joints.
template <class S>
STICTION_FN void attach_body(const ModelView& m, EnvView<S>& e, int b) {
  const int parent = m.body_weldid[m.body_parentid[b]];
  if (!is_live(e, b)) return;
  e.body_sibling[b] = e.body_firstchild[parent];
  e.body_firstchild[parent] = b;
  if (e.body_composite[b] < 0) return;
  e.body_composite[parent] = e.body_composite[parent] < 0 ? e.body_composite[b] : parent;
}

// Builds, for each body, the lists of its live points and of its live children, both ascending; bodies
// without joints are skipped.
template <SerialTeam Team, class S>
STICTION_FN void live_tree(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.once([&] {
    for (int b = 0; b < m.nbody; ++b)
      e.body_firstpoint[b] = e.body_firstchild[b] = e.body_composite[b] = -1;
    int ncross = 0;
    for (int k = 0; k < e.nlive[0]; ++k) {
      const int p = e.live_point[k];
      if (is_cross(e, p)) e.live_cross[ncross++] = p;
    }
    e.nlivecross[0] = ncross;
    for (int k = e.nlive[0] - 1; k >= 0; --k) {
      const int* const body = e.point_weld + 2 * e.live_point[k];
      for (int side = 0; side < 2; ++side) {
        const int b = body[side], code = 2 * e.live_point[k] + side;
        e.point_next[code] = e.body_firstpoint[b];
        e.body_firstpoint[b] = code;
        if (body[1 - side] == 0) e.body_composite[b] = b;
      }
    }
    for (int i = m.nbody - 1; i > 0; --i) attach_body(m, e, m.level_body[i]);
    int n = 0;
    for (int l = 1; l < m.nlevel; ++l) {
      e.live_adr[l] = n;
      for (int i = m.level_adr[l]; i < m.level_adr[l + 1]; ++i) {
        const int b = m.level_body[i];
        if (is_live(e, b)) e.live_body[n++] = b;
      }
    }
    e.live_adr[m.nlevel] = n;
  });
}

// all: every active point, for the first evaluation. of_fewer_lanes: a subset of the lanes of the last call.
enum class LivePoints { all, of_lanes, of_fewer_lanes };

// Lists the points that are active in `lanes`; the others would add exact zeros.
template <class Team, class S>
STICTION_FN void live_points(const Team& team, const ModelView& m, EnvView<S>& e,
                             const Mask<S>& lanes, LivePoints which) {
  const int n = team.compact(e.npoint[0], e.live_point, [&](int p) {
    return which == LivePoints::all || any_lane(lanes && e.cand_active[e.point_slot[p]] > S(0.5));
  });
  const bool known = which == LivePoints::of_fewer_lanes && n == e.nlive[0];
  team.sync();
  if (known) return;
  team.once([&] { e.nlive[0] = n; });
  live_tree(team, m, e);
}

// Writes out (ncouple,3): angular velocity of body 2 relative to body 1 at each live point, from body_vel.
template <class Team, class S>
STICTION_FN void point_turning(const Team& team, const ModelView& m, const EnvView<S>& e, S* out) {
  if (m.ncouple == 0) return;
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k], b1 = e.point_weld[2 * p], b2 = e.point_weld[2 * p + 1];
    Vec3<S> omega = zero3<S>();
    if (b2 > 0) omega = load6(e.body_vel, b2).a;
    if (b1 > 0) omega = omega - load6(e.body_vel, b1).a;
    store3(out, p, omega);
  });
}

// Writes out (npoint,3) = J v: velocity of body 2 relative to body 1 at each live point; uses body_vel. turning:
// likewise the relative angular velocity.
template <SerialTeam Team, class S>
STICTION_FN void point_velocities(const Team& team, const ModelView& m, EnvView<S>& e, const S* v,
                                  S* out, S* turning) {
  team.once([&] { store6(e.body_vel, 0, zero6<S>()); });
  for (int l = 1; l < m.nlevel; ++l) {
    const int first = e.live_adr[l];
    team.for_each(e.live_adr[l + 1] - first, [&](int k) {
      const int b = e.live_body[first + k], parent = m.body_weldid[m.body_parentid[b]];
      store6(e.body_vel, b,
             load6(e.body_vel, parent) + dof_motion(m, e, v, m.body_dofadr[b], m.body_dofnum[b]));
    });
  }
  team.for_each(e.nlive[0], [&](int k) {
    const int p = e.live_point[k], b1 = e.point_weld[2 * p], b2 = e.point_weld[2 * p + 1];
    Vec3<S> u = zero3<S>();
    if (b2 > 0) u = velocity_at(load6(e.body_vel, b2), load3(e.point_r2, p));
    if (b1 > 0) u = u - velocity_at(load6(e.body_vel, b1), load3(e.point_r1, p));
    store3(out, p, u);
  });
  point_turning(team, m, e, turning);
}

// Impulse of an entry of body_point on its body, the point where it acts, and the couple.
template <class S>
struct PointForce {
  Vec3<S> r, impulse, couple;
};
template <class S>
STICTION_FN PointForce<S> point_force(const ModelView& m, const EnvView<S>& e, int entry) {
  const int code = e.body_point[entry], p = point_of(code);
  const Vec3<S> impulse = load3(e.point_impulse, p);
  const Vec3<S> couple = m.ncouple > 0 ? load3(e.point_couple, p) : zero3<S>();
  if (code > 0) return {load3(e.point_r2, p), impulse, couple};
  return {load3(e.point_r1, p), -impulse, -couple};
}

// Computes out = Jᵀ γ of the live points: wrenches [r × γ; γ] summed over subtrees, (Jᵀγ)_i = S_i · F_body(i).
template <SerialTeam Team, class S>
STICTION_FN void contact_impulses(const Team& team, const ModelView& m, EnvView<S>& e, S* out) {
  team.for_each(m.nv, [&](int i) { out[i] = S(0.0); });
  for (int l = m.nlevel - 1; l > 0; --l) {
    const int first = e.live_adr[l];
    team.for_each(e.live_adr[l + 1] - first, [&](int k) {
      const int b = e.live_body[first + k];
      Spatial<S> wrench = zero6<S>();
      for (int n = e.body_firstpoint[b]; n >= 0; n = e.point_next[n]) {
        const Vec3<S> f = load3(e.point_impulse, n >> 1);
        if ((n & 1) == 1)
          wrench = wrench + Spatial<S>{cross(load3(e.point_r2, n >> 1), f), f};
        else
          wrench = wrench - Spatial<S>{cross(load3(e.point_r1, n >> 1), f), f};
        if (m.ncouple == 0) continue;
        const Vec3<S> couple = load3(e.point_couple, n >> 1);
        wrench.a = (n & 1) == 1 ? wrench.a + couple : wrench.a - couple;
      }
      for (int c = e.body_firstchild[b]; c >= 0; c = e.body_sibling[c])
        wrench = wrench + load6(e.body_wrench, c);
      store6(e.body_wrench, b, wrench);
      // adding 0 turns -0 into 0, the value of a dof without points
      const int translation = m.body_translation[b], end = m.body_dofadr[b] + m.body_dofnum[b];
      int i = m.body_dofadr[b];
      if (i <= translation) {
        store3(out + i, 0, zero3<S>() + wrench.l);
        i = translation + 1;
      }
      for (; i < end; ++i) out[i] = S(0.0) + dot(load6(e.cdof, i), wrench);
    });
  }
}

// Adds the rows of the dofs of body b: H_ij += S_j · (Gc_b S_i) for j on the path of i. The axes S = (0, e_k)
// of the translations of a free joint only select components.
template <class S>
STICTION_FN void add_composite(const ModelView& m, EnvView<S>& e, int b, const Sym6<S>& g) {
  const int last = m.body_translation[b], first = m.body_dofadr[b];
  const int *const col = e.row_num, *const up = m.dof_parentid;
  S* const H = e.H;
  const S* const cdof = e.cdof;
  for (int i = first + m.body_dofnum[b] - 1; i >= first && i > last; --i) {
    const Spatial<S> f = g * load6(cdof, i);
    S* const row = H + tri(i, 0);
    for (int j = i; j > last; j = up[j]) {
      S& h = row[col[j]];
      h = h + dot(load6(cdof, j), f);
    }
    if (last < 0) continue;
    // a chain: the three columns are adjacent in every row
    S* const h = row + col[last - 2];
    h[0] = h[0] + f.l.x, h[1] = h[1] + f.l.y, h[2] = h[2] + f.l.z;
  }
  if (first > last) return;
  S *const x = H + place(e, first, first), *const y = H + place(e, first + 1, first),
           *const z = H + place(e, first + 2, first);
  x[0] = x[0] + g.ll.xx;
  y[0] = y[0] + g.ll.xy, y[1] = y[1] + g.ll.yy;
  z[0] = z[0] + g.ll.xz, z[1] = z[1] + g.ll.yz, z[2] = z[2] + g.ll.zz;
}

// Sums Φᵀ G Φ over the points of body b against immovable bodies, and over the subtrees of its live children.
template <class S>
STICTION_FN Sym6<S> subtree_curvature(const ModelView& m, const EnvView<S>& e, int b) {
  Sym6<S> sum = {};
  for (int n = e.body_firstpoint[b]; n >= 0; n = e.point_next[n]) {
    if (e.point_weld[n ^ 1] > 0) continue;
    const Vec3<S> r = load3((n & 1) == 1 ? e.point_r2 : e.point_r1, n >> 1);
    sum = sum + about_origin(r, load_sym3(e.point_hess, n >> 1));
    if (m.ncouple > 0) sum.aa = sum.aa + load_sym3(e.point_couple_hess, n >> 1);
  }
  for (int c = e.body_firstchild[b]; c >= 0; c = e.body_sibling[c])
    if (e.body_composite[c] >= 0) sum = sum + load_sym6(e.body_hess, e.body_composite[c]);
  return sum;
}

// Adds Jᵀ G J of the points against immovable bodies to H, with body_hess = Σ Φᵀ G Φ over the points of
// the subtree, accumulated towards the root like composite inertias.
template <SerialTeam Team, class S>
STICTION_FN void composite_curvature(const Team& team, const ModelView& m, EnvView<S>& e) {
  for (int l = m.nlevel - 1; l > 0; --l) {
    const int first = e.live_adr[l];
    team.for_each(e.live_adr[l + 1] - first, [&](int k) {
      const int b = e.live_body[first + k], whose = e.body_composite[b];
      if (whose < 0) return;
      if (whose != b) return add_composite(m, e, b, load_sym6(e.body_hess, whose));
      const Sym6<S> sum = subtree_curvature(m, e, b);
      store_sym6(e.body_hess, b, sum);
      add_composite(m, e, b, sum);
    });
  }
}

// Adds row i of Σ ℓ''_c m_c m_cᵀ over the coordinates c of rows: dof i, and the lengths that move with it.
template <class S>
STICTION_FN void add_rows(const ModelView& m, EnvView<S>& e, int i) {
  S& diagonal = e.H[place(e, i, i)];
  diagonal = diagonal + e.row_hess[i];
  STICTION_ROLLED
  for (int k = m.dof_rowmomentadr[i]; k < m.dof_rowmomentadr[i + 1]; ++k) {
    const int entry = m.dof_rowmoment[k], c = m.moment_coord[entry];
    const S f = e.row_hess[c] * e.moment[entry];
    STICTION_ROLLED
    for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x) {
      if (m.moment_dof[x] > i) continue;
      S& h = e.H[place(e, i, m.moment_dof[x])];
      h = h + f * e.moment[x];
    }
  }
}

// Computes H = A + rows, and with_points: + Jᵀ G J of the live points.
template <class Team, class S>
STICTION_FN void hessian(const Team& team, const ModelView& m, EnvView<S>& e, bool with_points) {
  place_A(team, m, e);
  team.for_each(m.nrowdof, [&](int k) { add_rows(m, e, m.row_dof[k]); });
  if (!with_points) return;
  composite_curvature(team, m, e);
  add_cross_points(team, m, e);
}

STICTION_PHYSICS_END

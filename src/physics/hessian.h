// Products with the contact Jacobian that is never stored, and the Hessian H = A + Jᵀ G J + rows.
// About the origin O of a tree a point at r moves with Φ V_b, Φ = [−[r]×, I].
#pragma once

#include "physics/contact_law.h"
#include "physics/factor.h"
#include "physics/velocity.h"

STICTION_PHYSICS_BEGIN

struct BodyPair {
  int body1, body2;
};
template <class S>
STICTION_FN BodyPair point_bodies(const ModelView& m, const EnvView<S>& e, int point) {
  const int pair = e.point_pair[point];
  return {m.geom_bodyid[m.pair_geom1[pair]], m.geom_bodyid[m.pair_geom2[pair]]};
}

// Both bodies can move: its curvature couples two paths. Else it belongs to one body alone.
template <class S>
STICTION_FN bool is_cross(const ModelView& m, const EnvView<S>& e, int point) {
  const PointDofs d = point_dofs(m, e, point);
  return d.dof1 >= 0 && d.dof2 >= 0;
}
STICTION_FN int point_of(int code) {
  return code > 0 ? code - 1 : -code - 1;
}

// point_live, body_live: what is left for the lanes that iterate. A point that acts in none of them
// would add exact zeros. `every`: all points, for the first evaluation.
template <class Team, class S>
STICTION_FN void live_points(const Team& team, const ModelView& m, EnvView<S>& e,
                             const Mask<S>& lanes, bool every) {
  team.for_each(e.npoint[0], [&](int p) {
    e.point_live[p] = every || any_lane(lanes && e.cand_active[e.point_slot[p]] > S(0.5)) ? 1 : 0;
  });
  for (int l = m.nlevel - 1; l > 0; --l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int k) {
      const int b = m.level_body[first + k];
      int live = 0, single = 0;
      for (int n = e.body_pointadr[b]; n < e.body_pointadr[b + 1]; ++n) {
        const int p = point_of(e.body_point[n]);
        if (e.point_live[p] == 0) continue;
        ++live;
        if (!is_cross(m, e, p)) ++single;
      }
      for (int c = m.child_adr[b]; c < m.child_adr[b + 1]; ++c)
        live += e.body_live[2 * m.child_body[c]], single += e.body_live[2 * m.child_body[c] + 1];
      e.body_live[2 * b] = live, e.body_live[2 * b + 1] = single;
    });
  }
}

// out (npoint,3) = J v: velocity of body 2 against body 1 at each live point; uses body_vel.
template <class Team, class S>
STICTION_FN void point_velocities(const Team& team, const ModelView& m, EnvView<S>& e, const S* v,
                                  S* out) {
  team.once([&] { store6(e.body_vel, 0, zero6<S>()); });
  for (int l = 1; l < m.nlevel; ++l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int k) {
      const int b = m.level_body[first + k];
      if (e.body_live[2 * b] == 0) return;
      const Spatial<S> parent = load6(e.body_vel, m.body_parentid[b]);
      store6(e.body_vel, b, parent + dof_motion(m, e, v, m.body_dofadr[b], m.body_dofnum[b]));
    });
  }
  team.for_each(e.npoint[0], [&](int p) {
    if (e.point_live[p] == 0) return;
    const BodyPair b = point_bodies(m, e, p);
    const auto velocity = [&](int body, const S* r) {
      return m.body_lastdof[body] < 0 ? zero3<S>()
                                      : velocity_at(load6(e.body_vel, body), load3(r, p));
    };
    store3(out, p, velocity(b.body2, e.point_r2) - velocity(b.body1, e.point_r1));
  });
}

// Impulse of an entry of body_point on its body, and where it acts.
template <class S>
struct PointForce {
  Vec3<S> r, impulse;
};
template <class S>
STICTION_FN PointForce<S> point_force(const EnvView<S>& e, int entry) {
  const int code = e.body_point[entry], p = point_of(code);
  const Vec3<S> impulse = load3(e.point_impulse, p);
  if (code > 0) return {load3(e.point_r2, p), impulse};
  return {load3(e.point_r1, p), -impulse};
}

// out = Jᵀ γ of the live points: wrenches [r × γ; γ] summed over subtrees, (Jᵀγ)_i = S_i · F_body(i)
template <class Team, class S>
STICTION_FN void contact_impulses(const Team& team, const ModelView& m, EnvView<S>& e, S* out) {
  for (int l = m.nlevel - 1; l > 0; --l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int k) {
      const int b = m.level_body[first + k];
      if (e.body_live[2 * b] == 0) return;
      Spatial<S> wrench = zero6<S>();
      for (int n = e.body_pointadr[b]; n < e.body_pointadr[b + 1]; ++n) {
        if (e.point_live[point_of(e.body_point[n])] == 0) continue;
        const PointForce<S> f = point_force(e, n);
        wrench = wrench + Spatial<S>{cross(f.r, f.impulse), f.impulse};
      }
      for (int c = m.child_adr[b]; c < m.child_adr[b + 1]; ++c)
        if (e.body_live[2 * m.child_body[c]] > 0)
          wrench = wrench + load6(e.body_wrench, m.child_body[c]);
      store6(e.body_wrench, b, wrench);
    });
  }
  // adding 0 turns -0 into 0, the value without points
  team.for_each(m.nv, [&](int i) {
    const int b = m.dof_bodyid[i];
    out[i] = S(0.0);
    if (e.body_live[2 * b] > 0) out[i] = out[i] + dot(load6(e.cdof, i), load6(e.body_wrench, b));
  });
}

// Symmetric 6x6 over (angular, linear).
template <class S>
struct Sym6 {
  Sym3<S> aa;
  Mat3<S> al;  // torque per linear velocity, columns
  Sym3<S> ll;
};
template <class S>
STICTION_FN Sym6<S> load_sym6(const S* a, int i) {
  const S* p = a + 21 * i;
  return {load_sym3(p, 0), load9(p + 6, 0), load_sym3(p + 15, 0)};
}
template <class S>
STICTION_FN void store_sym6(S* a, int i, const Sym6<S>& s) {
  S* p = a + 21 * i;
  store_sym3(p, 0, s.aa), store9(p + 6, 0, s.al), store_sym3(p + 15, 0, s.ll);
}
template <class S>
STICTION_FN Sym6<S> operator+(const Sym6<S>& a, const Sym6<S>& b) {
  return {a.aa + b.aa, {a.al.x + b.al.x, a.al.y + b.al.y, a.al.z + b.al.z}, a.ll + b.ll};
}
template <class S>
STICTION_FN Spatial<S> operator*(const Sym6<S>& g, const Spatial<S>& s) {
  return {g.aa * s.a + g.al * s.l, transposed(g.al, s.a) + g.ll * s.l};
}

// Φᵀ G Φ: ll = G, al = [r]× G, aa = [r]× G [r]×ᵀ
template <class S>
STICTION_FN Sym6<S> about_origin(const Vec3<S>& r, const Sym3<S>& g) {
  const Vec3<S> x = cross(r, {g.xx, g.xy, g.xz}), y = cross(r, {g.xy, g.yy, g.yz}),
                z = cross(r, {g.xz, g.yz, g.zz});
  // rows of [r]× G are (x.k, y.k, z.k); each row w of aa is r × w
  const Vec3<S> p = cross(r, {x.x, y.x, z.x}), q = cross(r, {x.y, y.y, z.y}),
                s = cross(r, {x.z, y.z, z.z});
  return {{p.x, q.y, s.z, p.y, p.z, q.z}, {x, y, z}, g};
}

// Last of the three translations of a free joint at the root of a body's tree, else -1. Their axes
// S = (0, e_k) only pick components.
STICTION_FN int last_translation(const ModelView& m, int body) {
  const int joint = m.body_jntadr[m.tree_body[m.body_treeid[body]]];
  return is_free(m, joint) ? m.jnt_dofadr[joint] + 2 : -1;
}

// Rows of the dofs of body b: H_ij += S_j · (Gc_b S_i) for j on the path of i.
template <class S>
STICTION_FN void add_composite(const ModelView& m, EnvView<S>& e, int b, const Sym6<S>& g) {
  const int last = last_translation(m, b), first = m.body_dofadr[b];
  for (int i = first + m.body_dofnum[b] - 1; i >= first && i > last; --i) {
    const Spatial<S> f = g * load6(e.cdof, i);
    S* const row = e.H + tri(i, 0);
    const auto add = [&](int j, const S& x) { row[e.row_num[j]] = row[e.row_num[j]] + x; };
    for (int j = i; j > last; j = m.dof_parentid[j]) add(j, dot(load6(e.cdof, j), f));
    if (last >= 0) add(last, f.l.z), add(last - 1, f.l.y), add(last - 2, f.l.x);
  }
  if (m.body_dofnum[b] == 0 || first > last) return;
  const auto add = [&](int i, int j, const S& x) {
    S& h = e.H[place(e, last - i, last - j)];
    h = h + x;
  };
  add(0, 0, g.ll.zz), add(0, 1, g.ll.yz), add(0, 2, g.ll.xz);
  add(1, 1, g.ll.yy), add(1, 2, g.ll.xy), add(2, 2, g.ll.xx);
}

// H += Jᵀ G J of the points against what does not move, with body_hess = Σ Φᵀ G Φ over the points of
// the subtree, up the tree like composite inertias.
template <class Team, class S>
STICTION_FN void composite_curvature(const Team& team, const ModelView& m, EnvView<S>& e) {
  for (int l = m.nlevel - 1; l > 0; --l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int k) {
      const int b = m.level_body[first + k];
      if (e.body_live[2 * b + 1] == 0 || m.body_treeid[b] < 0) return;
      Sym6<S> sum = {};
      for (int n = e.body_pointadr[b]; n < e.body_pointadr[b + 1]; ++n) {
        const int code = e.body_point[n], p = point_of(code);
        if (e.point_live[p] == 0 || is_cross(m, e, p)) continue;
        const Vec3<S> r = load3(code > 0 ? e.point_r2 : e.point_r1, p);
        sum = sum + about_origin(r, load_sym3(e.point_hess, p));
      }
      for (int c = m.child_adr[b]; c < m.child_adr[b + 1]; ++c)
        if (e.body_live[2 * m.child_body[c] + 1] > 0)
          sum = sum + load_sym6(e.body_hess, m.child_body[c]);
      store_sym6(e.body_hess, b, sum);
      add_composite(m, e, b, sum);
    });
  }
}

// The dofs between the two bodies of a point, falling: the paths to the root below their meeting.
struct CrossPath {
  int dof1, dof2;
  STICTION_FN bool ends() const { return dof1 == dof2; }
  STICTION_FN bool on2() const { return dof2 > dof1; }
  STICTION_FN int dof() const { return dof2 > dof1 ? dof2 : dof1; }
  STICTION_FN void advance(const ModelView& m) {
    int& last = dof2 > dof1 ? dof2 : dof1;
    last = m.dof_parentid[last];
  }
};

// H_ij += J_iᵀ G J_j of one cross point; J_i = ±(velocity of dof i's axis at the point).
template <class Team, class S>
STICTION_FN void add_cross_point(const Team& team, const ModelView& m, EnvView<S>& e, int point) {
  const PointDofs ends = point_dofs(m, e, point);
  int n = 0;
  for (CrossPath c{ends.dof1, ends.dof2}; !c.ends(); c.advance(m)) ++n;
  const Vec3<S> r1 = load3(e.point_r1, point), r2 = load3(e.point_r2, point);
  const Sym3<S> g = load_sym3(e.point_hess, point);
  team.for_each(n, [&](int k) {
    CrossPath c{ends.dof1, ends.dof2};
    for (int skip = 0; skip < k; ++skip) c.advance(m);
    const int i = c.dof();
    const Vec3<S> J = velocity_at(load6(e.cdof, i), c.on2() ? r2 : r1);
    const Vec3<S> f = g * (c.on2() ? J : -J);
    // f as a wrench on either body
    const Spatial<S> f1 = {-cross(r1, f), -f}, f2 = {cross(r2, f), f};
    for (; !c.ends(); c.advance(m)) {
      S& h = e.H[place(e, i, c.dof())];
      h = h + dot(load6(e.cdof, c.dof()), c.on2() ? f2 : f1);
    }
  });
}

// H_ij += Σ κ' m_i m_j over the servos of dof i; the limits and dry friction on the diagonal
template <class S>
STICTION_FN void add_rows(const ModelView& m, EnvView<S>& e, int i) {
  S& diagonal = e.H[place(e, i, i)];
  diagonal = diagonal + e.row_hess[i];
  for (int k = m.dof_servoadr[i]; k < m.dof_servoadr[i + 1]; ++k) {
    const int entry = m.dof_servo[k], a = m.moment_act[entry];
    const S f = e.servo_hess[a] * e.act_moment[entry];
    for (int x = m.act_momentadr[a]; x < m.act_momentadr[a + 1]; ++x) {
      if (m.act_momentdof[x] > i) continue;
      S& h = e.H[place(e, i, m.act_momentdof[x])];
      h = h + f * e.act_moment[x];
    }
  }
}

// H = A + rows, and with_points: + Jᵀ G J of the live points
template <class Team, class S>
STICTION_FN void hessian(const Team& team, const ModelView& m, EnvView<S>& e, bool with_points) {
  team.for_each(m.ntri, [&](int k) { e.H[k] = e.A_placed[k]; });
  team.for_each(m.nrowdof, [&](int k) { add_rows(m, e, m.row_dof[k]); });
  if (!with_points) return;
  composite_curvature(team, m, e);
  for (int k = 0; k < e.ncross[0]; ++k)
    if (e.point_live[e.cross_point[k]] > 0) add_cross_point(team, m, e, e.cross_point[k]);
}

STICTION_PHYSICS_END

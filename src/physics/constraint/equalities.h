// Blocks: the equality constraints. Connects and welds act between two bodies, couplings between two joints or
// tendons (couplings.h).
//
// equalities  in   xpos, xquat, xmat, xoff, cdof, qpos, ten_length, moment, qvel, inv_diag; eq_data, eq_stiffness,
//                  eq_relaxation_time, eq_active
//             out  block_jacobian, block_r, block_law; A and qfrc_smooth with the blocks
// equality_outputs  in   v    out  block_impulse; adds to qfrc_constraint
//
// P is fixed to body 1 and Q to body 2. Gap and velocity, angular before linear, in world axes:
//
//   connect  g = p_Q − p_P              v_c = v_Q − v_P
//   weld     g = (log R_Q R_Pᵀ, p_Q − p_P)     v_c = V_2 − V_1 at the midpoint of P and Q
//   coupling g = (0, x_1 − P(x_2))   v_c = (0, ẋ_1 − P'(x_2) ẋ_2)
//   γ = (v̂ − v_c)/R,   v̂ = −g/(δt + τ),   R = max(β² w/4π², 1/(δt k (δt + τ)))
//
// The law is linear: its potential is quadratic, as that of the step, and no iteration evaluates it.
//
//   A ← A + Jᵀ R⁻¹ J,   δt k ← δt k + Jᵀ R⁻¹ (v̂ − J v0)      A (v − v0) = δt k + all other impulses
//
// J has one column for each dof that moves one of the two, `block_dof`; it is the only Jacobian that is stored.
#pragma once

#include "physics/base/functions.h"
#include "physics/constraint/couplings.h"
#include "physics/law/row_law.h"
#include "physics/tree/delassus.h"
#include "physics/tree/mocap.h"
#include "physics/tree/point_delassus.h"

STICTION_PHYSICS_BEGIN

// Stiffness from which on a block is rigid: its τ is then δt, as in Drake.
inline constexpr double kRigidBlock = 1e30;

STICTION_FN bool is_weld(const ModelView& m, int k) {
  return static_cast<EqualityType>(m.eq_type[k]) == EqualityType::weld;
}

// World positions of P and Q, and the rotational gap.
template <class S>
struct BlockPose {
  Vec3<Wide<S>> p, q;
  Vec3<S> turn;  // rotational gap of a weld
};

template <class S>
STICTION_FN Vec3<Wide<S>> point_of_body(const EnvView<S>& e, int b, const Wide<S>* local) {
  return load3(e.xpos, b) + load9(e.xmat, b) * load3(local, 0);
}

template <class S>
STICTION_FN BlockPose<S> block_pose(const ModelView& m, const EnvView<S>& e, int k) {
  const int b1 = m.eq_body[2 * k], b2 = m.eq_body[2 * k + 1];
  const bool weld = is_weld(m, k);
  const Wide<S>* const data = e.eq_data + 11 * k;
  const int s1 = m.eq_site[2 * k], s2 = m.eq_site[2 * k + 1];
  const Wide<S>* const local1 = s1 >= 0 ? e.site_pos + 3 * s1 : data + (weld ? 3 : 0);
  const Wide<S>* const local2 = s1 >= 0 ? e.site_pos + 3 * s2 : data + (weld ? 0 : 3);
  BlockPose<S> pose = {point_of_body(e, b1, local1), point_of_body(e, b2, local2), zero3<S>()};
  if (!weld) return pose;
  const Quat<Wide<S>> q1 =
      load4(e.xquat, b1) * (s1 >= 0 ? load4(e.site_quat, s1) : load4(data + 6, 0));
  const Quat<Wide<S>> q2 =
      s1 >= 0 ? load4(e.xquat, b2) * load4(e.site_quat, s2) : load4(e.xquat, b2);
  pose.turn = narrow3<S>(log_quat(normalized(q2 * conjugate(q1))));
  return pose;
}

// Returns the point relative to the origin of the body's tree; 0 for a body that cannot move.
template <class S>
STICTION_FN Vec3<S> from_origin(const ModelView& m, const EnvView<S>& e, int b,
                                const Vec3<Wide<S>>& point) {
  const int tree = m.body_treeid[b];
  return tree < 0 ? zero3<S>() : narrow3<S>(point - load3(e.xpos, m.tree_origin[tree]));
}

// Returns the velocity of body 2 relative to body 1 per unit of a dof that rotates by `a`, moves the points by l2, l1.
// side: 1, 2: the dof moves that body; 3: both
template <class S>
STICTION_FN Spatial<S> block_column(int side, const Vec3<S>& a, const Vec3<S>& l1,
                                    const Vec3<S>& l2) {
  if (side == 3) return {zero3<S>(), l2 - l1};
  return side == 2 ? Spatial<S>{a, l2} : Spatial<S>{-a, -l1};
}

template <class S>
STICTION_FN void block_jacobian(const ModelView& m, EnvView<S>& e, int k) {
  const Vec3<S> r1 = load3(e.block_r, 2 * k), r2 = load3(e.block_r, 2 * k + 1);
  STICTION_ROLLED
  for (int x = m.block_adr[k]; x < m.block_adr[k + 1]; ++x) {
    const Spatial<S> axis = load6(e.cdof, m.block_dof[x]);
    store6(e.block_jacobian, x,
           block_column(m.block_side[x], axis.a, velocity_at(axis, r1), velocity_at(axis, r2)));
  }
}

// ‖J diag(A)⁻¹ Jᵀ‖_F/3 of the rotation and of the translation, and ‖·‖_F/6 of all six rows; rotations of free
// joints in world axes.
template <class S>
struct BlockDelassus {
  S turn, move, all;
};
template <class S>
STICTION_FN BlockDelassus<S> block_delassus(const ModelView& m, const EnvView<S>& e, int k) {
  const S zero(0.0), third = S(1.0 / 3.0);
  Sym3<S> aa{zero, zero, zero, zero, zero, zero}, ll = aa;
  Mat3<S> al = {zero3<S>(), zero3<S>(), zero3<S>()};
  const Vec3<S> r1 = load3(e.block_r, 2 * k), r2 = load3(e.block_r, 2 * k + 1);
  STICTION_ROLLED
  for (int x = m.block_adr[k]; x < m.block_adr[k + 1]; ++x) {
    const int i = m.block_dof[x], first = m.dof_freerot[i];
    const Vec3<S> a = first < 0 ? load6(e.cdof, i).a : unit3<S>(i - first);
    const Spatial<S> c =
        block_column(m.block_side[x], a, dof_velocity(m, e, i, r1), dof_velocity(m, e, i, r2));
    const S weight = e.inv_diag[i];
    add_outer(aa, weight, c.a), add_outer(ll, weight, c.l);
    const Vec3<S> u = weight * c.l;
    al = {al.x + u.x * c.a, al.y + u.y * c.a, al.z + u.z * c.a};
  }
  const auto norm2_of = [](const Sym3<S>& s) {
    return s.xx * s.xx + s.yy * s.yy + s.zz * s.zz +
           S(2.0) * (s.xy * s.xy + s.xz * s.xz + s.yz * s.yz);
  };
  const S a2 = norm2_of(aa), l2 = norm2_of(ll);
  const S mixed = norm2(al.x) + norm2(al.y) + norm2(al.z);
  return {third * vsqrt(a2), third * vsqrt(l2), S(0.5) * third * vsqrt(a2 + l2 + S(2.0) * mixed)};
}

// Returns 1/R, 0 if nothing can move.
template <class S>
STICTION_FN S block_stiffness(S dt, S time, S k, S w) {
  const Mask<S> moves = w > S(0.0);
  return select(moves, vmin(dt * time * k, S(1.0) / (S(kRowNearRigid) * select(moves, w, S(1.0)))),
                S(0.0));
}

// Subtracts from v̂ the contribution to v_c of the mocap bodies that carry the two bodies.
template <class S>
STICTION_FN void drift_block(const ModelView& m, EnvView<S>& e, int k, const Vec3<Wide<S>>& at1,
                             const Vec3<Wide<S>>& at2) {
  const auto carried = [&](int b, const Vec3<Wide<S>>& at) {
    if (!is_carried(m, b)) return zero6<S>();
    const int i = m.body_carrier[b];
    const Spatial<S> V = load6(e.mocap_twist, i);
    const Vec3<S> r = narrow3<S>(at - load3(e.xpos, m.mocap_body[i]));
    return Spatial<S>{V.a, velocity_at(V, r)};
  };
  const Spatial<S> V1 = carried(m.eq_body[2 * k], at1), V2 = carried(m.eq_body[2 * k + 1], at2);
  S* const law = e.block_law + 8 * k;
  store3(law, 0, load3(law, 0) - (V2.a - V1.a));
  store3(law, 1, load3(law, 1) - (V2.l - V1.l));
}

// Writes block_law: v̂ angular, linear; 1/R angular, linear. From the gaps and both w.
template <class S>
STICTION_FN void store_block(const ModelView& m, EnvView<S>& e, int k, const Spatial<S>& gap,
                             S w_turn, S w_move) {
  const S dt = S(m.opt.timestep), zero = S(0.0);
  const S *const stiffness = e.eq_stiffness + 2 * k, active = vabs(e.eq_active[k]);
  const auto rigid = stiffness[0] >= S(kRigidBlock);
  const S time = dt + select(rigid, dt, e.eq_relaxation_time[k]);
  const Mask<S> acts = active > zero;
  S* const law = e.block_law + 8 * k;
  store3(law, 0, (S(-1.0) / time) * gap.a);
  store3(law, 1, (S(-1.0) / time) * gap.l);
  law[6] = select(acts, block_stiffness(dt, time, stiffness[1], w_turn), zero);
  law[7] = select(acts, block_stiffness(dt, time, stiffness[0], w_move), zero);
}

template <class S>
STICTION_FN void connection_law(const ModelView& m, EnvView<S>& e, int k) {
  const int b1 = m.eq_body[2 * k], b2 = m.eq_body[2 * k + 1];
  const bool weld = is_weld(m, k);
  const BlockPose<S> pose = block_pose(m, e, k);
  const Vec3<Wide<S>> middle = Wide<S>(0.5) * (pose.p + pose.q);
  store3(e.block_r, 2 * k, from_origin(m, e, b1, weld ? middle : pose.p));
  store3(e.block_r, 2 * k + 1, from_origin(m, e, b2, weld ? middle : pose.q));
  block_jacobian(m, e, k);

  const BlockDelassus<S> w = block_delassus(m, e, k);
  const bool together = weld && m.eq_native[k] != 0;
  const Spatial<S> gap = {pose.turn, narrow3<S>(pose.q - pose.p)};
  store_block(m, e, k, gap, weld ? (together ? w.all : w.turn) : S(0.0), together ? w.all : w.move);
  if (m.nmocapstate > 0) drift_block(m, e, k, weld ? middle : pose.p, weld ? middle : pose.q);
}

template <class S>
STICTION_FN void block_law(const ModelView& m, EnvView<S>& e, int k) {
  if (!is_coupling(m, k)) return connection_law(m, e, k);
  const Coupling<S> c = coupling(m, e, k);
  store_block(m, e, k, {zero3<S>(), {c.gap, S(0.0), S(0.0)}}, S(0.0), c.w);
}

// Returns (v̂ − J v)/R.
template <class S>
STICTION_FN Spatial<S> block_impulse(const ModelView& m, const EnvView<S>& e, int k, const S* v) {
  Spatial<S> u = zero6<S>();
  STICTION_ROLLED
  for (int x = m.block_adr[k]; x < m.block_adr[k + 1]; ++x)
    u = u + v[m.block_dof[x]] * load6(e.block_jacobian, x);
  const S* const law = e.block_law + 8 * k;
  return {law[6] * (load3(law, 0) - u.a), law[7] * (load3(law, 1) - u.l)};
}

// Returns Jᵀγ on dof i.
template <class S>
STICTION_FN S block_impulse_on(const ModelView& m, const EnvView<S>& e, int i) {
  S sum = S(0.0);
  STICTION_ROLLED
  for (int n = m.dof_blockadr[i]; n < m.dof_blockadr[i + 1]; ++n) {
    const int x = m.dof_blockentry[n];
    sum = sum + dot(load6(e.block_jacobian, x), load6(e.block_impulse, m.block_of[x]));
  }
  return sum;
}

// Adds Jᵀ R⁻¹ J to row i of A.
template <class S>
STICTION_FN void add_blocks(const ModelView& m, EnvView<S>& e, int i) {
  S* const row = e.A + tri(i, 0);
  STICTION_ROLLED
  for (int n = m.dof_blockadr[i]; n < m.dof_blockadr[i + 1]; ++n) {
    const int x = m.dof_blockentry[n], k = m.block_of[x];
    const S* const law = e.block_law + 8 * k;
    const Spatial<S> column = load6(e.block_jacobian, x);
    const Spatial<S> f = {law[6] * column.a, law[7] * column.l};
    STICTION_ROLLED
    for (int y = m.block_adr[k]; y < m.block_adr[k + 1]; ++y) {
      const int j = m.block_dof[y];
      if (j <= i) row[j] = row[j] + dot(load6(e.block_jacobian, y), f);
    }
  }
}

template <class Team, class S>
STICTION_FN void equalities(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.neq == 0) return;
  team.for_each(m.neq, [&](int k) {
    block_law(m, e, k);
    store6(e.block_impulse, k, block_impulse(m, e, k, e.qvel));
  });
  team.for_each(m.nv, [&](int i) {
    e.qfrc_smooth[i] = e.qfrc_smooth[i] + S(m.opt.step_rate) * block_impulse_on(m, e, i);
    add_blocks(m, e, i);
  });
}

// Evaluates the impulses at the solution.
template <class Team, class S>
STICTION_FN void equality_outputs(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.neq == 0) return;
  team.for_each(m.neq, [&](int k) { store6(e.block_impulse, k, block_impulse(m, e, k, e.v)); });
  team.for_each(m.nv, [&](int i) {
    e.qfrc_constraint[i] = e.qfrc_constraint[i] + S(m.opt.step_rate) * block_impulse_on(m, e, i);
  });
}

STICTION_PHYSICS_END

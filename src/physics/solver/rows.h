// Rows of the joints, servos and tendons; and the predictor v_free.
//
// rows     in   A, qpos, qvel, act_*, ten_*, moment, qfrc_smooth, qfrc_lift, xmat
//          out  inv_diag, row_law, v_free, rows_act, structure of the factor
//
// A row acts on a coordinate: a dof, or a length, of an actuator or a tendon, that moves with several dofs by its
// moment arm. So J v and Jᵀ γ of all rows need one number per coordinate: behind the nv dof velocities, a velocity
// vector holds those of the lengths, v_c = Σ moment_ci v_i.
#pragma once

#include "physics/constraint/ball_limits.h"
#include "physics/constraint/equalities.h"
#include "physics/constraint/limits.h"
#include "physics/constraint/servos.h"
#include "physics/constraint/tendon_rows.h"
#include "physics/law/friction.h"
#include "physics/solver/hessian.h"
#include "physics/tree/delassus.h"

STICTION_PHYSICS_BEGIN

// ---- laws of the coordinates

// Evaluates the limits of a coordinate that has limits.
template <class S>
STICTION_FN RowValue<S> limits_at(const ModelView& m, const EnvView<S>& e, int c, S v) {
  return row_law(load_limits(e, m.coord_rowadr[c]), v);
}
// Evaluates all rows of coordinate c at its velocity v.
template <class S>
STICTION_FN RowValue<S> coordinate_law(const ModelView& m, const EnvView<S>& e, int c, S v) {
  RowValue<S> sum = {S(0.0), S(0.0)};
  int row = m.coord_rowadr[c];
  const int end = m.coord_rowadr[c + 1], end_limits = row + m.coord_limited[c];
  const auto add = [&](const RowValue<S>& value) {
    sum = {sum.impulse + value.impulse, sum.hess + value.hess};
  };
  STICTION_ROLLED
  for (; row < end_limits; ++row) add(row_law(load_limits(e, row), v));
  STICTION_ROLLED
  for (; row < end; ++row) add(row_law(load_bounded(e, row), v));
  return sum;
}

// Writes the velocities of the lengths with rows, behind those of the dofs.
template <class Team, class S>
STICTION_FN void length_velocities(const Team& team, const ModelView& m, const EnvView<S>& e,
                                   S* v) {
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k];
    v[c] = coordinate_velocity(m, e, c, v);
  });
}

// Returns Σ m_ci of(c) over the lengths c with rows: the generalized impulse on dof i of impulses along them.
template <class S, class F>
STICTION_FN S sum_on_dof(const ModelView& m, const EnvView<S>& e, int i, const F& of) {
  S sum = S(0.0);
  STICTION_ROLLED
  for (int k = m.dof_rowmomentadr[i]; k < m.dof_rowmomentadr[i + 1]; ++k) {
    const int x = m.dof_rowmoment[k];
    sum = sum + e.moment[x] * of(m.moment_coord[x]);
  }
  return sum;
}
template <class S>
STICTION_FN S length_impulse_on(const ModelView& m, const EnvView<S>& e, int i) {
  return sum_on_dof(m, e, i, [&](int c) { return e.row_impulse[c]; });
}

// Returns the impulse of limits and dry friction along tendon t at its velocity v; t >= ntendon: limit of a ball joint.
template <class S>
STICTION_FN S length_constraint(const ModelView& m, const EnvView<S>& e, int t, S v) {
  if (t >= m.ntendon) return row_law(load_limits(e, m.coord_rowadr[m.nv + m.nu + t]), v).impulse;
  const int limits = m.tendon_limitrow[t], friction = m.tendon_rubrow[t];
  S impulse = S(0.0);
  if (limits >= 0) impulse = impulse + row_law(load_limits(e, limits), v).impulse;
  if (friction >= 0) impulse = impulse + row_law(load_bounded(e, friction), v).impulse;
  return impulse;
}

// The impulses of the rows of lengths on dof i: of actuators, and of constraints. The rest are springs and dampers.
template <class S>
struct LengthImpulses {
  S actuators, constraints;
};
template <class S>
STICTION_FN LengthImpulses<S> length_impulses_on(const ModelView& m, const EnvView<S>& e, int i) {
  const S zero = S(0.0);
  const int lengths = m.nv + m.nu;
  if (m.nrowlength == m.nrowservo) return {length_impulse_on(m, e, i), zero};
  return {sum_on_dof(m, e, i, [&](int c) { return c < lengths ? e.row_impulse[c] : zero; }),
          sum_on_dof(m, e, i, [&](int c) {
            return c < lengths ? zero : length_constraint(m, e, c - lengths, e.v[c]);
          })};
}

// Returns load + Σ |γ| over the rows of coordinate c at its velocity v.
template <class S>
STICTION_FN S add_load(const ModelView& m, const EnvView<S>& e, int c, S v, S load) {
  int row = m.coord_rowadr[c];
  const int end = m.coord_rowadr[c + 1], end_limits = row + m.coord_limited[c];
  STICTION_ROLLED
  for (; row < end_limits; ++row) load = load + row_load(load_limits(e, row), v);
  STICTION_ROLLED
  for (; row < end; ++row) load = load + vabs(row_law(load_bounded(e, row), v).impulse);
  return load;
}
// Returns the same sum over all rows on dof i, at the velocities v of the coordinates.
template <class S>
STICTION_FN S rows_load(const ModelView& m, const EnvView<S>& e, int i, const S* v) {
  S load = S(0.0);
  STICTION_ROLLED
  for (int k = m.dof_rowmomentadr[i]; k < m.dof_rowmomentadr[i + 1]; ++k) {
    const int x = m.dof_rowmoment[k], c = m.moment_coord[x];
    load = load + vabs(e.moment[x]) * add_load(m, e, c, v[c], S(0.0));
  }
  return add_load(m, e, i, v[i], load);
}

template <class Team, class S>
STICTION_FN void no_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nv, [&](int i) { e.row_impulse[i] = e.row_hess[i] = S(0.0); });
}

// Writes row_impulse, row_hess of the lengths at their velocities v(c), from entry `first` of row_length on.
template <class Team, class S, class V>
STICTION_FN void length_values(const Team& team, const ModelView& m, EnvView<S>& e, const V& v,
                               int first = 0) {
  team.for_each(m.nrowlength - first, [&](int k) {
    const int c = m.row_length[first + k];
    const RowValue<S> value = coordinate_law(m, e, c, v(c));
    e.row_impulse[c] = value.impulse, e.row_hess[c] = value.hess;
  });
}

// Writes the same for the dofs, where the impulse is the generalized one of all rows; dofs without rows keep
// the 0 of no_rows.
template <class Team, class S, class V>
STICTION_FN void dof_values(const Team& team, const ModelView& m, EnvView<S>& e, const V& v) {
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    const RowValue<S> value = coordinate_law(m, e, i, v(i));
    e.row_impulse[i] = value.impulse + length_impulse_on(m, e, i);
    e.row_hess[i] = value.hess;
  });
}

template <class Team, class S, class V>
STICTION_FN void row_values(const Team& team, const ModelView& m, EnvView<S>& e, const V& v) {
  length_values(team, m, e, v);
  dof_values(team, m, e, v);
}

// Returns 1 if a row has an impulse or a curvature at the velocities of the last row_values, else 0.
template <class Team, class S>
STICTION_FN S rows_act(const Team& team, const ModelView& m, const EnvView<S>& e) {
  const auto on = [&](int n, const int* coordinates) {
    return team.template max<S>(n, [&](int k) {
      const int c = coordinates[k];
      return select(e.row_impulse[c] != S(0.0) || e.row_hess[c] != S(0.0), S(1.0), S(0.0));
    });
  };
  return vmax(on(m.nrowdof, m.row_dof), on(m.nrowlength, m.row_length));
}

// ---- constants of the rows

// Computes servos, springs and drag: the rows that do not depend on others. Rows of constraints have no impulse
// yet.
template <Drives can, class Team, class S>
STICTION_FN void force_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k], t = c - m.nv - m.nu;
    if (t < 0) return store_row(e, m.coord_rowadr[c], servo_of<can>(m, e, c - m.nv));
    const S zero = S(0.0);
    const LimitLaw<S> none = {zero, zero, zero};
    if (t >= m.ntendon) return store_row(e, m.coord_rowadr[c], none);
    if (m.tendon_limitrow[t] >= 0) store_row(e, m.tendon_limitrow[t], none);
    if (m.tendon_springrow[t] >= 0) store_row(e, m.tendon_springrow[t], tendon_spring(m, e, t));
    if (m.tendon_dragrow[t] >= 0) store_row(e, m.tendon_dragrow[t], tendon_drag<can>(m, e, t));
    if (m.tendon_rubrow[t] >= 0)
      store_row(e, m.tendon_rubrow[t], BoundedLaw<S>{zero, zero, zero, zero});
  });
}

// Computes limits and dry friction of dofs, tendons and balls; needs row_impulse of force_rows at v0 for the lengths.
template <class Team, class S>
STICTION_FN void constraint_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  const auto impulse = [&](int i) {
    return S(m.opt.timestep) * e.qfrc_smooth[i] + length_impulse_on(m, e, i);
  };
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    int row = m.coord_rowadr[i];
    if (m.coord_limited[i] != 0) store_row(e, row++, limits_of(m, e, i, impulse(i)));
    if (m.dof_rubs[i] != 0)
      store_row(e, row, friction_law(m, e, i, e.dof_frictionloss[i], e.inv_diag[i]));
  });
  team.for_each(m.nrowlength - m.nrowservo, [&](int k) {
    const int c = m.row_length[m.nrowservo + k], t = c - m.nv - m.nu;
    if (t >= m.ntendon)
      return store_row(e, m.coord_rowadr[c], ball_limit(m, e, t - m.ntendon, impulse));
    if (m.tendon_limitrow[t] >= 0)
      store_row(e, m.tendon_limitrow[t], tendon_limits(m, e, t, impulse));
    if (m.tendon_rubrow[t] >= 0) store_row(e, m.tendon_rubrow[t], tendon_friction(m, e, t));
  });
}

// Computes v_free = v0 − H⁻¹ (p0 − rows), H = A + rows, all at v0, p0 = A (v0 − v*) = −δt k. If no row
// acts, rows_act = 0, this is v*.
template <class Team, class S>
STICTION_FN void free_velocity(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S dt = S(m.opt.timestep);
  dof_values(team, m, e, [&](int i) { return e.qvel[i]; });
  const S act = rows_act(team, m, e);
  team.for_each(m.nv, [&](int i) { e.gradient[i] = -(dt * e.qfrc_smooth[i] + e.row_impulse[i]); });
  hessian(team, m, e, false);
  factor_and_solve(team, m, e, e.gradient, e.dv);
  team.for_each(m.nv, [&](int i) { e.v_free[i] = e.qvel[i] - e.dv[i]; });
  team.once([&] { e.rows_act[0] = act; });
}

template <Drives can, class Team, class S>
STICTION_FN void rows_up_to(const Team& team, const ModelView& m, EnvView<S>& e) {
  const auto v0 = [&](int c) {
    const int t = c - m.nv - m.nu;
    if (t >= m.ntendon) return coordinate_velocity(m, e, c, e.qvel);
    return t < 0 ? e.act_velocity[c - m.nv] : e.ten_velocity[t];
  };
  inverse_diagonal(team, m, e);
  team.for_each(m.nball, [&](int ball) { ball_angle(m, e, ball); });
  force_rows<can>(team, m, e);
  length_values(team, m, e, v0);
  constraint_rows(team, m, e);
  length_values(team, m, e, v0, m.nrowservo);
  equalities(team, m, e);
  model_structure(team, m, e);
  no_rows(team, m, e);
  free_velocity(team, m, e);
}

template <class Team, class S>
STICTION_FN void rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  rows_up_to<Drives::states>(team, m, e);
}

STICTION_PHYSICS_END

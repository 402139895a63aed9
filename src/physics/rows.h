// Rows of the joints: limits, dry friction, servos; and the predictor v_free.
//
// rows     in   A, qpos, qvel, act_*, qfrc_smooth, xmat
//          out  inv_diag, row_law, v_free, rows_act, structure of the factor
//
// A row acts on a coordinate: a dof, or a length that moves with several dofs by its moment arm, here that of
// an actuator. So J v and Jᵀ γ of all rows go through one number per coordinate: a vector of velocities goes
// on behind the dofs with those of the lengths, v_c = Σ moment_ci v_i.
#pragma once

#include "physics/delassus.h"
#include "physics/equalities.h"
#include "physics/friction.h"
#include "physics/hessian.h"
#include "physics/limits.h"
#include "physics/servos.h"

STICTION_PHYSICS_BEGIN

// ---- laws of the coordinates

// Limits of a coordinate that has them.
template <class S>
STICTION_FN RowValue<S> limits_at(const ModelView& m, const EnvView<S>& e, int c, S v) {
  return row_law(load_limits(e, m.coord_rowadr[c]), v);
}
// All rows of coordinate c at its velocity v.
template <class S>
STICTION_FN RowValue<S> coordinate_law(const ModelView& m, const EnvView<S>& e, int c, S v) {
  RowValue<S> sum = {S(0.0), S(0.0)};
  int row = m.coord_rowadr[c];
  const int end = m.coord_rowadr[c + 1];
  if (m.coord_limited[c] != 0) sum = row_law(load_limits(e, row++), v);
  for (; row < end; ++row) {
    const RowValue<S> value = row_law(load_bounded(e, row), v);
    sum = {sum.impulse + value.impulse, sum.hess + value.hess};
  }
  return sum;
}

// Velocities of the lengths with rows, behind those of the dofs.
template <class Team, class S>
STICTION_FN void length_velocities(const Team& team, const ModelView& m, const EnvView<S>& e,
                                   S* v) {
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k];
    S sum = S(0.0);
    for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x)
      sum = sum + e.moment[x] * v[m.moment_dof[x]];
    v[c] = sum;
  });
}

// f(impulse) for the generalized impulses of the lengths' rows on dof i, one after the other.
template <class S, class F>
STICTION_FN void for_length_impulses(const ModelView& m, const EnvView<S>& e, int i, const F& f) {
  for (int k = m.dof_rowmomentadr[i]; k < m.dof_rowmomentadr[i + 1]; ++k) {
    const int x = m.dof_rowmoment[k];
    f(e.moment[x] * e.row_impulse[m.moment_coord[x]]);
  }
}
template <class S>
STICTION_FN S length_impulse_on(const ModelView& m, const EnvView<S>& e, int i) {
  S sum = S(0.0);
  for_length_impulses(m, e, i, [&](const S& impulse) { sum = sum + impulse; });
  return sum;
}

// Σ |γ| of the rows on dof i, each by itself, at its velocity v and with the lengths' impulses.
template <class S>
STICTION_FN S rows_load(const ModelView& m, const EnvView<S>& e, int i, S v) {
  S load = S(0.0);
  const auto add = [&](const S& impulse) { load = load + vabs(impulse); };
  for_length_impulses(m, e, i, add);
  int row = m.coord_rowadr[i];
  if (m.coord_limited[i] != 0) load = load + row_load(load_limits(e, row++), v);
  for (; row < m.coord_rowadr[i + 1]; ++row) add(row_law(load_bounded(e, row), v).impulse);
  return load;
}

template <class Team, class S>
STICTION_FN void no_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nv, [&](int i) { e.row_impulse[i] = e.row_hess[i] = S(0.0); });
}

// row_impulse, row_hess of the lengths at their velocities v(c).
template <class Team, class S, class V>
STICTION_FN void length_values(const Team& team, const ModelView& m, EnvView<S>& e, const V& v) {
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k];
    const RowValue<S> value = coordinate_law(m, e, c, v(c));
    e.row_impulse[c] = value.impulse, e.row_hess[c] = value.hess;
  });
}

// The same of the dofs, where the impulse is the generalized one of all rows; 0 on dofs without since
// no_rows.
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

// 1 where a row has an impulse or a curvature at the velocities of the last row_values, else 0.
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

// ---- their constants

// R = σ w
template <class S>
STICTION_FN BoundedLaw<S> dry_friction_of(const ModelView& m, const EnvView<S>& e, int i) {
  const S loss = e.dof_frictionloss[i], bound = S(m.opt.timestep) * loss;
  const Mask<S> acts = loss != S(0.0);
  const S R = regularization<S>(m) * e.inv_diag[i];
  return {S(0.0), select(acts, S(1.0) / select(acts, R, S(1.0)), S(0.0)), -bound, bound};
}

template <class Team, class S>
STICTION_FN void length_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nrowlength, [&](int k) {
    const int c = m.row_length[k];
    store_row(e, m.coord_rowadr[c], servo_of(m, e, c - m.nv));
  });
}

// Limits, then dry friction, where a dof may have them; row_impulse of the lengths is that at v0.
template <class Team, class S>
STICTION_FN void dof_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S dt = S(m.opt.timestep);
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    int row = m.coord_rowadr[i];
    if (m.coord_limited[i] != 0)
      store_row(e, row++, limits_of(m, e, i, dt * e.qfrc_smooth[i] + length_impulse_on(m, e, i)));
    if (m.dof_rubs[i] != 0) store_row(e, row, dry_friction_of(m, e, i));
  });
}

// v_free = v0 − H⁻¹ (p0 − rows), H = A + rows, all at v0, p0 = A (v0 − v*) = −δt k. Where no row
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

template <class Team, class S>
STICTION_FN void rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  inverse_diagonal(team, m, e);
  length_rows(team, m, e);
  length_values(team, m, e, [&](int c) { return e.act_velocity[c - m.nv]; });
  dof_rows(team, m, e);
  equalities(team, m, e);
  model_structure(team, m, e);
  no_rows(team, m, e);
  free_velocity(team, m, e);
}

STICTION_PHYSICS_END

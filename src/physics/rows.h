// Rows of the joints: limits, implicit servos, dry friction; and the predictor v_free.
//
// rows     in   A, qpos, qvel, act_*, qfrc_smooth, xmat
//          out  inv_diag, limit_*, servo_*, friction_inv_R, v_free, rows_act, structure of the factor
#pragma once

#include "physics/delassus.h"
#include "physics/friction.h"
#include "physics/hessian.h"
#include "physics/limits.h"

STICTION_PHYSICS_BEGIN

// w = Σ inv_diag m² of a moment arm; entries on the same dof add up first. The three rotations of a
// free joint are turned into world axes.
template <class S>
STICTION_FN S moment_delassus(const ModelView& m, const EnvView<S>& e, int a) {
  const int begin = m.act_momentadr[a], end = m.act_momentadr[a + 1];
  S w = S(0.0);
  for (int x = begin; x < end; ++x) {
    const int i = m.act_momentdof[x], r = m.dof_freerot[i];
    if (r == i) {
      const S* arm = e.act_moment + x;
      const Vec3<Wide<S>> body = {widen(arm[0]), widen(arm[1]), widen(arm[2])};
      const Vec3<S> world = narrow3<S>(load9(e.xmat, m.dof_bodyid[i]) * body);
      w = w + e.inv_diag[i] * (world.x * world.x) + e.inv_diag[i + 1] * (world.y * world.y) +
          e.inv_diag[i + 2] * (world.z * world.z);
    } else if (r < 0) {
      S total = S(0.0);
      for (int y = begin; y < end; ++y)
        if (m.act_momentdof[y] == i) total = total + e.act_moment[y];
      w = w + e.inv_diag[i] * (e.act_moment[x] * total);
    }
  }
  return w;
}

// Bounds of the actuator's own force: forcerange, and actuatorfrcrange of a joint it drives alone.
template <class S>
STICTION_FN void servo_bounds(const ModelView& m, EnvView<S>& e, int a) {
  const S inf = S(std::numeric_limits<double>::infinity());
  S lower = -inf, upper = inf;
  if (m.actuator_forcelimited[a] != 0)
    lower = e.actuator_forcerange[2 * a], upper = e.actuator_forcerange[2 * a + 1];
  if (m.actuator_bounded[a] != 0) {
    const int j = m.actuator_trnid[a];
    const S gear = e.actuator_gear[6 * a];
    const Mask<S> geared = gear != S(0.0);
    const S inv = S(1.0) / select(geared, gear, S(1.0));
    const S x = inv * e.jnt_actfrcrange[2 * j], y = inv * e.jnt_actfrcrange[2 * j + 1];
    const S lo = vmin(x, y), hi = vmax(x, y);
    lower = select(geared, clamp(lower, lo, hi), lower);
    upper = select(geared, clamp(upper, lo, hi), upper);
  }
  e.servo_lower[a] = lower, e.servo_upper[a] = upper;
}

// ũ(v) = −Kp (l0 + δt v − l_d) − Kd (v − v_d); feedback that pulls back is implicit and softened
// with its set points, the rest of the force is explicit.
template <class Team, class S>
STICTION_FN void servo_constants(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (!m.any_servo) return;
  const S dt = S(m.opt.timestep), zero = S(0.0);
  team.for_each(m.nu, [&](int a) {
    e.servo_kappa[a] = e.servo_force0[a] = e.servo_lower[a] = e.servo_upper[a] = zero;
    if (m.actuator_mayservo[a] == 0) return;
    const S *law = e.act_law + 3 * a, length = e.act_length[a], velocity = e.act_velocity[a];
    const S kp = vmax(-law[1], zero), kd = vmax(-law[2], zero);
    const S w = moment_delassus(m, e, a);  // 0 where nothing is moved
    const Mask<S> servo = kp + kd > zero && w > zero;
    const S soft = servo_softening(dt, dt * kp + kd, w);
    const S explicit_part = vmax(law[1], zero) * length + vmax(law[2], zero) * velocity;
    const S force0 = soft * law[0] + explicit_part - (soft * kp) * length;
    e.servo_force0[a] = select(servo, force0, zero);
    e.servo_kappa[a] = select(servo, soft * (dt * kp + kd), zero);
    servo_bounds(m, e, a);
  });
}

// R = σ w
template <class Team, class S>
STICTION_FN void friction_constants(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (!m.any_frictionloss) return;
  team.for_each(m.nv, [&](int i) {
    const Mask<S> acts = e.dof_frictionloss[i] != S(0.0);
    const S R = regularization<S>(m) * e.inv_diag[i];
    e.friction_inv_R[i] = select(acts, S(1.0) / select(acts, R, S(1.0)), S(0.0));
  });
}

// Limits of dof i at its velocity v.
template <class S>
STICTION_FN RowValue<S> limits_of(const EnvView<S>& e, int i, S v) {
  return limit_law(e.limit_inv_R[i], e.limit_vhat[2 * i], e.limit_vhat[2 * i + 1], v);
}
// Dry friction of dof i at its velocity v.
template <class S>
STICTION_FN RowValue<S> friction_of(const ModelView& m, const EnvView<S>& e, int i, S v) {
  return dry_friction_law(e.friction_inv_R[i], S(m.opt.timestep) * e.dof_frictionloss[i], v);
}
// Limits and dry friction of dof i at its velocity v.
template <class S>
STICTION_FN RowValue<S> dof_rows(const ModelView& m, const EnvView<S>& e, int i, S v) {
  RowValue<S> value = {S(0.0), S(0.0)};
  if (m.dof_limited[i] != 0) value = limits_of(e, i, v);
  if (m.any_frictionloss) {
    const RowValue<S> f = friction_of(m, e, i, v);
    value = {value.impulse + f.impulse, value.hess + f.hess};
  }
  return value;
}
template <class S>
STICTION_FN RowValue<S> servo_row(const ModelView& m, const EnvView<S>& e, int a, S v) {
  return servo_law(S(m.opt.timestep), e.servo_force0[a], e.servo_kappa[a], e.servo_lower[a],
                   e.servo_upper[a], v);
}

// out (nu) = moment · v
template <class Team, class S>
STICTION_FN void servo_velocities(const Team& team, const ModelView& m, EnvView<S>& e, const S* v,
                                  S* out) {
  if (!m.any_servo) return;
  team.for_each(m.nu, [&](int a) {
    S sum = S(0.0);
    for (int x = m.act_momentadr[a]; x < m.act_momentadr[a + 1]; ++x)
      sum = sum + e.act_moment[x] * v[m.act_momentdof[x]];
    out[a] = sum;
  });
}

// Generalized impulse of the servos on dof i, and what it is without cancellation.
template <class S>
struct ServoLoad {
  S impulse, load;
};
template <class S>
STICTION_FN ServoLoad<S> servo_load(const ModelView& m, const EnvView<S>& e, int i) {
  ServoLoad<S> sum = {S(0.0), S(0.0)};
  for (int k = m.dof_servoadr[i]; k < m.dof_servoadr[i + 1]; ++k) {
    const int entry = m.dof_servo[k];
    const S impulse = e.act_moment[entry] * e.servo_impulse[m.moment_act[entry]];
    sum = {sum.impulse + impulse, sum.load + vabs(impulse)};
  }
  return sum;
}

// Σ |γ| of the rows on dof i, each by itself, at its velocity v and with the servos' impulses.
template <class S>
STICTION_FN S row_load(const ModelView& m, const EnvView<S>& e, int i, S v) {
  S load = servo_load(m, e, i).load;
  if (m.dof_limited[i] != 0)
    load = load + limit_load(e.limit_inv_R[i], e.limit_vhat[2 * i], e.limit_vhat[2 * i + 1], v);
  if (m.any_frictionloss) load = load + vabs(friction_of(m, e, i, v).impulse);
  return load;
}

template <class Team, class S>
STICTION_FN void no_rows(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nv, [&](int i) { e.row_impulse[i] = e.row_hess[i] = S(0.0); });
}

// servo_impulse, servo_hess at the velocities servo_v(a) of the servos.
template <class Team, class S, class U>
STICTION_FN void servo_values(const Team& team, const ModelView& m, EnvView<S>& e,
                              const U& servo_v) {
  if (!m.any_servo) return;
  team.for_each(m.nu, [&](int a) {
    const RowValue<S> value = servo_row(m, e, a, servo_v(a));
    e.servo_impulse[a] = value.impulse, e.servo_hess[a] = value.hess;
  });
}

// row_impulse, row_hess at the velocities v(i) of the dofs, servos included; 0 on dofs without rows
// since no_rows.
template <class Team, class S, class V>
STICTION_FN void dof_values(const Team& team, const ModelView& m, EnvView<S>& e, const V& v) {
  team.for_each(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    const RowValue<S> value = dof_rows(m, e, i, v(i));
    e.row_impulse[i] = value.impulse + servo_load(m, e, i).impulse;
    e.row_hess[i] = value.hess;
  });
}

template <class Team, class S, class V, class U>
STICTION_FN void row_values(const Team& team, const ModelView& m, EnvView<S>& e, const V& v,
                            const U& servo_v) {
  servo_values(team, m, e, servo_v);
  dof_values(team, m, e, v);
}

// 1 where a row has an impulse or a curvature at the velocities of the last row_values, else 0.
template <class Team, class S>
STICTION_FN S rows_act(const Team& team, const ModelView& m, const EnvView<S>& e) {
  const auto acts = [](const S& impulse, const S& hess) {
    return select(impulse != S(0.0) || hess != S(0.0), S(1.0), S(0.0));
  };
  const S on_dofs = team.template max<S>(m.nrowdof, [&](int k) {
    const int i = m.row_dof[k];
    return acts(e.row_impulse[i], e.row_hess[i]);
  });
  if (!m.any_servo) return on_dofs;
  return vmax(on_dofs, team.template max<S>(
                           m.nu, [&](int a) { return acts(e.servo_impulse[a], e.servo_hess[a]); }));
}

// The same of the rows at v, which it evaluates.
template <class Team, class S>
STICTION_FN S rows_at(const Team& team, const ModelView& m, EnvView<S>& e, const S* v) {
  servo_velocities(team, m, e, v, e.servo_vel);
  row_values(
      team, m, e, [&](int i) { return v[i]; }, [&](int a) { return e.servo_vel[a]; });
  return rows_act(team, m, e);
}

// Constants of all limits; servo_impulse is that at v0.
template <class Team, class S>
STICTION_FN void limits(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (!m.any_limit) return;
  const S zero = S(0.0), dt = S(m.opt.timestep);
  team.for_each(m.nv, [&](int i) {
    e.limit_inv_R[i] = e.limit_vhat[2 * i] = e.limit_vhat[2 * i + 1] = zero;
    if (m.dof_limited[i] != 0)
      limit_constants(m, e, i, dt * e.qfrc_smooth[i] + servo_load(m, e, i).impulse);
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
  servo_constants(team, m, e);
  servo_velocities(team, m, e, e.qvel, e.servo_vel);
  servo_values(team, m, e, [&](int a) { return e.servo_vel[a]; });
  limits(team, m, e);
  friction_constants(team, m, e);
  model_structure(team, m, e);
  no_rows(team, m, e);
  free_velocity(team, m, e);
}

STICTION_PHYSICS_END

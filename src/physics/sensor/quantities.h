// Quantities computed on request from the current state: quantities.def lists them; and Jacobians.
//
// reads   qpos, qvel, xpos, xquat, xmat, xvel, cdof, cinert, crb, cvel0, qfrc_bias; placements of bodies,
//         geoms and sites, masses, armature, springs
// writes  the array that the caller passes: rows of wide numbers, in MuJoCo's layout
//
//   M_ij = S_j · Ic_b S_i + armature        as in inertia.h, without the terms of the time step
//   T = ½ Σ V_b · I_b V_b + ½ Σ armature v²
//   U = −Σ m g · c + ½ Σ k |q ⊖ q_s|²           tendons likewise: armature and springs, with their lengths
//   J = (S_i at r, ω of S_i)                of the dofs i on the path from the body to its root
#pragma once

#include "physics/actuation/actuation.h"
#include "physics/actuation/tendon_bias.h"
#include "physics/solver/friction_error.h"
#include "physics/tree/energies.h"

STICTION_PHYSICS_BEGIN

// Writes row i of nine numbers, a row-major matrix.
template <class W>
STICTION_FN void store_axes(W* out, int i, const Mat3<W>& axes) {
  store3(out, 3 * i, {axes.x.x, axes.y.x, axes.z.x});
  store3(out, 3 * i + 1, {axes.x.y, axes.y.y, axes.z.y});
  store3(out, 3 * i + 2, {axes.x.z, axes.y.z, axes.z.z});
}

// Writes the frames of all geoms or sites.
template <class S>
STICTION_FN void frames(const ModelView& m, const EnvView<S>& e, ObjectType type, int n, bool axes,
                        Wide<S>* out) {
  for (int i = 0; i < n; ++i) {
    const Frame<S> f = frame_of(m, e, static_cast<int>(type), i);
    if (axes)
      store_axes(out, i, matrix(f.quat));
    else
      store3(out, i, f.pos);
  }
}

template <class S>
STICTION_FN void velocities_of_mujoco(const ModelView& m, const EnvView<S>& e, Wide<S>* out) {
  for (int b = 0; b < m.nbody; ++b) {
    int root = b;
    while (m.body_parentid[root] > 0) root = m.body_parentid[root];
    const Vec3<Wide<S>> centre = subtree(m, e, root).com;
    store3(out, 2 * b, widen3(load6(e.xvel, b).a));
    store3(out, 2 * b + 1, widen3(point_velocity(e, b, centre)));
  }
}

template <class S>
STICTION_FN void mass_matrix(const ModelView& m, const EnvView<S>& e, Wide<S>* out) {
  const int n = m.nv;
  for (int k = 0; k < n * n; ++k) out[k] = Wide<S>(0.0);
  for (int i = 0; i < n; ++i) {
    const Spatial<S> force = load_inertia(e.crb, m.dof_bodyid[i]) * load6(e.cdof, i);
    for (int j = i; j >= 0; j = m.dof_parentid[j]) {
      const S x = dot(load6(e.cdof, j), force);
      out[n * i + j] = out[n * j + i] = widen(i == j ? x + e.dof_armature[i] : x);
    }
  }
  for (int t = 0; t < m.ntendon; ++t) {
    const int c = m.nv + m.nu + t;
    for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x)
      for (int y = m.coord_momentadr[c]; y < m.coord_momentadr[c + 1]; ++y) {
        Wide<S>& entry = out[n * m.moment_dof[x] + m.moment_dof[y]];
        entry = entry + widen(e.tendon_armature[t] * (e.moment[x] * e.moment[y]));
      }
  }
}

// Adds Σ m a ṁ·v.
template <class S>
STICTION_FN void add_tendon_bias(const ModelView& m, const EnvView<S>& e, Wide<S>* out) {
  for (int t = 0; t < m.ntendon; ++t) {
    if (m.tendon_fixed[t] != 0) continue;
    const S force = e.tendon_armature[t] * tendon_bias(m, e, t);
    const int c = m.nv + m.nu + t;
    for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x)
      out[m.moment_dof[x]] = out[m.moment_dof[x]] + widen(e.moment[x] * force);
  }
}

// Writes the moment arms of n lengths from coordinate `first` on, as a dense matrix.
template <class S, class F>
STICTION_FN void moment_matrix(const ModelView& m, int first, int n, const F& entry, Wide<S>* out) {
  for (int k = 0; k < n * m.nv; ++k) out[k] = Wide<S>(0.0);
  for (int c = first; c < first + n; ++c)
    for (int x = m.coord_momentadr[c]; x < m.coord_momentadr[c + 1]; ++x)
      out[(c - first) * m.nv + m.moment_dof[x]] = widen(entry(c, x));
}

template <class S>
STICTION_FN Wide<S> kinetic_energy(const ModelView& m, const EnvView<S>& e) {
  using W = Wide<S>;
  W twice = W(0.0);
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_treeid[b] < 0) continue;
    const Spatial<S> v = load6(e.cvel0, b);
    twice = twice + widen(dot(v, load_inertia(e.cinert, b) * v));
  }
  for (int i = 0; i < m.nv; ++i) twice = twice + widen(e.dof_armature[i] * (e.qvel[i] * e.qvel[i]));
  for (int t = 0; t < m.ntendon; ++t)
    twice = twice + widen(e.tendon_armature[t] * (e.ten_velocity[t] * e.ten_velocity[t]));
  return W(0.5) * twice;
}

// At the current state, after kinematics, velocities, inertia and bias; friction_error after the solve of a step.
template <class S>
STICTION_FN void quantity(const ModelView& m, const EnvView<S>& e, Quantity which, Wide<S>* out) {
  switch (which) {
    case Quantity::xipos:
      for (int b = 0; b < m.nbody; ++b) store3(out, b, body_com(e, b));
      return;
    case Quantity::geom_xpos: return frames(m, e, ObjectType::geom, m.ngeom, false, out);
    case Quantity::geom_xmat: return frames(m, e, ObjectType::geom, m.ngeom, true, out);
    case Quantity::site_xpos: return frames(m, e, ObjectType::site, m.nsite, false, out);
    case Quantity::site_xmat: return frames(m, e, ObjectType::site, m.nsite, true, out);
    case Quantity::subtree_com:
      for (int b = 0; b < m.nbody; ++b) store3(out, b, subtree(m, e, b).com);
      return;
    case Quantity::cvel: return velocities_of_mujoco(m, e, out);
    case Quantity::M: return mass_matrix(m, e, out);
    case Quantity::qfrc_bias:
      for (int i = 0; i < m.nv; ++i) out[i] = widen(e.qfrc_bias[i]);
      return add_tendon_bias(m, e, out);
    case Quantity::ten_length:
      for (int t = 0; t < m.ntendon; ++t) out[t] = e.ten_length[t];
      return;
    case Quantity::ten_velocity:
      for (int t = 0; t < m.ntendon; ++t) out[t] = widen(e.ten_velocity[t]);
      return;
    case Quantity::ten_J:
      return moment_matrix<S>(
          m, m.nv + m.nu, m.ntendon, [&](int, int x) { return e.moment[x]; }, out);
    case Quantity::actuator_length:
      for (int a = 0; a < m.nu; ++a) out[a] = widen(actuator_length(m, e, a));
      return;
    case Quantity::actuator_moment:
      return moment_matrix<S>(
          m, m.nv, m.nu,
          [&](int c, int x) { return actuator_moment(m, e, c - m.nv, x - m.coord_momentadr[c]); },
          out);
    case Quantity::energy_kinetic: out[0] = kinetic_energy(m, e); return;
    case Quantity::energy_potential: out[0] = potential_energy(m, e); return;
    case Quantity::friction_error: out[0] = widen(friction_error(m, e)); return;
  }
}

// out (2,3,nv): the velocity of the point `pos` fixed to body b, and the body's angular velocity, per
// unit of each dof.
template <class S>
STICTION_FN void jacobian(const ModelView& m, const EnvView<S>& e, int b, const Vec3<Wide<S>>& pos,
                          Wide<S>* out) {
  const int n = m.nv;
  for (int k = 0; k < 6 * n; ++k) out[k] = Wide<S>(0.0);
  if (m.body_treeid[b] < 0) return;
  const Vec3<S> r = narrow3<S>(pos - load3(e.xpos, m.tree_origin[m.body_treeid[b]]));
  const auto put = [&](int row, int i, const Vec3<S>& x) {
    out[row * n + i] = widen(x.x);
    out[(row + 1) * n + i] = widen(x.y);
    out[(row + 2) * n + i] = widen(x.z);
  };
  for (int i = m.body_lastdof[b]; i >= 0; i = m.dof_parentid[i]) {
    const Spatial<S> axis = load6(e.cdof, i);
    put(0, i, velocity_at(axis, r)), put(3, i, axis.a);
  }
}

STICTION_PHYSICS_END

// Delassus scale of a contact point.
#pragma once

#include "physics/tree/delassus.h"
#include "physics/tree/pair_bodies.h"

STICTION_PHYSICS_BEGIN

// Returns the velocity of the point at r per unit of dof i; rotations of a free joint are about world axes.
template <class S>
STICTION_FN Vec3<S> dof_velocity(const ModelView& m, const EnvView<S>& e, int i, const Vec3<S>& r) {
  const int first = m.dof_freerot[i];
  if (first < 0) return velocity_at(load6_aligned(e.cdof, i), r);
  return cross(unit3<S>(i - first), r - load3(e.xoff, m.dof_bodyid[i]));
}

template <class S>
STICTION_FN void add_outer(Sym3<S>& a, const S& weight, const Vec3<S>& u) {
  const Vec3<S> w = weight * u;
  a.xx = a.xx + w.x * u.x, a.yy = a.yy + w.y * u.y, a.zz = a.zz + w.z * u.z;
  a.xy = a.xy + w.x * u.y, a.xz = a.xz + w.x * u.z, a.yz = a.yz + w.y * u.z;
}

// Returns ‖a‖_F / 3.
template <class S>
STICTION_FN S mean_scale(const Sym3<S>& a) {
  const S diagonal = a.xx * a.xx + a.yy * a.yy + a.zz * a.zz;
  const S rest = a.xy * a.xy + a.xz * a.xz + a.yz * a.yz;
  return S(1.0 / 3.0) * vsqrt(diagonal + S(2.0) * rest);
}

// Returns J diag(A)⁻¹ Jᵀ of two bodies; velocity(dof, first): `first`, the dof moves body 1. Walks both paths to the
// root up to the common ancestor: the columns of dofs that move both bodies cancel.
template <class S, class F>
STICTION_FN Sym3<S> delassus_matrix(const ModelView& m, const EnvView<S>& e, const PairBodies& b,
                                    const F& velocity) {
  const S zero(0.0);
  Sym3<S> a{zero, zero, zero, zero, zero, zero};
  int i = m.body_lastdof[b.body1], j = m.body_lastdof[b.body2];
  while (i != j) {
    const bool first = i > j;
    int& dof = first ? i : j;
    add_outer(a, e.inv_diag[dof], velocity(dof, first));
    dof = m.dof_parentid[dof];
  }
  return a;
}

// Returns w = ‖J diag(A)⁻¹ Jᵀ‖_F / 3, the rotations of free joints in world axes; 0 if neither body can move.
template <class S>
STICTION_FN S point_delassus(const ModelView& m, const EnvView<S>& e, const PairBodies& b,
                             const Vec3<S>& r1, const Vec3<S>& r2) {
  return mean_scale(delassus_matrix(
      m, e, b, [&](int dof, bool first) { return dof_velocity(m, e, dof, first ? r1 : r2); }));
}

// Returns w_ω, the same for the angular velocity; 0 if neither body can rotate.
template <class S>
STICTION_FN S angular_delassus(const ModelView& m, const EnvView<S>& e, const PairBodies& b) {
  return mean_scale(delassus_matrix(m, e, b, [&](int dof, bool) {
    const int first = m.dof_freerot[dof];
    return first < 0 ? load6_aligned(e.cdof, dof).a : unit3<S>(dof - first);
  }));
}

STICTION_PHYSICS_END

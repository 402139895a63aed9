// Mass matrix by the composite rigid body algorithm, and A = M + δt D + δt² K.
//
// reads   xquat, xioff, cdof; masses, armature, damping, stiffness
// writes  cinert, crb, A
//
//   I_b = (m, m c, R diag(I) Rᵀ + m (c·c 1 - c cᵀ))   about O, c = centre of mass - O
//   Ic_b = I_b + Σ Ic_child
//   M_ij = S_j · Ic_b S_i    b the body of dof i, j on the path from i to the root; else 0
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"
#include "physics/tree/springs.h"

STICTION_PHYSICS_BEGIN

// Ten numbers: mass, first moment, second moment.
template <class S>
struct Inertia {
  S mass;
  Vec3<S> first;
  Sym3<S> second;
};

template <class S>
STICTION_FN Inertia<S> load_inertia(const S* a, int b) {
  const S* p = a + 10 * b;
  return {p[0], {p[1], p[2], p[3]}, {p[4], p[5], p[6], p[7], p[8], p[9]}};
}

template <class S>
STICTION_FN void store_inertia(S* a, int b, const Inertia<S>& i) {
  S* p = a + 10 * b;
  p[0] = i.mass, p[1] = i.first.x, p[2] = i.first.y, p[3] = i.first.z;
  store_sym3(p + 4, 0, i.second);
}
template <class S>
STICTION_FN Inertia<S> operator+(const Inertia<S>& a, const Inertia<S>& b) {
  const Sym3<S>&s = a.second, &t = b.second;
  return {a.mass + b.mass,
          a.first + b.first,
          {s.xx + t.xx, s.yy + t.yy, s.zz + t.zz, s.xy + t.xy, s.xz + t.xz, s.yz + t.yz}};
}

// Returns the momentum (about O, linear) of the motion u, or the force of the acceleration u.
template <class S>
STICTION_FN Spatial<S> operator*(const Inertia<S>& i, const Spatial<S>& u) {
  return {i.second * u.a + cross(i.first, u.l), i.mass * u.l - cross(i.first, u.a)};
}

template <class S>
STICTION_FN void body_inertia(const ModelView& m, EnvView<S>& e, int b) {
  S* p = e.cinert + 10 * b;
  if (m.body_treeid[b] < 0) {
    for (int k = 0; k < 10; ++k) p[k] = S(0.0);
    return;
  }
  const Quat<Wide<S>> w = load4(e.xquat, b);
  const Quat<S> q = {narrow<S>(w.w), narrow<S>(w.x), narrow<S>(w.y), narrow<S>(w.z)};
  const Mat3<S> r = matrix(q * load4(e.body_iquat, b));
  const Vec3<S> principal = load3(e.body_inertia, b);
  const Vec3<S> c = load3(e.xioff, b);
  const S mass = e.body_mass[b];
  const Vec3<S> mc = mass * c;
  const Vec3<S> x = principal.x * r.x, y = principal.y * r.y, z = principal.z * r.z;

  p[0] = mass, p[1] = mc.x, p[2] = mc.y, p[3] = mc.z;
  p[4] = x.x * r.x.x + y.x * r.y.x + z.x * r.z.x + (mc.y * c.y + mc.z * c.z);
  p[5] = x.y * r.x.y + y.y * r.y.y + z.y * r.z.y + (mc.x * c.x + mc.z * c.z);
  p[6] = x.z * r.x.z + y.z * r.y.z + z.z * r.z.z + (mc.x * c.x + mc.y * c.y);
  p[7] = x.x * r.x.y + y.x * r.y.y + z.x * r.z.y - mc.x * c.y;
  p[8] = x.x * r.x.z + y.x * r.y.z + z.x * r.z.z - mc.x * c.z;
  p[9] = x.y * r.x.z + y.y * r.y.z + z.y * r.z.z - mc.y * c.z;
}

// Writes row i of A: all columns up to the diagonal.
template <class S>
STICTION_FN void inertia_row(const ModelView& m, EnvView<S>& e, int i) {
  const Spatial<S> force = load_inertia(e.crb, m.dof_bodyid[i]) * load6_aligned(e.cdof, i);
  S* row = e.A + tri(i, 0);
  for (int j = 0; j < i; ++j) row[j] = S(0.0);
  const int* parent = m.dof_parentid;
  const S* cdof = e.cdof;
  for (int j = i; j >= 0; j = parent[j]) row[j] = dot(load6_aligned(cdof, j), force);
  row[i] = row[i] + e.dof_armature[i] + implicit_resistance(m, e, i);
}

template <class Team, class S>
STICTION_FN void inertia(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nbody, [&](int b) { body_inertia(m, e, b); });

  // leaves to root
  for (int l = m.nlevel - 1; l >= 0; --l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int i) {
      const int b = m.level_body[first + i];
      Inertia<S> sum = load_inertia(e.cinert, b);
      for (int c = m.child_adr[b]; c < m.child_adr[b + 1] && m.body_treeid[b] >= 0; ++c)
        sum = sum + load_inertia(e.crb, m.child_body[c]);
      store_inertia(e.crb, b, sum);
    });
  }
  team.for_each(m.nv, [&](int i) { inertia_row(m, e, i); });
}

STICTION_PHYSICS_END

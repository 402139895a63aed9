// Symmetric 6x6 matrices over (angular, linear) coordinates.
#pragma once

#include "physics/base/vec.h"

STICTION_PHYSICS_BEGIN

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

// Returns Φᵀ G Φ: ll = G, al = [r]× G, aa = [r]× G [r]×ᵀ.
template <class S>
STICTION_FN Sym6<S> about_origin(const Vec3<S>& r, const Sym3<S>& g) {
  const Vec3<S> x = cross(r, {g.xx, g.xy, g.xz}), y = cross(r, {g.xy, g.yy, g.yz}),
                z = cross(r, {g.xz, g.yz, g.zz});
  // rows of [r]× G are (x.k, y.k, z.k); each row w of aa is r × w
  const Vec3<S> p = cross(r, {x.x, y.x, z.x}), q = cross(r, {x.y, y.y, z.y}),
                s = cross(r, {x.z, y.z, z.z});
  return {{p.x, q.y, s.z, p.y, p.z, q.z}, {x, y, z}, g};
}

STICTION_PHYSICS_END

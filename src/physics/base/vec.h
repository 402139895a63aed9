// Small vectors and rotations over any number type. Quaternions are w x y z.
#pragma once

#include "physics/base/scalar.h"

STICTION_PHYSICS_BEGIN

template <class S>
struct Vec3 {
  S x, y, z;
};
template <class S>
struct Quat {
  S w, x, y, z;
};
// Columns: the axes of a frame, in coordinates of the outer frame.
template <class S>
struct Mat3 {
  Vec3<S> x, y, z;
};
// Symmetric 3x3.
template <class S>
struct Sym3 {
  S xx, yy, zz, xy, xz, yz;
};
// A spatial vector about the origin of a tree. Motion: angular velocity, linear velocity of the
// body-fixed point at the origin. Force: torque about the origin, force.
template <class S>
struct Spatial {
  Vec3<S> a, l;
};

template <class S>
STICTION_FN Vec3<S> zero3() {
  return {S(0.0), S(0.0), S(0.0)};
}
template <class S>
STICTION_FN Spatial<S> zero6() {
  return {zero3<S>(), zero3<S>()};
}

template <class S>
STICTION_FN Vec3<S> operator+(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class S>
STICTION_FN Vec3<S> operator-(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class S>
STICTION_FN Vec3<S> operator-(const Vec3<S>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class S>
STICTION_FN Vec3<S> operator*(const S& s, const Vec3<S>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class S>
STICTION_FN S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class S>
STICTION_FN Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class S>
STICTION_FN S norm2(const Vec3<S>& a) {
  return dot(a, a);
}
template <class S>
STICTION_FN S norm(const Vec3<S>& a) {
  return vsqrt(dot(a, a));
}
template <class S>
STICTION_FN Vec3<S> select(const Mask<S>& m, const Vec3<S>& a, const Vec3<S>& b) {
  return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}

template <class S>
STICTION_FN Spatial<S> operator+(const Spatial<S>& u, const Spatial<S>& v) {
  return {u.a + v.a, u.l + v.l};
}
template <class S>
STICTION_FN Spatial<S> operator-(const Spatial<S>& u, const Spatial<S>& v) {
  return {u.a - v.a, u.l - v.l};
}
template <class S>
STICTION_FN Spatial<S> operator*(const S& s, const Spatial<S>& u) {
  return {s * u.a, s * u.l};
}
// Returns the power of a force on a motion.
template <class S>
STICTION_FN S dot(const Spatial<S>& u, const Spatial<S>& v) {
  return dot(u.a, v.a) + dot(u.l, v.l);
}
// Returns u × v of two motions: (ω × ω', ω × v' + v × ω').
template <class S>
STICTION_FN Spatial<S> cross_motion(const Spatial<S>& u, const Spatial<S>& v) {
  return {cross(u.a, v.a), cross(u.a, v.l) + cross(u.l, v.a)};
}
// Returns u ×* f of a motion and a force: (ω × τ + v × f, ω × f).
template <class S>
STICTION_FN Spatial<S> cross_force(const Spatial<S>& u, const Spatial<S>& f) {
  return {cross(u.a, f.a) + cross(u.l, f.l), cross(u.a, f.l)};
}
// Returns the velocity at the point r, relative to the origin of the tree.
template <class S>
STICTION_FN Vec3<S> velocity_at(const Spatial<S>& v, const Vec3<S>& r) {
  return v.l + cross(v.a, r);
}

template <class S>
STICTION_FN Quat<S> operator*(const Quat<S>& p, const Quat<S>& q) {
  return {
      p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z, p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
      p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x, p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w};
}
template <class S>
STICTION_FN Quat<S> conjugate(const Quat<S>& q) {
  return {q.w, -q.x, -q.y, -q.z};
}
template <class S>
STICTION_FN Quat<S> normalized(const Quat<S>& q) {
  const S r = S(1.0) / vsqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return {r * q.w, r * q.x, r * q.y, r * q.z};
}
// Returns the rotation matrix of a unit quaternion.
template <class S>
STICTION_FN Mat3<S> matrix(const Quat<S>& q) {
  const S x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const S xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
  const S wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  return {{S(1.0) - (yy + zz), xy + wz, xz - wy},
          {xy - wz, S(1.0) - (xx + zz), yz + wx},
          {xz + wy, yz - wx, S(1.0) - (xx + yy)}};
}
template <class S>
STICTION_FN Vec3<S> operator*(const Mat3<S>& r, const Vec3<S>& v) {
  return v.x * r.x + v.y * r.y + v.z * r.z;
}
// Returns Rᵀ v.
template <class S>
STICTION_FN Vec3<S> transposed(const Mat3<S>& r, const Vec3<S>& v) {
  return {dot(r.x, v), dot(r.y, v), dot(r.z, v)};
}
template <class S>
STICTION_FN Vec3<S> rotate(const Quat<S>& q, const Vec3<S>& v) {
  return matrix(q) * v;
}
template <class S>
STICTION_FN Vec3<S> operator*(const Sym3<S>& a, const Vec3<S>& v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}

template <class S>
STICTION_FN Sym3<S> operator+(const Sym3<S>& a, const Sym3<S>& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

// Loads and stores of rows of an array: one address, constant offsets.
template <class S>
STICTION_FN Vec3<S> load3(const S* a, int i) {
  const S* const p = a + 3 * i;
  return {p[0], p[1], p[2]};
}
template <class S>
STICTION_FN void store3(S* a, int i, const Vec3<S>& v) {
  S* const p = a + 3 * i;
  p[0] = v.x, p[1] = v.y, p[2] = v.z;
}
template <class S>
STICTION_FN Quat<S> load4(const S* a, int i) {
  const S* const p = a + 4 * i;
  return {p[0], p[1], p[2], p[3]};
}
template <class S>
STICTION_FN void store4(S* a, int i, const Quat<S>& q) {
  S* const p = a + 4 * i;
  p[0] = q.w, p[1] = q.x, p[2] = q.y, p[3] = q.z;
}
template <class S>
STICTION_FN Spatial<S> load6(const S* a, int i) {
  const S* const p = a + 6 * i;
  return {load3(p, 0), load3(p, 1)};
}
// As load6, of fields whose rows are aligned to 8 bytes, as scratch is on a GPU: half as many load instructions.
template <class S>
STICTION_FN Spatial<S> load6_aligned(const S* a, int i) {
#ifdef __CUDA_ARCH__
  const float2* const p = reinterpret_cast<const float2*>(a + 6 * i);
  const float2 x = p[0], y = p[1], z = p[2];
  return {{x.x, x.y, y.x}, {y.y, z.x, z.y}};
#else
  return load6(a, i);
#endif
}
// Four numbers of a field whose rows are aligned to 16 bytes on a GPU.
template <class S>
struct Four {
  S x, y, z, w;
};
template <class S>
STICTION_FN Four<S> load4_aligned(const S* a, int i) {
#ifdef __CUDA_ARCH__
  const float4 p = reinterpret_cast<const float4*>(a)[i];
  return {p.x, p.y, p.z, p.w};
#else
  const S* const p = a + 4 * i;
  return {p[0], p[1], p[2], p[3]};
#endif
}
template <class S>
STICTION_FN void store6(S* a, int i, const Spatial<S>& v) {
  S* const p = a + 6 * i;
  store3(p, 0, v.a), store3(p, 1, v.l);
}
template <class S>
STICTION_FN Mat3<S> load9(const S* a, int i) {
  const S* const p = a + 9 * i;
  return {load3(p, 0), load3(p, 1), load3(p, 2)};
}
template <class S>
STICTION_FN void store9(S* a, int i, const Mat3<S>& r) {
  S* const p = a + 9 * i;
  store3(p, 0, r.x), store3(p, 1, r.y), store3(p, 2, r.z);
}
template <class S>
STICTION_FN Sym3<S> load_sym3(const S* a, int i) {
  const S* p = a + 6 * i;
  return {p[0], p[1], p[2], p[3], p[4], p[5]};
}
template <class S>
STICTION_FN void store_sym3(S* a, int i, const Sym3<S>& s) {
  S* p = a + 6 * i;
  p[0] = s.xx, p[1] = s.yy, p[2] = s.zz, p[3] = s.xy, p[4] = s.xz, p[5] = s.yz;
}
template <class S>
STICTION_FN Sym3<S> select_sym3(const Mask<S>& m, const Sym3<S>& a, const Sym3<S>& b) {
  return {select(m, a.xx, b.xx), select(m, a.yy, b.yy), select(m, a.zz, b.zz),
          select(m, a.xy, b.xy), select(m, a.xz, b.xz), select(m, a.yz, b.yz)};
}

template <class S>
STICTION_FN Vec3<Wide<S>> widen3(const Vec3<S>& v) {
  return {widen(v.x), widen(v.y), widen(v.z)};
}
template <class S>
STICTION_FN Vec3<S> narrow3(const Vec3<Wide<S>>& v) {
  return {narrow<S>(v.x), narrow<S>(v.y), narrow<S>(v.z)};
}

// Read and write one lane of a vector.
template <class W>
STICTION_FN Vec3<double> get_lane(const Vec3<W>& v, int lane) {
  return {get_lane(v.x, lane), get_lane(v.y, lane), get_lane(v.z, lane)};
}
template <class W>
STICTION_FN void set_lane(Vec3<W>& v, int lane, const Vec3<double>& x) {
  set_lane(v.x, lane, x.x), set_lane(v.y, lane, x.y), set_lane(v.z, lane, x.z);
}

template <class S>
STICTION_FN Vec3<S> scaled(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
template <class S>
STICTION_FN Vec3<S> abs3(const Vec3<S>& a) {
  return {vabs(a.x), vabs(a.y), vabs(a.z)};
}
template <class S>
STICTION_FN S largest(const Vec3<S>& a) {
  return vmax(vmax(a.x, a.y), a.z);
}
// Return the k-th coordinate, and the k-th unit vector.
template <class S>
STICTION_FN const S& coordinate(const Vec3<S>& a, int k) {
  return k == 0 ? a.x : k == 1 ? a.y : a.z;
}
template <class S>
STICTION_FN Vec3<S> unit3(int k) {
  return {S(k == 0 ? 1.0 : 0.0), S(k == 1 ? 1.0 : 0.0), S(k == 2 ? 1.0 : 0.0)};
}

STICTION_PHYSICS_END

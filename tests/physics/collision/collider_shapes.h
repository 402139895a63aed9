// Shapes of the reference as those of the colliders, alone or as a lane of a pack.
#pragma once

#include "reference/collision/geometry_oracle.h"
#include "cpu/pack.h"
#include "physics/contact/narrow.h"
#include "physics/env.h"

namespace stiction::test {

template <class W>
physics::Vec3<W> vec(const Vec3& v) {
  return {W(v.x()), W(v.y()), W(v.z())};
}
template <class W>
physics::Shape<W> shape(const reference::Shape& s) {
  return {vec<W>(s.size),
          vec<W>(s.pos),
          {vec<W>(s.rot.col(0)), vec<W>(s.rot.col(1)), vec<W>(s.rot.col(2))}};
}
template <class W>
void put(physics::Vec3<W>& p, int lane, const Vec3& v) {
  physics::set_lane(p, lane, vec<double>(v));
}
template <class W>
void put(physics::Shape<W>& p, int lane, const reference::Shape& s) {
  put(p.size, lane, s.size), put(p.pos, lane, s.pos);
  put(p.rot.x, lane, s.rot.col(0)), put(p.rot.y, lane, s.rot.col(1));
  put(p.rot.z, lane, s.rot.col(2));
}
template <class W>
Vec3 get(const physics::Vec3<W>& v, int lane) {
  const physics::Vec3<double> x = physics::get_lane(v, lane);
  return {x.x, x.y, x.z};
}

// The kind of a shape; its mesh is of the zoo, in all lanes.
template <class W = double>
physics::ShapeKind<W> kind(const reference::Shape& s) {
  static const Env<double> env(reference::test::zoo(), {});
  if (s.type != GeomType::mesh) return s.type;
  return {&env.m(), 0, W(reference::test::mesh_of(s))};
}

}  // namespace stiction::test

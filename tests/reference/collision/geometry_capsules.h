// Capsules along a given axis.
#pragma once

#include <cmath>

#include "reference/collision/geometry_oracle.h"

namespace stiction::reference::test {

// A capsule of the given half length along `axis`.
inline Shape capsule(double radius, double half, const Vec3& pos, const Vec3& axis) {
  const Quat turn = Quat::FromTwoVectors(Vec3::UnitZ(), axis);
  return {GeomType::capsule, Vec3(radius, half, 0), pos, turn.toRotationMatrix()};
}

// Turned about its own centre.
inline Shape turned(const Shape& s, const Vec3& turn) {
  return {s.type, s.size, s.pos, exp_quat(turn).toRotationMatrix() * s.rot};
}

// A capsule whose axis is turned by up to 0.5 rad from that of `a`, at all scales, or from the opposite of it.
inline Shape nearly_parallel(const Shape& a, Rng& rng) {
  Shape b = random_shape(rng, GeomType::capsule, 1);
  const Vec3 turn = random_vector(rng, std::pow(10, uniform(rng, -17, -0.5)));
  b.rot = exp_quat(turn).toRotationMatrix() * a.rot;
  return rng() % 2 == 0 ? b : turned(b, M_PI * b.rot.col(0));
}

// Of the axes, along the first; < 0 where there is none.
inline double overlap(const Shape& a, const Shape& b) {
  const double along = a.rot.col(2).dot(b.pos - a.pos);
  return std::min(a.size[1], along + b.size[1]) - std::max(-a.size[1], along - b.size[1]);
}

}  // namespace stiction::reference::test

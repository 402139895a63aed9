// Vectors and rotations, in double by default, shared by the model compiler and the reference engine.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>

#include "index.h"

namespace stiction {

using Vec3 = Eigen::Vector3d;
using Vec2 = Eigen::Vector2d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;
using Mat3X = Eigen::Matrix3Xd;
using RowMatX = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Quat = Eigen::Quaterniond;

// Makes a parameter non-deduced: functions of vectors take double unless another number type is given.
template <class T>
using Of = std::type_identity_t<T>;

// Returns row i of a row-major (n,3) or (n,4) array.
template <class Real = double>
Eigen::Matrix<Real, 3, 1> row3(Of<std::span<const Real>> a, int i) {
  const std::size_t k = at(3 * i);
  return {a[k], a[k + 1], a[k + 2]};
}
template <class Real = double>
Eigen::Quaternion<Real> row4(Of<std::span<const Real>> a, int i) {
  const std::size_t k = at(4 * i);
  return {a[k], a[k + 1], a[k + 2], a[k + 3]};
}
inline void set_row3(std::span<double> a, int i, const Vec3& v) {
  for (int k = 0; k < 3; ++k) a[at(3 * i + k)] = v[k];
}
inline void set_row4(std::span<double> a, int i, const Quat& q) {
  const std::size_t k = at(4 * i);
  a[k] = q.w(), a[k + 1] = q.x(), a[k + 2] = q.y(), a[k + 3] = q.z();
}

// [v]× : skew(v) * u = v × u
template <class Real = double>
Eigen::Matrix<Real, 3, 3> skew(const Of<Eigen::Matrix<Real, 3, 1>>& v) {
  Eigen::Matrix<Real, 3, 3> s;
  s << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return s;
}

// exp: rotation vector -> unit quaternion, (cos |r|/2, sin |r|/2 r/|r|), exact also at r = 0
template <class Real = double>
Eigen::Quaternion<Real> exp_quat(const Of<Eigen::Matrix<Real, 3, 1>>& r) {
  using std::cos, std::sin;
  const Real angle = r.norm();
  const Real s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
  return {cos(0.5 * angle), s * r.x(), s * r.y(), s * r.z()};
}

// log: unit quaternion -> rotation vector of length <= π
template <class Real = double>
Eigen::Matrix<Real, 3, 1> log_quat(const Of<Eigen::Quaternion<Real>>& q) {
  using std::atan2;
  const double sign = q.w() < 0 ? -1 : 1;
  const Eigen::Matrix<Real, 3, 1> v = sign * q.vec();
  const Real s = v.norm();
  if (s < 1e-8) return 2 * v;
  return 2 * atan2(s, sign * q.w()) / s * v;
}

}  // namespace stiction

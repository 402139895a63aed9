// The number type of the stages. Each stage is compiled twice, in separate inline namespaces: with Real =
// double it is the step, with Real = Dual (STICTION_DUAL) its derivative (jacobian.h). Whatever depends on
// the state, the control or the friction is Real; constants of the model and of the options are double.
#pragma once

#include "math.h"

#ifdef STICTION_DUAL
#include "reference/base/dual.h"
#define STICTION_REAL in_duals
namespace stiction::reference::inline in_duals {
using Real = Dual;
}
#else
#define STICTION_REAL in_doubles
namespace stiction::reference::inline in_doubles {
using Real = double;
}
#endif

namespace stiction::reference::inline STICTION_REAL {

using Vec2 = Eigen::Matrix<Real, 2, 1>;
using Vec3 = Eigen::Matrix<Real, 3, 1>;
using VecX = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Mat2 = Eigen::Matrix<Real, 2, 2>;
using Mat3 = Eigen::Matrix<Real, 3, 3>;
using Mat3X = Eigen::Matrix<Real, 3, Eigen::Dynamic>;
using MatX = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Quat = Eigen::Quaternion<Real>;
using Parameters = Eigen::Map<const Eigen::VectorXd>;  // constants of the model

using std::abs, std::sqrt, std::hypot, std::sin, std::cos, std::log, std::atan2;
using std::copysign, std::remainder, std::isfinite;

#ifdef STICTION_DUAL
inline double value(const Real& x) {
  return x.value;
}
inline Vec3 row3(std::span<const Real> a, int i) {
  return stiction::row3<Real>(a, i);
}
inline Quat row4(std::span<const Real> a, int i) {
  return stiction::row4<Real>(a, i);
}
inline Vec3 row3(std::span<const double> a, int i) {
  return stiction::row3(a, i).cast<Real>();
}
inline Quat row4(std::span<const double> a, int i) {
  return stiction::row4(a, i).cast<Real>();
}
inline Mat3 skew(const Vec3& v) {
  return stiction::skew<Real>(v);
}
inline Quat exp_quat(const Vec3& r) {
  return stiction::exp_quat<Real>(r);
}
inline Vec3 log_quat(const Quat& q) {
  return stiction::log_quat<Real>(q);
}
#else
inline double value(double x) {
  return x;
}
#endif

}  // namespace stiction::reference::inline STICTION_REAL

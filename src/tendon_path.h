// The path of a spatial tendon in a pose, and its length, as MuJoCo defines them. Used by the model compiler and
// the reference engine; the implementation of the batch is physics/actuation/wrapping.h.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include "math.h"
#include "stiction/model.h"

namespace stiction {

template <class T>
using Point2 = Eigen::Matrix<T, 2, 1>;
template <class T>
using Point3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using Axes3 = Eigen::Matrix<T, 3, 3>;

template <class T>
T cross2(const Point2<T>& a, const Point2<T>& b) {
  return a.x() * b.y() - a.y() * b.x();
}

// The path of a string that cannot cross a circle about the origin, between two points.
template <class T>
struct Detour {
  Point2<T> first, second;  // tangent points
  T arc;                    // length between them
};

inline constexpr double kLeastSine = 1e-15;  // sine of the angle up to which lines are parallel
// A point inside a circle by no more than this fraction of its squared radius counts as on it: if round-off let a
// tangent dip into the circle, the string would go all the way around.
inline constexpr double kTangential = 1e-12;

template <class T>
bool segments_meet(const Point2<T>& p1, const Point2<T>& p2, const Point2<T>& p3,
                   const Point2<T>& p4) {
  using std::abs;
  const Point2<T> u = p2 - p1, v = p4 - p3, w = p3 - p1;
  const T det = cross2<T>(u, v);
  if (!(abs(det) > kLeastSine * u.norm() * v.norm())) return false;
  const T a = cross2<T>(w, v) / det, b = cross2<T>(w, u) / det;
  return a >= 0 && a <= 1 && b >= 0 && b <= 1;
}

// The tangents from both points; the string goes around clockwise for `sign` = 1.
template <class T>
std::optional<Detour<T>> tangent_way(const Point2<T>& p0, const Point2<T>& p1, T r, int sign) {
  using std::atan2, std::sqrt;
  const auto touch = [&](const Point2<T>& p, int s) {
    const T c = p.norm() > r ? T(r / p.norm()) : T(1);
    const T along = r * c, across = r * (c < 1 ? T(sqrt(1 - c * c)) : T(0));
    const Point2<T> x = p.normalized();
    return Point2<T>(along * x + T(s) * across * Point2<T>(x.y(), -x.x()));
  };
  const Point2<T> first = touch(p0, sign), second = touch(p1, -sign);
  if (segments_meet<T>(p0, first, p1, second)) return {};
  T angle = T(-sign) * atan2(cross2<T>(first, second), first.dot(second));
  if (angle < 0) angle += 2 * std::numbers::pi;
  return Detour<T>{first, second, r * angle};
}

// Around the outside, if the straight line is blocked: the shorter way. With `side`, a unit vector, the
// string never crosses the opposite ray, as in MuJoCo 4.0.0: measured, its documentation gives no rule.
template <class T>
std::optional<Detour<T>> detour_outside(const Point2<T>& p0, const Point2<T>& p1,
                                        const std::optional<Point2<T>>& side, T r) {
  using std::atan2;
  const T surface = (1 - kTangential) * r * r;
  if (p0.squaredNorm() < surface || p1.squaredNorm() < surface || p0 == p1) return {};
  const Point2<T> d = p1 - p0;
  T a = -d.dot(p0) / d.squaredNorm();
  a = a < 0 ? T(0) : a > 1 ? T(1) : a;
  const Point2<T> nearest = p0 + a * d;
  if (nearest.squaredNorm() > surface) {
    if (!side) return {};
    const T c0 = cross2<T>(*side, p0), c1 = cross2<T>(*side, p1);
    if (!(c0 * c1 < 0) || !(side->dot(p0 + c0 / (c0 - c1) * d) < 0)) return {};
  }
  const std::optional<Detour<T>> ways[2] = {tangent_way<T>(p0, p1, r, 1),
                                            tangent_way<T>(p0, p1, r, -1)};
  if (side) {
    const auto angle = [&](const Point2<T>& p) {
      return T(atan2(cross2<T>(*side, p), side->dot(p)));
    };
    return ways[angle(p1) < angle(p0) ? 0 : 1];
  }
  const auto merit = [](const Detour<T>& way) { return -(way.first - way.second).squaredNorm(); };
  if (!ways[0] || !ways[1]) return ways[0] ? ways[0] : ways[1];
  return merit(*ways[0]) > merit(*ways[1]) ? ways[0] : ways[1];
}

// Along the inside: one point, where both segments make the same angle with the radius,
// asin(A z) + asin(B z) − 2 asin z + G = 0. MuJoCo's Newton method, whose tolerance is visible in the length.
template <class T>
std::optional<Detour<T>> detour_inside(const Point2<T>& p0, const Point2<T>& p1, T r) {
  using std::abs, std::atan2, std::cos, std::max, std::sin, std::sqrt;
  const auto asin = [](T x) { return T(atan2(x, T(sqrt((1 - x) * (1 + x))))); };
  const T n0 = p0.norm(), n1 = p1.norm();
  if (n0 <= r || n1 <= r) return {};
  const Point2<T> d = p1 - p0;
  if (d.squaredNorm() > 0) {
    const T a = -d.dot(p0) / d.squaredNorm();
    if (a > 0 && a < 1 && (p0 + a * d).norm() <= r) return {};
  }
  const T cosine = p0.dot(p1) / (n0 * n1);
  if (cosine < -1 + kLeastSine) return {};
  const Point2<T> middle = r * (p0 + p1).normalized();
  const Detour<T> otherwise{middle, middle, T(0)};
  if (cosine > 1 - kLeastSine) return otherwise;

  const T A = r / n0, B = r / n1, G = abs(atan2(cross2<T>(p0, p1), p0.dot(p1)));
  const auto f = [&](T z) { return T(asin(A * z) + asin(B * z) - 2 * asin(z) + G); };
  const auto cosine_of = [](T x) { return T(max(T(kLeastSine), T(sqrt(1 - x * x)))); };
  T z = 1 - 1e-7;
  if (f(z) > 0) return otherwise;
  for (int k = 0; abs(f(z)) > 1e-6; ++k) {
    const T slope = A / cosine_of(A * z) + B / cosine_of(B * z) - 2 / cosine_of(z);
    const T next = z - f(z) / slope;
    if (k == 19 || slope > -kLeastSine || next > z || f(next) > 1e-6) return otherwise;
    z = next;
  }
  const bool forward = cross2<T>(p0, p1) > 0;
  const T turn = asin(z) - asin((forward ? A : B) * z);
  const Point2<T> from = (forward ? p0 : p1).normalized();
  const Point2<T> touch(r * (cos(turn) * from.x() - sin(turn) * from.y()),
                        r * (sin(turn) * from.x() + cos(turn) * from.y()));
  return Detour<T>{touch, touch, T(0)};
}

// The detour in space, in the frame of the geom.
template <class T>
struct Around {
  Point3<T> first, second;
  T arc;
};
template <class T>
std::optional<Around<T>> around_geom(const Point3<T>& p0, const Point3<T>& p1, bool cylinder,
                                     const std::optional<Point3<T>>& side, T r) {
  using std::abs, std::sqrt;
  Point3<T> x = Point3<T>::UnitX(), y = Point3<T>::UnitY();
  if (!cylinder) {
    if (p0.norm() == 0) return {};
    x = p0.normalized();
    Point3<T> normal = p0.cross(p1);
    if (!(normal.norm() > kLeastSine * p0.norm() * p1.norm())) {
      // collinear: any plane through the line
      int largest = 0;
      if (abs(x[1]) > abs(x[0]) && abs(x[1]) > abs(x[2])) largest = 1;
      if (abs(x[2]) > abs(x[0]) && abs(x[2]) > abs(x[1])) largest = 2;
      Point3<T> other = Point3<T>::Ones();
      other[largest] = 0;
      normal = x.cross(other);
    }
    y = normal.cross(x).normalized();
  }
  const auto project = [&](const Point3<T>& p) { return Point2<T>(p.dot(x), p.dot(y)); };
  const Point2<T> d0 = project(p0), d1 = project(p1);
  std::optional<Point2<T>> direction;
  if (side) {
    const Point2<T> s = project(*side);
    direction = s.norm() > 0 ? Point2<T>(s.normalized()) : Point2<T>(T(1), T(0));
  }
  const auto way = side && side->norm() < r ? detour_inside<T>(d0, d1, r)
                                            : detour_outside<T>(d0, d1, direction, r);
  if (!way) return {};
  Around<T> a{way->first.x() * x + way->first.y() * y, way->second.x() * x + way->second.y() * y,
              way->arc};
  if (cylinder) {
    // a helix: the height changes linearly along the path
    const T l0 = (d0 - way->first).norm(), l1 = (d1 - way->second).norm();
    const T rise = (p1.z() - p0.z()) / (l0 + way->arc + l1);
    a.first.z() = p0.z() + rise * l0;
    a.second.z() = p0.z() + rise * (l0 + way->arc);
    const T height = rise * way->arc;
    a.arc = sqrt(a.arc * a.arc + height * height);
  }
  return a;
}

// A straight segment between points of two bodies, whose length counts `share` times: 1/divisor of a pulley.
template <class T>
struct Straight {
  int body1, body2;
  Point3<T> p1, p2;
  T share;

  Point3<T> direction() const {
    const T length = (p2 - p1).norm();
    return length > 0 ? Point3<T>((p2 - p1) / length) : Point3<T>(Point3<T>::UnitX());
  }
};
template <class T>
struct TendonPath {
  T length = 0;  // including arcs
  std::vector<Straight<T>> parts;
};

// Returns the path of tendon t; pos(b), axes(b): the frames of the bodies in the world.
template <class T, class Pos, class Axes>
TendonPath<T> tendon_path(const Model& m, int t, const Pos& pos, const Axes& axes) {
  TendonPath<T> path;
  const auto place = [&](int b, const Reals& offsets, int i) {
    return Point3<T>(pos(b) + axes(b) * row3(offsets, i).template cast<T>());
  };
  const auto site = [&](int i) { return place(m.site_bodyid[at(i)], m.site_pos, i); };
  T share = 1;
  const auto straight = [&](int body1, const Point3<T>& p1, int body2, const Point3<T>& p2) {
    path.parts.push_back({body1, body2, p1, p2, share});
    path.length += share * (p2 - p1).norm();
  };
  const int end = m.tendon_adr[at(t)] + m.tendon_num[at(t)];
  for (int k = m.tendon_adr[at(t)]; k < end - 1; ++k) {
    const WrapType next = m.wrap_type[at(k + 1)];
    if (m.wrap_type[at(k)] == WrapType::pulley) share = 1 / T(m.wrap_coef[at(k)]);
    if (m.wrap_type[at(k)] != WrapType::site || next == WrapType::pulley) continue;
    const bool around = next != WrapType::site;
    const int site1 = m.wrap_objid[at(k)], site2 = m.wrap_objid[at(around ? k + 2 : k + 1)];
    const int body1 = m.site_bodyid[at(site1)], body2 = m.site_bodyid[at(site2)];
    const Point3<T> p1 = site(site1), p2 = site(site2);
    if (around) {
      const int g = m.wrap_objid[at(k + 1)], body = m.geom_bodyid[at(g)];
      const int side = m.wrap_sideid[at(k + 1)];
      const Point3<T> centre = place(body, m.geom_pos, g);
      const Axes3<T> frame =
          axes(body) * row4(m.geom_quat, g).toRotationMatrix().template cast<T>();
      const auto local = [&](const Point3<T>& p) {
        return Point3<T>(frame.transpose() * (p - centre));
      };
      const auto way =
          around_geom<T>(local(p1), local(p2), next == WrapType::cylinder,
                         side < 0 ? std::nullopt : std::optional<Point3<T>>(local(site(side))),
                         T(m.geom_size[at(3 * g)]));
      if (way) {
        straight(body1, p1, body, centre + frame * way->first);
        path.length += share * way->arc;
        straight(body, centre + frame * way->second, body2, p2);
        continue;
      }
    }
    straight(body1, p1, body2, p2);
  }
  return path;
}

}  // namespace stiction

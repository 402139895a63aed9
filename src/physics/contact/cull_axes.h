// The second, closer cull of a pair of geoms neither of which is a plane: bounds their distance
// along the axes that separate boxes and capsules. Any unit axis m bounds the distance from below:
//   distance >= |m · d| − reach_1(m) − reach_2(m),   reach(m) = r + Σ h_k |m · u_k|
// and of a cylinder reach(m) = h |m · u| + r |m − (m · u) u|.
//
// reads   geom_off, xmat; geom_quat, geom_size
// writes  geom_bar
#pragma once

#include "physics/base/vec.h"
#include "physics/base/views.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

// A ball of radius r swept along n bars of half length h: n = 3 for a box and for the box around a mesh, 1 for a
// capsule, else 0. A cylinder is a disc swept along one bar.
template <class S>
struct Hull {
  int n;
  bool has_disc;
  Vec3<S> bar[3];
  S half[3], radius, disc;

  STICTION_FN S reach(const Vec3<S>& axis) const {
    S sum = radius;
    if (has_disc) sum = sum + disc * norm(axis - dot(bar[0], axis) * bar[0]);
    for (int k = 0; k < n; ++k) sum = sum + half[k] * vabs(dot(bar[k], axis));
    return sum;
  }
};

STICTION_FN int bar_count(const ModelView& m, int g) {
  const GeomType type = static_cast<GeomType>(m.geom_type[g]);
  if (type == GeomType::box || type == GeomType::mesh) return 3;
  return type == GeomType::capsule || type == GeomType::cylinder ? 1 : 0;
}

template <class S>
STICTION_FN void place_bars(const ModelView& m, EnvView<S>& e, int g) {
  const int n = bar_count(m, g);
  if (n == 0) return;
  const auto body = load9(e.xmat, m.geom_bodyid[g]);
  const auto q = load4(e.geom_quat, g);
  const Mat3<S> outer = {narrow3<S>(body.x), narrow3<S>(body.y), narrow3<S>(body.z)};
  const Mat3<S> local =
      matrix(Quat<S>{narrow<S>(q.w), narrow<S>(q.x), narrow<S>(q.y), narrow<S>(q.z)});
  store3(e.geom_bar, 3 * g, outer * (n == 1 ? local.z : local.x));
  if (n == 1) return;
  store3(e.geom_bar, 3 * g + 1, outer * local.y);
  store3(e.geom_bar, 3 * g + 2, outer * local.z);
}

template <class S>
STICTION_FN Hull<S> geom_hull(const ModelView& m, const EnvView<S>& e, int g) {
  Hull<S> hull;
  const auto size = load3(e.geom_size, g);
  hull.n = bar_count(m, g);
  hull.radius = S(hull.n == 0 ? static_cast<double>(m.geom_rbound[g]) : 0.0);
  hull.has_disc = m.geom_type[g] == static_cast<int>(GeomType::cylinder);
  hull.disc = hull.has_disc ? narrow<S>(size.x) : S(0.0);
  if (hull.n == 1) {
    hull.radius = hull.has_disc ? S(0.0) : narrow<S>(size.x);
    hull.bar[0] = load3(e.geom_bar, 3 * g), hull.half[0] = narrow<S>(size.y);
  } else if (hull.n == 3) {
    hull.bar[0] = load3(e.geom_bar, 3 * g), hull.half[0] = narrow<S>(size.x);
    hull.bar[1] = load3(e.geom_bar, 3 * g + 1), hull.half[1] = narrow<S>(size.y);
    hull.bar[2] = load3(e.geom_bar, 3 * g + 2), hull.half[2] = narrow<S>(size.z);
  }
  return hull;
}

// A unit axis from one hull to the other, and a lower bound on their distance along it.
template <class S>
struct Separation {
  S distance;
  Vec3<S> axis;
};

// Returns the best separation of two hulls whose centres are d apart, up to round-off.
template <class S>
STICTION_FN Separation<S> separation(const Hull<S>& a, const Hull<S>& b, const Vec3<S>& d) {
  const S none(-std::numeric_limits<double>::infinity());
  Separation<S> best{none, zero3<S>()};
  const auto take = [&](const S& s, const S& along, const Vec3<S>& axis) {
    const Mask<S> farther = s > best.distance;
    best.distance = select(farther, s, best.distance);
    best.axis = select<S>(farther, vcopysign(S(1.0), along) * axis, best.axis);
  };
  // tries the direction of any vector w; up to the length `least`, w counts as zero
  const auto consider = [&](const Vec3<S>& w, const S& least) {
    const S length = norm(w);
    const Mask<S> turns = length > least;
    const S along = dot(w, d), inverse = S(1.0) / select(turns, length, S(1.0));
    const S gap = vabs(along) - a.reach(w) - b.reach(w) + (a.radius + b.radius);
    const S s = gap * inverse - (a.radius + b.radius);
    take(select(turns, s, none), along, inverse * w);
  };
  const auto consider_bars = [&](const Hull<S>& hull, const Hull<S>& other) {
    for (int k = 0; k < hull.n; ++k) {
      const S along = dot(hull.bar[k], d);
      const S s = vabs(along) - hull.half[k] - hull.radius - other.reach(hull.bar[k]);
      take(s, along, hull.bar[k]);
      if (hull.n == 1) consider(d - along * hull.bar[k], S(1e-3) * vabs(along));
    }
  };
  consider(d, S(0.0));
  consider_bars(a, b);
  consider_bars(b, a);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < b.n; ++j) consider(cross(a.bar[i], b.bar[j]), S(1e-3));
  return best;
}

STICTION_PHYSICS_END

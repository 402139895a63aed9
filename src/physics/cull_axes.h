// The second, closer cull of a pair of geoms neither of which is a plane: how far they are apart
// along the axes that separate boxes and capsules. Any unit axis m bounds their distance from below:
//   distance >= |m · d| − reach_1(m) − reach_2(m),   reach(m) = r + Σ h_k |m · u_k|
//
// reads   geom_off, xmat; geom_quat, geom_size
#pragma once

#include "physics/vec.h"
#include "physics/views.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

// A ball of radius r swept along n bars of half length h: box 3, capsule and cylinder 1, others 0.
template <class S>
struct Hull {
  int n;
  Vec3<S> bar[3];
  S half[3], radius;

  STICTION_FN S reach(const Vec3<S>& axis) const {
    S sum = radius;
    for (int k = 0; k < n; ++k) sum = sum + half[k] * vabs(dot(bar[k], axis));
    return sum;
  }
};

template <class S>
STICTION_FN Hull<S> geom_hull(const ModelView& m, const EnvView<S>& e, int g) {
  Hull<S> hull;
  const GeomType type = static_cast<GeomType>(m.geom_type[g]);
  const auto size = load3(e.geom_size, g);
  const bool box = type == GeomType::box;
  const bool round = type == GeomType::capsule || type == GeomType::cylinder;
  hull.n = box ? 3 : round ? 1 : 0;
  hull.radius = S(0.0);
  if (!box && !round) hull.radius = S(static_cast<double>(m.geom_rbound[g]));
  if (round) hull.radius = narrow<S>(size.x);
  if (hull.n == 0) return hull;

  const auto body = load9(e.xmat, m.geom_bodyid[g]);
  const auto q = load4(e.geom_quat, g);
  const Mat3<S> outer = {narrow3<S>(body.x), narrow3<S>(body.y), narrow3<S>(body.z)};
  const Mat3<S> local =
      matrix(Quat<S>{narrow<S>(q.w), narrow<S>(q.x), narrow<S>(q.y), narrow<S>(q.z)});
  if (round) {
    hull.bar[0] = outer * local.z, hull.half[0] = narrow<S>(size.y);
    return hull;
  }
  hull.bar[0] = outer * local.x, hull.half[0] = narrow<S>(size.x);
  hull.bar[1] = outer * local.y, hull.half[1] = narrow<S>(size.y);
  hull.bar[2] = outer * local.z, hull.half[2] = narrow<S>(size.z);
  return hull;
}

// A lower bound on the distance of two hulls whose centres are d apart, but for round-off.
template <class S>
STICTION_FN S separation(const Hull<S>& a, const Hull<S>& b, const Vec3<S>& d) {
  const S none(-std::numeric_limits<double>::infinity());
  S best = none;
  // any vector, and below which length it counts as zero
  const auto consider = [&](const Vec3<S>& w, const S& least) {
    const S length = norm(w);
    const Mask<S> turns = length > least;
    const S gap = vabs(dot(w, d)) - a.reach(w) - b.reach(w) + (a.radius + b.radius);
    const S s = gap / select(turns, length, S(1.0)) - (a.radius + b.radius);
    best = vmax(select(turns, s, none), best);
  };
  const auto consider_bars = [&](const Hull<S>& hull, const Hull<S>& other) {
    for (int k = 0; k < hull.n; ++k) {
      const S along = dot(hull.bar[k], d);
      const S s = vabs(along) - hull.half[k] - hull.radius - other.reach(hull.bar[k]);
      best = vmax(s, best);
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

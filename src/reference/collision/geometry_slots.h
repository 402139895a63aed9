// Assigns up to four of some points to slots that persist under small motions: those farthest along four directions.
// geometry.h, "Mesh against a plane".
#pragma once

#include <array>

#include "reference/collision/geometry_flat.h"

namespace stiction::reference::inline STICTION_REAL {

// Corners closer than this fraction of the extent count as one.
inline constexpr double kSame = 1e-6;
// How much higher a vertex may be per unit of length that it is farther out.
inline constexpr double kPatchSlope = 0.02, kTiltedSlope = 0.5;
// Component along the edge of a direction away from it.
inline constexpr double kAslant = 0.02;

// Returns the directions d_k, about the normal of a face with the axes x and y.
inline std::array<Vec3, 4> directions(const Vec3& x, const Vec3& y) {
  const double angle = 52.5 * M_PI / 180;
  const Vec3 u = cos(angle) * x + sin(angle) * y, v = cos(angle) * y - sin(angle) * x;
  return {u, v, -u, -v};
}

// Returns the directions d_k, perpendicular to m.
inline std::array<Vec3, 4> directions(const Vec3& x, const Vec3& y, const Vec3& m) {
  std::array<Vec3, 4> d = directions(x, y);
  for (Vec3& w : d) w -= m.dot(w) * m;
  return d;
}

// Returns the index of the point farthest along m, the first one if tied; -1: there is none.
template <class Points, class Along>
int farthest(const Points& points, Real tie, const Along& along) {
  int best = -1;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (best < 0 || along(points[i]) > along(points[at(best)]) + tie) best = static_cast<int>(i);
  return best;
}

// Owners of the four slots, and these points in their order around the normal `up`.
struct Slots {
  std::array<int, 4> owner{-1, -1, -1, -1};
  std::array<std::vector<Vec3>, 4> along;  // the directions along which the owner is farthest
  std::vector<int> around;
};

// Finds the points farthest along d_k, then, while slots are free, the one farthest beyond an edge of those found.
// place(i): coordinates of a point; choose(w): the point farthest along w; ahead(w, i): how far i is along w.
template <class Place, class Choose, class Ahead>
Slots four_of(bool of_mesh, const std::array<Vec3, 4>& d, const Vec3& up, Real same,
              const Place& place, const Choose& choose, const Ahead& ahead) {
  Slots slots;
  const auto known = [&](int i) {
    return std::any_of(slots.around.begin(), slots.around.end(),
                       [&](int j) { return (place(i) - place(j)).norm() <= same; });
  };
  for (std::size_t k = 0; k < 4; ++k) {
    const int i = choose(d[k]);
    if (i < 0) continue;
    // for a mesh, a point found by several directions belongs to the one along which it is farthest
    const auto other = std::find_if(slots.owner.begin(), slots.owner.end(), [&](int j) {
      return j >= 0 && (place(i) - place(j)).norm() <= same;
    });
    const auto j = static_cast<std::size_t>(other - slots.owner.begin());
    if (j < 4 && !(of_mesh && d[k].dot(place(i)) > d[j].dot(place(i)))) {
      slots.along[j].push_back(d[k]);
      continue;
    }
    if (j < 4) {
      std::replace(slots.around.begin(), slots.around.end(), *other, i);
      std::swap(slots.along[k], slots.along[j]);
      *other = -1;
    }
    slots.owner[k] = i, slots.along[k].push_back(d[k]);
    if (!known(i)) slots.around.push_back(i);
  }
  while (slots.around.size() == 2 || slots.around.size() == 3) {
    int best = -1;
    std::size_t after = 0;
    Real most = same;
    Vec3 along = Vec3::Zero();
    for (std::size_t e = 0; e < slots.around.size(); ++e) {
      const int i = slots.around[e], j = slots.around[(e + 1) % slots.around.size()];
      Vec3 edge = place(j) - place(i);
      edge -= up.dot(edge) * up;
      if (!(edge.norm() > same)) continue;
      edge.normalize();
      const Vec3 out = edge.cross(up) + kAslant * edge;
      const int found = choose(out);
      const Real beyond = ahead(out, found) - std::max(ahead(out, i), ahead(out, j));
      if (beyond > most && !known(found)) best = found, most = beyond, along = out, after = e;
    }
    if (best < 0) break;
    const auto free = std::find(slots.owner.begin(), slots.owner.end(), -1) - slots.owner.begin();
    slots.owner[static_cast<std::size_t>(free)] = best;
    slots.along[static_cast<std::size_t>(free)] = {along};
    slots.around.insert(slots.around.begin() + static_cast<std::ptrdiff_t>(after) + 1, best);
  }
  return slots;
}

// The nearest of the points takes the signed distance, and the others come nearer by as much, as long as the slope to
// the touching point is at most kPatchSlope. If it is steeper, the nearest moves there and the others stay.
inline void settle(std::span<Witness> points, const Witness& touch) {
  Witness& nearest =
      *std::min_element(points.begin(), points.end(),
                        [](const auto& x, const auto& y) { return x.distance < y.distance; });
  const Real excess = nearest.distance - touch.distance;
  if (!(excess > 0)) return;
  const Vec3 n = touch.normal, way = touch.point1 - nearest.point1;
  const Real room = kPatchSlope * (way - n.dot(way) * n).norm();
  const Real share = room > 0 ? std::clamp<Real>(excess / room - 1, 0, 1) : Real(1);
  nearest.point1 += share * way;
  for (Witness& w : points) {
    w.distance -= &w == &nearest ? excess : (1 - share) * excess;
    w.point2 = w.point1 + w.distance * n;
  }
}

// A slot without a point repeats the first slot that has one, out of reach.
inline void repeat_first(std::span<Witness> points, const std::array<int, 4>& owner, Real extent) {
  std::size_t first = 0;
  while (first < 3 && owner[first] < 0) ++first;
  if (owner[first] < 0) first = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (owner[k] >= 0 || k == first) continue;
    points[k] = points[first],
    points[k].distance = std::max<Real>(0, points[first].distance) + extent;
    points[k].point2 = points[first].point1 + points[k].distance * points[first].normal;
  }
}

}  // namespace stiction::reference::inline STICTION_REAL

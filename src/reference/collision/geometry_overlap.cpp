// Faces of meshes against boxes, caps and other meshes. geometry.h defines the points.
#include <array>
#include <optional>

#include "reference/collision/geometry_slots.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Clips a convex polygon to the left of the line from p to q, keeping what is within the tie beside it; the third
// coordinate is a height.
std::vector<Vec3> cut(const std::vector<Vec3>& polygon, const Vec2& p, const Vec2& q, Real tie) {
  std::vector<Vec3> kept;
  const Vec2 edge = q - p;
  const Real length = edge.norm();
  if (!(length > 0)) return polygon;
  const auto left = [&](const Vec3& a) -> Real {
    return Flat::cross(edge, Vec2(a.x(), a.y()) - p) / length + tie;
  };
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3 &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const Real at_a = left(a), at_b = left(b);
    if (at_a >= 0) kept.push_back(a);
    if ((at_a >= 0) != (at_b >= 0)) kept.push_back(a + at_a / (at_a - at_b) * (b - a));
  }
  return kept;
}

// For a disc and a polygon facing it: the point of the rim along m, in the plane of the disc, if it is over the
// polygon.
std::optional<Vec3> rim_point(const Flat& disc, const std::vector<Vec3>& points, const Vec3& m,
                              Real tie) {
  std::vector<Vec2> polygon;
  for (const Vec3& p : points) polygon.push_back(disc.flattened(p));
  Real turning = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i)
    turning += Flat::cross(polygon[i], polygon[(i + 1) % polygon.size()]);
  const Vec2 rim = disc.half[0] * Vec2(disc.x.dot(m), disc.y.dot(m)).normalized();
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 edge = polygon[(i + 1) % polygon.size()] - polygon[i];
    const Real left = Flat::cross(edge, rim - polygon[i]) * (turning < 0 ? -1 : 1);
    if (left < -tie * edge.norm()) return std::nullopt;
  }
  return disc.placed(rim);
}

// Returns the points where the edges of the polygon enter and leave the disc.
std::vector<Vec3> crossings_of_rim(const Flat& disc, const std::vector<Vec3>& points) {
  std::vector<Vec3> found;
  const Real radius = disc.half[0];
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t j = (i + 1) % points.size();
    const Vec2 p = disc.flattened(points[i]), u = disc.flattened(points[j]) - p;
    const Real a = u.squaredNorm(), b = p.dot(u), c = p.squaredNorm() - radius * radius;
    if (!(a > 0) || b * b < a * c) continue;
    const Real root = sqrt(b * b - a * c);
    const Real low = std::max<Real>(0, (-b - root) / a), high = std::min<Real>(1, (-b + root) / a);
    if (low > high) continue;
    for (const Real& t : {low, high}) found.push_back(points[i] + t * (points[j] - points[i]));
  }
  return found;
}

}  // namespace

void overlap_points(const Flat& a, const Flat& b, Real extent, const Witness& touch,
                    std::span<Witness> out) {
  const Vec3 n = touch.normal;
  const Real tie = kAsFar * extent, least = touch.distance, same = kSame * extent;
  const bool by_b = a.disc || b.area() < a.area() * (1 - kAsFar);
  const Flat& turning = by_b ? b : a;
  std::array<Vec3, 4> d = directions(turning.slot_x, turning.slot_y, n);
  // on the surface of a; midway between the faces
  const auto gap_at = [&](const Vec3& p) -> Real {
    return b.normal.dot(b.centre - p) / b.normal.dot(n);
  };
  std::vector<Vec3> middle;
  std::vector<Real> gaps;
  const auto add = [&](const Vec3& p, bool on_b) {
    const Real gap = on_b ? a.height(p) : gap_at(p);
    gaps.push_back(gap), middle.push_back(p + (on_b ? -0.5 : 0.5) * gap * n);
  };
  const std::vector<Vec3> above = b.outline_points();
  const bool steep = a.steep() || b.steep();
  if (!steep) {
    if (a.disc) {
      for (const Vec3& p : crossings_of_rim(a, above)) add(p, true);
    } else {
      std::vector<Vec3> corners;
      for (const Vec3& p : a.outline_points()) {
        const Vec2 q = a.flattened(p);
        corners.emplace_back(q.x(), q.y(), a.height(p));
      }
      std::vector<Vec2> over;
      for (const Vec3& q : above) over.push_back(a.flattened(q));
      std::vector<Vec2> edges = over;
      std::reverse(edges.begin(), edges.end());  // b faces the opposite way
      const bool turned = a.x.cross(a.y).dot(a.normal) < 0;
      if (turned) std::reverse(edges.begin(), edges.end());
      for (std::size_t i = 0; i < edges.size() && !corners.empty(); ++i)
        corners = cut(corners, edges[i], edges[(i + 1) % edges.size()], tie);
      for (const Vec3& c : corners) {
        const Vec2 q(c.x(), c.y());
        // a corner of b keeps its true position, which is off the plane if b is a patch
        const int of_b = farthest(over, 0, [&](const Vec2& v) -> Real { return -(v - q).norm(); });
        if ((over[at(of_b)] - q).norm() <= 4 * tie)
          add(above[at(of_b)], true);
        else
          add(a.placed(q) + c.z() * n, false);
      }
    }
  }
  const auto ahead = [&](const Vec3& w, int i) -> Real { return w.dot(middle[at(i)]); };
  const auto choose = [&](const Vec3& w) {
    if (const auto rim = a.disc && !steep ? rim_point(a, above, w, tie) : std::nullopt)
      add(*rim, false);
    return farthest(middle, tie, [&](const Vec3& p) -> Real { return w.dot(p); });
  };
  const Slots slots = four_of(
      false, d, turning.slot_x.cross(turning.slot_y).dot(n) < 0 ? Vec3(-n) : n, same,
      [&](int i) -> const Vec3& { return middle[at(i)]; }, choose, ahead);
  const std::array<int, 4>& owner = slots.owner;
  for (std::size_t k = 0; k < 4; ++k) {
    if (owner[k] < 0) continue;
    const Real distance = std::max(gaps[at(owner[k])], least);
    const Vec3 p = middle[at(owner[k])], half = 0.5 * distance * n;
    out[k] = {p - half, p + half, n, distance};
  }
  if (middle.empty()) out[0] = touch;
  repeat_first(out, owner, extent);
  settle(out.first(4), touch);
}

}  // namespace stiction::reference::inline STICTION_REAL

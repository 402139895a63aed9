// Faces of meshes against planes, boxes, caps and other meshes. geometry.h defines the points.
#include <array>

#include "reference/collision/geometry_flat.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Corners that are closer than this share of the extent are one.
constexpr double kSame = 1e-6;
// A slope, rad.
constexpr double kTilt = 1e-3;

// d_k, about the normal of a face with the axes x and y.
std::array<Vec3, 4> directions(const Vec3& x, const Vec3& y) {
  const double angle = 52.5 * M_PI / 180;
  const Vec3 u = cos(angle) * x + sin(angle) * y, v = cos(angle) * y - sin(angle) * x;
  return {u, v, -u, -v};
}

// The index of the first of the points that are farthest along m; -1: there is none.
template <class Points, class Along>
int farthest(const Points& points, Real tie, const Along& along) {
  int best = -1;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (best < 0 || along(points[i]) > along(points[at(best)]) + tie) best = static_cast<int>(i);
  return best;
}

// What a convex polygon keeps on the left of the line from p to q, and within the tie beside it.
std::vector<Vec2> cut(const std::vector<Vec2>& polygon, const Vec2& p, const Vec2& q, Real tie) {
  std::vector<Vec2> kept;
  const Vec2 edge = q - p;
  const Real length = edge.norm();
  if (!(length > 0)) return polygon;
  const auto left = [&](const Vec2& a) -> Real { return Flat::cross(edge, a - p) / length + tie; };
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const Real at_a = left(a), at_b = left(b);
    if (at_a >= 0) kept.push_back(a);
    if ((at_a >= 0) != (at_b >= 0)) kept.push_back(a + at_a / (at_a - at_b) * (b - a));
  }
  return kept;
}

// Where the edges of a polygon enter and leave the disc, and the points of its rim along d_k.
std::vector<Vec2> corners_on_disc(const Flat& disc, const std::vector<Vec2>& polygon,
                                  const std::array<Vec3, 4>& d, Real tie) {
  std::vector<Vec2> found;
  const Real radius = disc.half[0];
  Real turning = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i)
    turning += Flat::cross(polygon[i], polygon[(i + 1) % polygon.size()]);
  for (const Vec3& m : d) {
    const Vec2 rim = radius * Vec2(disc.x.dot(m), disc.y.dot(m)).normalized();
    bool inside = true;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Vec2 edge = polygon[(i + 1) % polygon.size()] - polygon[i];
      const Real left = Flat::cross(edge, rim - polygon[i]) * (turning < 0 ? -1 : 1);
      inside = inside && left >= -tie * edge.norm();
    }
    if (inside) found.push_back(rim);
  }
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 p = polygon[i], u = polygon[(i + 1) % polygon.size()] - p;
    const Real a = u.squaredNorm(), b = p.dot(u), c = p.squaredNorm() - radius * radius;
    if (!(a > 0) || b * b < a * c) continue;
    const Real root = sqrt(b * b - a * c);
    const Real low = std::max<Real>(0, (-b - root) / a), high = std::min<Real>(1, (-b + root) / a);
    if (low > high) continue;
    found.push_back(p + low * u), found.push_back(p + high * u);
  }
  return found;
}

// The nearest of the points goes towards the one that touches, all the way where it is higher by more than
// kTilt of the way, and takes the signed distance.
void lean(std::span<Witness> points, const Witness& touch) {
  Witness& w = *std::min_element(points.begin(), points.end(), [](const auto& x, const auto& y) {
    return x.distance < y.distance;
  });
  const Real excess = w.distance - touch.distance;
  if (!(excess > 0)) return;
  const Vec3 n = touch.normal, from = 0.5 * (w.point1 + w.point2);
  const Vec3 to = 0.5 * (touch.point1 + touch.point2), way = to - from;
  const Real length = (way - n.dot(way) * n).norm();
  if (excess >= kTilt * length) {
    w = touch;
    return;
  }
  const Vec3 middle = from + excess / (kTilt * length) * way, half = 0.5 * touch.distance * n;
  w = {middle - half, middle + half, n, touch.distance};
}

}  // namespace

void overlap_points(const Flat& a, const Flat& b, Real extent, const Witness& touch,
                    std::span<Witness> out) {
  const Vec3 n = touch.normal;
  const Real tie = kAsFar * extent, least = touch.distance;
  std::vector<Vec2> corners;  // in the plane of a
  std::array<Vec3, 4> d{};
  if (!a.steep() && !b.steep()) {
    const bool by_b = a.disc || b.area() < a.area() * (1 - kAsFar);
    d = by_b ? directions(b.x, b.y) : directions(a.x, a.y);
    for (Vec3& m : d) m -= n.dot(m) * n;
    std::vector<Vec2> over;
    for (const Vec2& q : b.outline()) over.push_back(a.flattened(b.placed(q)));
    if (a.disc) {
      corners = corners_on_disc(a, over, d, tie);
    } else {
      std::reverse(over.begin(), over.end());  // b looks the other way
      const bool turned = a.x.cross(a.y).dot(a.normal) < 0;
      if (turned) std::reverse(over.begin(), over.end());
      corners = a.outline();
      for (std::size_t i = 0; i < over.size() && !corners.empty(); ++i)
        corners = cut(corners, over[i], over[(i + 1) % over.size()], tie);
    }
  }
  const auto place = [&](const Vec2& q) {
    const Vec3 p = a.placed(q);
    const Real gap = b.normal.dot(b.centre - p) / b.normal.dot(n), distance = std::max(gap, least);
    const Vec3 middle = p + 0.5 * gap * n, half = 0.5 * distance * n;
    return Witness{middle - half, middle + half, n, distance};
  };
  std::array<int, 4> taken{-1, -1, -1, -1};
  for (std::size_t k = 0; k < 4; ++k) {
    const int i = farthest(corners, tie, [&](const Vec2& q) { return d[k].dot(a.placed(q)); });
    bool known = i < 0;
    for (std::size_t j = 0; j < k; ++j)
      known = known || (corners[at(taken[j])] - corners[at(i)]).norm() <= kSame * extent;
    taken[k] = i;
    if (!known) {
      out[k] = place(corners[at(i)]);
      continue;
    }
    out[k] = k == 0 ? touch : out[0];
    if (k == 0) continue;
    out[k].distance = std::max<Real>(0, out[0].distance) + extent;
    out[k].point2 = out[k].point1 + out[k].distance * n;
  }
  lean(out.first(4), touch);
}

Witness plane_corners(const Shape& plane, const Shape& mesh, std::span<Witness> out) {
  const Vec3 n = plane.rot.col(2);
  const Real extent = mesh.size.sum(), tie = kAsFar * extent;
  const auto witness = [&](const Vec3& p) {
    const Real distance = n.dot(p - plane.pos);
    return Witness{p - distance * n, p, n, distance};
  };
  const Flat face(mesh, -n);
  const auto along = [&](const Vec3& m) {
    return [&face, m](const Vec2& q) -> Real { return m.dot(face.placed(q)); };
  };
  std::vector<int> all(at(mesh.hull.vertices()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  const auto height = [&](int i) -> Real { return -n.dot(mesh.rot * mesh.hull.vertex(i)); };
  const Witness deepest = witness(mesh.pos + mesh.rot * mesh.hull.vertex(farthest(all, 0, height)));
  std::array<int, 4> taken{};
  const std::array<Vec3, 4> d = directions(face.x, face.y);
  for (std::size_t k = 0; k < 4; ++k) {
    const int i = farthest(face.polygon, tie, along(d[k] - n.dot(d[k]) * n));
    bool known = false;
    for (std::size_t j = 0; j < k; ++j)
      known = known || (face.polygon[at(taken[j])] - face.polygon[at(i)]).norm() <= kSame * extent;
    taken[k] = i;
    out[k] = witness(mesh.pos + mesh.rot * mesh.hull.vertex(face.corners[at(i)]));
    if (known) {
      out[k] = out[0], out[k].distance = std::max<Real>(0, out[0].distance) + extent;
      out[k].point2 = out[k].point1 + out[k].distance * n;
    }
  }
  return deepest;
}

void collide_plane_mesh(const Shape& plane, const Shape& mesh, std::span<Witness> out) {
  const Witness deepest = plane_corners(plane, mesh, out);
  lean(out.first(4), deepest);
}

}  // namespace stiction::reference::inline STICTION_REAL

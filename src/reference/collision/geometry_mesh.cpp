// The vertices of a mesh near a plane. geometry.h defines the points.
#include <array>
#include <optional>

#include "reference/collision/geometry_slots.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// A point lies between two vertices if they differ along a direction by less than this fraction of kPatchSlope times
// the length of the edge between them.
constexpr double kBetween = 0.1;
// For a mesh seen along m, both in its frame: the vertices farthest along m + kPatchSlope d.
Slots patch(const Shape& mesh, const Vec3& m) {
  std::vector<Vec3> vertices;
  for (int i = 0; i < mesh.hull.vertices(); ++i) vertices.push_back(mesh.hull.vertex(i));
  const auto [x, y] = slot_axes(m);
  const auto ahead = [&](const Vec3& w, int i) -> Real {
    return m.dot(vertices[at(i)]) / kPatchSlope + w.dot(vertices[at(i)]);
  };
  const auto choose = [&](const Vec3& w) {
    return farthest(vertices, 0,
                    [&](const Vec3& p) -> Real { return Vec3(m + kPatchSlope * w).dot(p); });
  };
  return four_of(
      true, directions(x, y, m), m, kSame * mesh.size.sum(),
      [&](int i) -> const Vec3& { return vertices[at(i)]; }, choose, ahead);
}

// For a mesh seen along m, in its frame: the vertex farthest along m + kPatchSlope w, moved towards those at the other
// ends of its edges that are as far.
Vec3 moved_vertex(const Hull& hull, int top, const Vec3& m, const Vec3& w) {
  std::vector<bool> beside(at(hull.vertices()), false);
  for (std::size_t t = 0; t < hull.triangle.size(); t += 3) {
    const auto corners = hull.triangle.subspan(t, 3);
    if (std::find(corners.begin(), corners.end(), top) == corners.end()) continue;
    for (const int i : corners) beside[at(i)] = i != top;
  }
  const Vec3 p = hull.vertex(top);
  Vec3 moved = p;
  Real total = 1;
  for (int i = 0; i < hull.vertices(); ++i) {
    if (!beside[at(i)]) continue;
    const Vec3 edge = hull.vertex(i) - p;
    const Real behind = -(m / kPatchSlope + w).dot(edge) / edge.norm();
    if (behind >= kBetween) continue;
    moved += (1 - behind / kBetween) * hull.vertex(i), total += 1 - behind / kBetween;
  }
  return moved / total;
}

}  // namespace

std::pair<Vec3, Vec3> slot_axes(const Vec3& m) {
  int k = 0;
  for (int i = 1; i < 3; ++i)
    if (abs(m[i]) > abs(m[k]) + 1e-9) k = i;
  const Vec3 x = Vec3::Unit((k + 1) % 3), y = Vec3::Unit((k + 2) % 3);
  return {x, m[k] < 0 ? Vec3(-y) : y};
}

std::vector<int> vertices_near(const Shape& mesh, const Vec3& m) {
  return patch(mesh, m).around;
}

bool points_on_flat(const Flat& a, const Shape& mesh, const Witness& touch,
                    std::span<Witness> out) {
  if (!a.corners.empty() || a.normal.dot(touch.normal) < 1 - 1e-12) return false;
  Shape plane{GeomType::plane, Vec3::Zero(), a.centre, Mat3::Identity()};
  plane.rot.col(2) = touch.normal;
  std::array<Witness, 4> points;
  plane_corners(plane, mesh, points);
  for (const Witness& w : points)
    if (a.away(w.point1) > 0) return false;
  std::copy(points.begin(), points.end(), out.begin());
  settle(out.first(4), touch);
  return true;
}

Witness plane_corners(const Shape& plane, const Shape& mesh, std::span<Witness> out) {
  const Vec3 n = plane.rot.col(2), m = mesh.rot.transpose() * -n;
  const Real same = kSame * mesh.size.sum();
  const auto farthest_along = [&](const Vec3& w) {
    int best = 0;
    for (int i = 1; i < mesh.hull.vertices(); ++i)
      if (w.dot(mesh.hull.vertex(i)) > w.dot(mesh.hull.vertex(best))) best = i;
    return best;
  };
  const Slots slots = patch(mesh, m);
  const auto [x, y] = slot_axes(m);
  const std::array<Vec3, 4> d = directions(x, y, m);
  std::array<std::optional<Vec3>, 4> points;
  for (std::size_t k = 0; k < 4; ++k) {
    if (slots.owner[k] < 0) continue;
    const Vec3 vertex = mesh.hull.vertex(slots.owner[k]);
    for (const Vec3& w : slots.along[k]) {  // the one that moves the vertex least
      const Vec3 moved = moved_vertex(mesh.hull, slots.owner[k], m, w);
      if (!points[k] || (moved - vertex).norm() < (*points[k] - vertex).norm()) points[k] = moved;
    }
  }
  const auto offer = [&](std::size_t k, const Vec3& p) {
    const bool known = std::any_of(points.begin(), points.end(),
                                   [&](const auto& q) { return q && (*q - p).norm() <= same; });
    if (!points[k] && !known) points[k] = p;
  };
  const auto covered = [&](const Vec3& p) {
    const std::size_t count = slots.around.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3 from = mesh.hull.vertex(slots.around[i]), way = p - from;
      const Vec3 side = mesh.hull.vertex(slots.around[(i + 1) % count]) - from;
      const Vec3 away = side.cross(m);
      if (away.dot(way) > same * away.norm() || (count == 2 && side.dot(way) < 0)) return false;
    }
    return count > 1;
  };
  for (std::size_t k = 0; k < 4; ++k) {
    const Vec3 p = moved_vertex(mesh.hull, farthest_along(m + kPatchSlope * d[k]), m, d[k]);
    if (!covered(p)) offer(k, p);
  }
  for (std::size_t k = 0; k < 4; ++k)
    offer(k, mesh.hull.vertex(farthest_along(m + kTiltedSlope * d[k])));
  const auto witness = [&](const Vec3& local) {
    const Vec3 p = mesh.pos + mesh.rot * local;
    const Real distance = n.dot(p - plane.pos);
    return Witness{p - distance * n, p, n, distance};
  };
  std::array<int, 4> owner{};
  for (std::size_t k = 0; k < 4; ++k) {
    owner[k] = points[k] ? 0 : -1;
    if (points[k]) out[k] = witness(*points[k]);
  }
  repeat_first(out, owner, mesh.size.sum());
  return witness(mesh.hull.vertex(farthest_along(m)));
}

void collide_plane_mesh(const Shape& plane, const Shape& mesh, std::span<Witness> out) {
  const Witness deepest = plane_corners(plane, mesh, out);
  settle(out.first(4), deepest);
}

}  // namespace stiction::reference::inline STICTION_REAL

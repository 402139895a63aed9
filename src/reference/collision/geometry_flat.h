// The feature that a shape presents to another one: a cap, a side of a box, a face of a mesh; and what lies over it.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {

// Vertices and normals of a mesh that differ by less than this fraction count as equal.
inline constexpr double kAsFar = 1e-9;

inline bool has_faces(const Shape& s) {
  return s.type == GeomType::box || s.type == GeomType::mesh;
}
inline bool shows_cap(const Shape& s, const Vec3& n) {
  return s.type == GeomType::cylinder && abs(s.rot.col(2).dot(n)) >= sqrt(0.5);
}

// Returns the two axes of a mesh's frame that follow the axis closest to m, ordered so that their product is along m.
std::pair<Vec3, Vec3> slot_axes(const Vec3& m);
// Returns the vertices of a mesh near a plane that it faces along m, both in its frame; counterclockwise.
std::vector<int> vertices_near(const Shape& mesh, const Vec3& m);

// The flat feature of a shape facing along m: a disc of radius half[0], a rectangle, or a polygon, whose corners may
// be off the plane if it is a patch of a mesh.
struct Flat {
  bool disc;
  Vec3 centre, normal, x, y;
  Vec2 half;
  std::vector<Vec2> polygon;  // of a mesh: its corners about centre, seen along m, counterclockwise
  std::vector<Vec3> corners;  // the same corners at their true positions
  Vec3 m;
  Vec3 slot_x, slot_y;  // the axes that rotate the slots

  Flat(const Shape& s, const Vec3& along) : disc(s.type == GeomType::cylinder), m(along) {
    const Vec3 c = s.rot.transpose() * m;
    if (s.type == GeomType::mesh) {
      take_face(s, c);
      return;
    }
    int k = 2;
    if (!disc) {  // the face closest to m, the first one if tied
      k = 0;
      for (int i = 1; i < 3; ++i)
        if (abs(c[i]) > abs(c[k]) + 1e-9) k = i;
    }
    normal = (c[k] < 0 ? -1 : 1) * s.rot.col(k);
    centre = s.pos + s.size[disc ? 1 : k] * normal;
    if (disc) {
      const Real sine = hypot(c[0], c[1]);
      const Vec3 deepest = sine > 1e-12 ? Vec3(c[0] / sine, c[1] / sine, 0) : Vec3::UnitX();
      x = s.rot * deepest, y = s.rot.col(2).cross(x);
      half = {s.size[0], s.size[0]};
    } else {
      x = s.rot.col((k + 1) % 3), y = s.rot.col((k + 2) % 3);
      half = {s.size[(k + 1) % 3], s.size[(k + 2) % 3]};
    }
    slot_x = x, slot_y = y;
  }
  // Returns the height above the plane, measured along m.
  Real height(const Vec3& p) const { return normal.dot(p - centre) / normal.dot(m); }
  // Returns the projection along m onto the plane.
  Vec2 flattened(const Vec3& p) const {
    const Vec3 q = p - height(p) * m - centre;
    return {x.dot(q), y.dot(q)};
  }
  Real away(const Vec3& p) const {
    const Vec2 q = flattened(p);
    if (disc) return std::max<Real>(0, q.norm() - half[0]);
    return (q - q.cwiseMax(-half).cwiseMin(half)).norm();
  }
  // The part of p + t u, low <= t <= high, over the feature as seen along m.
  using Part = std::pair<Real, Real>;
  std::optional<Part> over(const Vec3& p, const Vec3& u, Real low, Real high) const {
    if (steep()) return std::nullopt;
    const Vec2 q = flattened(p), d = flattened(p + u) - q;
    if (!polygon.empty()) {
      for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Vec2 edge = polygon[(i + 1) % polygon.size()] - polygon[i];
        const Real at_p = cross(edge, q - polygon[i]), slope = cross(edge, d);  // left of it: >= 0
        if (slope == 0 && at_p < 0) return std::nullopt;
        if (slope > 0) low = std::max(low, -at_p / slope);
        if (slope < 0) high = std::min(high, -at_p / slope);
      }
    } else if (disc) {
      const Real a = d.squaredNorm(), b = q.dot(d), c = q.squaredNorm() - half[0] * half[0];
      if (a == 0) return c <= 0 ? std::optional(Part{low, high}) : std::nullopt;
      if (b * b < a * c) return std::nullopt;
      const Real root = sqrt(b * b - a * c);
      low = std::max(low, (-b - root) / a), high = std::min(high, (-b + root) / a);
    } else {
      for (int k = 0; k < 2; ++k) {
        if (d[k] == 0) {
          if (abs(q[k]) > half[k]) return std::nullopt;
          continue;
        }
        const Real side = copysign(half[k], d[k]);
        low = std::max(low, (-side - q[k]) / d[k]), high = std::min(high, (side - q[k]) / d[k]);
      }
    }
    return low <= high ? std::optional(Part{low, high}) : std::nullopt;
  }
  // Seen nearly edge-on, a plane does not define heights.
  bool steep() const { return normal.dot(m) < 1e-3; }
  static Real cross(const Vec2& a, const Vec2& b) { return a[0] * b[1] - a[1] * b[0]; }
  Vec3 placed(const Vec2& q) const { return centre + q[0] * x + q[1] * y; }
  Vec3 rim(int quarter) const {
    return centre + (quarter < 2 ? 1 : -1) * half[0] * (quarter % 2 == 0 ? x : y);
  }
  Vec3 vertex(int i) const {
    return centre + (i == 1 || i == 2 ? half[0] : -half[0]) * x + (i >= 2 ? half[1] : -half[1]) * y;
  }
  // Returns the corners of the outline at their true positions.
  std::vector<Vec3> outline_points() const {
    if (!corners.empty()) return corners;
    std::vector<Vec3> points;
    for (const Vec2& q : outline()) points.push_back(placed(q));
    return points;
  }
  // Corners of the rectangle or polygon, counterclockwise about x × y.
  std::vector<Vec2> outline() const {
    if (!polygon.empty()) return polygon;
    return {{-half[0], -half[1]}, {half[0], -half[1]}, half, {-half[0], half[1]}};
  }
  Real area() const {
    const std::vector<Vec2> line = outline();
    Real twice = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      twice += cross(line[i], line[(i + 1) % line.size()]);
    return abs(twice) / 2;
  }

 private:
  // c: m in the frame of the mesh.
  void take_face(const Shape& s, const Vec3& c) {
    const Hull& hull = s.hull;
    Real highest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < hull.vertices(); ++i) highest = std::max(highest, c.dot(hull.vertex(i)));
    const auto touches = [&](int i) {
      return c.dot(hull.vertex(i)) >= highest - kAsFar * s.size.sum();
    };
    Real closest = -2;
    int face = 0;
    for (int f = 0; f < hull.faces(); ++f) {
      if (c.dot(hull.face_normal(f)) <= closest + kAsFar) continue;
      const auto of_face = hull.corners(f);
      if (std::none_of(of_face.begin(), of_face.end(), touches)) continue;
      closest = c.dot(hull.face_normal(f)), face = f;
    }
    const std::span<const int> of_face = hull.corners(face);
    std::vector<int> around(of_face.begin(), of_face.end());
    Vec3 n = hull.face_normal(face);
    const std::vector<int> near = vertices_near(s, c);
    const bool flat = std::all_of(near.begin(), near.end(), [&](int v) {
      return std::find(around.begin(), around.end(), v) != around.end();
    });
    if (near.size() >= 3 && !flat) {
      around = near;
      const auto to = [&](std::size_t i) -> Vec3 {
        return hull.vertex(near[i]) - hull.vertex(near[0]);
      };
      n = near.size() == 4 ? to(2).cross(Vec3(to(3) - to(1))) : to(1).cross(to(2));
      n.normalize();
    }
    const auto [along, beside] = slot_axes(c);
    Real outermost = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < hull.vertices(); ++i)
      outermost = std::max(outermost, n.dot(hull.vertex(i)));
    normal = s.rot * n, slot_x = s.rot * along, slot_y = s.rot * beside;
    x = (slot_x - normal.dot(slot_x) * normal).normalized(), y = normal.cross(x);
    centre = s.pos + s.rot * (outermost * n);
    for (const int i : around) {
      corners.push_back(s.pos + s.rot * hull.vertex(i));
      polygon.push_back(flattened(corners.back()));
    }
    half.setZero();
  }
};

// geometry_mesh.cpp: four points of a mesh if all are over a cap or the face of a box; false: they are not.
bool points_on_flat(const Flat& a, const Shape& mesh, const Witness& touch, std::span<Witness> out);
// Four points of the overlap of two faces, the second of which belongs to a mesh.
void overlap_points(const Flat& a, const Flat& b, Real extent, const Witness& touch,
                    std::span<Witness> out);

}  // namespace stiction::reference::inline STICTION_REAL

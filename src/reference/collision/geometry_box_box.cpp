// Box against box: the least separating translation, and the overlap of the facing faces.
// geometry.h defines the eight points; everything here is in the frame of the first box.
#include <limits>
#include <vector>

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Tolerance below which cosines count as equal: far above round-off, far below what matters.
constexpr double kAsClose = 1e-9;

struct Box {
  Vec3 centre, half;
  Mat3 axes;

  // Returns the maximum of m·x over the box.
  Real support(const Vec3& m) const {
    return m.dot(centre) + half.dot((axes.transpose() * m).cwiseAbs());
  }
  Vec3 vertex(int i) const {
    const Vec3 sign(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    return centre + axes * sign.cwiseProduct(half);
  }
  // Edge i is parallel to axis i / 4.
  Segment edge(int i) const {
    const int k = i / 4;
    const Vec3 sign =
        (i & 1 ? 1 : -1) * Vec3::Unit((k + 1) % 3) + (i & 2 ? 1 : -1) * Vec3::Unit((k + 2) % 3);
    return {centre + axes * sign.cwiseProduct(half), axes.col(k), half[k]};
  }
};

// The direction along which the boxes are farthest apart, from a to b, and the distance along it.
struct Direction {
  Vec3 normal;
  Real distance;
};

Real separation(const Box& a, const Box& b, const Vec3& m) {
  return -b.support(-m) - a.support(m);
}

// Returns the axis of least translation: the normal of a face, or the common perpendicular of two edges if
// it is shallower than every face by more than round-off.
Direction least_translation(const Box& a, const Box& b, Real tie) {
  Direction best{Vec3::UnitX(), -kInfinity};
  const auto consider = [&](const Vec3& axis, Real margin) {
    const Vec3 m = axis.dot(b.centre - a.centre) < 0 ? Vec3(-axis) : axis;
    const Real s = separation(a, b, m);
    if (s > best.distance + margin) best = {m, s};
  };
  for (int k = 0; k < 3; ++k) consider(a.axes.col(k), tie);
  for (int k = 0; k < 3; ++k) consider(b.axes.col(k), tie);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vec3 cross = a.axes.col(i).cross(b.axes.col(j));
      const Real length = cross.norm();
      if (length > 0) consider(cross / length, tie);
    }
  }
  return best;
}

// Nearest points of two separated boxes: a vertex and a point of the other box, or points of
// two edges. Every candidate is a pair of points, so the nearest candidate is the answer.
Direction nearest_points(const Box& a, const Box& b) {
  Vec3 best = b.vertex(0) - a.vertex(0);
  const auto consider = [&](const Vec3& d) {
    if (d.squaredNorm() < best.squaredNorm()) best = d;
  };
  const auto onto = [](const Vec3& p, const Box& box) -> Vec3 {
    const Vec3 q = box.axes.transpose() * (p - box.centre);
    return box.axes * (q - q.cwiseMax(-box.half).cwiseMin(box.half));
  };
  for (int i = 0; i < 8; ++i) {
    consider(onto(b.vertex(i), a));
    consider(-onto(a.vertex(i), b));
  }
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      const Segment e = a.edge(i), f = b.edge(j);
      const Vec3 w = e.dir.cross(f.dir), d = f.centre - e.centre;
      const Real sine2 = w.squaredNorm();
      const Real s = d.cross(f.dir).dot(w) / sine2;
      if (!(abs(s) <= e.half)) continue;
      // nearly parallel edges: projecting onto the edges again restores the precision that s lacks
      const Vec3 q = f.at(f.nearest(e.at(s)));
      consider(q - e.at(e.nearest(q)));
    }
  }
  const Real distance = best.norm();
  return {best / distance, distance};
}

// The face of a box that faces along n, and its four sides seen along n.
struct Face {
  Vec3 normal, centre;
  Vec3 vertex[4];   // side i goes from vertex i to vertex i + 1
  Vec3 outward[4];  // unit, perpendicular to n and to the side
  Real offset[4];   // the side is outward·x = offset
};

Face facing(const Box& box, const Vec3& n) {
  // the face closest to n, the first one if tied
  const Vec3 m = box.axes.transpose() * n;
  int k = 0;
  for (int i = 1; i < 3; ++i)
    if (abs(m[i]) > abs(m[k]) + kAsClose) k = i;
  const Vec3 u = box.axes.col((k + 1) % 3), v = box.axes.col((k + 2) % 3);
  const Vec3 hu = box.half[(k + 1) % 3] * u, hv = box.half[(k + 2) % 3] * v;

  Face f;
  f.normal = (m[k] < 0 ? -1 : 1) * box.axes.col(k);
  f.centre = box.centre + box.half[k] * f.normal;
  const Vec3 vertices[4] = {-hu - hv, hu - hv, hu + hv, hv - hu};
  const Vec3 across[4] = {-v, u, v, -u}, along[4] = {u, v, u, v};
  for (int i = 0; i < 4; ++i) {
    f.vertex[i] = f.centre + vertices[i];
    const Vec3 w = along[i].cross(n).normalized();
    f.outward[i] = w.dot(across[i]) < 0 ? Vec3(-w) : w;
    f.offset[i] = f.outward[i].dot(f.vertex[i]);
  }
  return f;
}

// A corner of a convex polygon and the side on which the edge from it to the next corner lies.
struct Corner {
  Vec3 point;
  int side;
};
using Polygon = std::vector<Corner>;

// Returns the part of the polygon with m·x <= offset (Sutherland–Hodgman clipping). If round-off would leave
// nothing, the corner nearest to that half-plane.
Polygon clip(const Polygon& polygon, const Vec3& m, Real offset, int side) {
  const auto beyond = [&](const Corner& c) { return m.dot(c.point) - offset; };
  Polygon part;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner &now = polygon[i], &next = polygon[(i + 1) % polygon.size()];
    const Real x = beyond(now), y = beyond(next);
    const bool inside = x <= 0, stays = y <= 0;
    if (inside) part.push_back(now);
    if (inside == stays) continue;
    const Vec3 crossing = now.point + x / (x - y) * (next.point - now.point);
    part.push_back({crossing, inside ? side : now.side});
  }
  if (!part.empty()) return part;
  return {*std::min_element(polygon.begin(), polygon.end(),
                            [&](const auto& c, const auto& d) { return beyond(c) < beyond(d); })};
}

// Returns half the least depth of the faces' corners under each other, minus its variation: 0 unless the
// faces are nearly parallel and all their corners overlap. At least round-off, so that edges
// that only touch are not lost.
Real blur(const Face& a, const Face& b, const Vec3& n, Real tie) {
  Real highest = -kInfinity, lowest = kInfinity;
  const auto consider = [&](Real height) {
    highest = std::max(highest, height), lowest = std::min(lowest, height);
  };
  for (int i = 0; i < 4; ++i) {
    consider(a.normal.dot(b.vertex[i] - a.centre) / a.normal.dot(n));
    consider(b.normal.dot(b.centre - a.vertex[i]) / b.normal.dot(n));
  }
  return std::max(highest - lowest < tie ? tie : 0.1 * tie, 0.5 * (lowest - 2 * highest));
}

// The contact of a side.
struct Slot {
  Vec3 point;     // on the second box's face
  Real height;    // of `point` above the first box's face, along the normal
  Real distance;  // of the contact
  Real edge;      // length of the side's edge, seen along the normal
  bool used = false;
};

}  // namespace

void collide_box_box(const Shape& first, const Shape& second, std::span<Witness> out) {
  const Mat3 to_first = first.rot.transpose();
  const Box a{Vec3::Zero(), first.size, Mat3::Identity()};
  const Box b{to_first * (second.pos - first.pos), second.size, to_first * second.rot};
  const Real tie = kTie * (a.half.maxCoeff() + b.half.maxCoeff() + b.centre.cwiseAbs().maxCoeff());

  // 1. the normal; for separated boxes from the nearest points, unless those are the ones of the best axis
  Direction least = least_translation(a, b, tie);
  if (least.distance > tie) {
    const Direction nearest = nearest_points(a, b);
    const Vec3 gap = nearest.distance * nearest.normal - least.distance * least.normal;
    if (gap.norm() > 0.01 * tie) least = nearest;
  }
  const Vec3& n = least.normal;

  // 2. the overlap of the facing faces, seen along the normal
  const Face fa = facing(a, n), fb = facing(b, -n);
  const Real grow = blur(fa, fb, n, tie);
  Polygon polygon;
  for (int i = 0; i < 4; ++i) polygon.push_back({fb.vertex[i], 4 + i});
  for (int i = 0; i < 4; ++i) polygon = clip(polygon, fa.outward[i], fa.offset[i] + grow, i);
  // start with the sides of the second face
  const auto order = [](const Corner& c) { return (c.side + 4) % 8; };
  std::rotate(polygon.begin(),
              std::min_element(polygon.begin(), polygon.end(),
                               [&](const auto& c, const auto& d) { return order(c) < order(d); }),
              polygon.end());

  // 3. a slot for each side: the corner at which its edge begins
  const auto height = [&](const Vec3& p) {
    return fa.normal.dot(p - fa.centre) / fa.normal.dot(n);
  };
  Slot slots[8];
  Real deepest = kInfinity;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3& p = polygon[i].point;
    const Vec3 edge = polygon[(i + 1) % polygon.size()].point - p;
    slots[polygon[i].side] = {p, height(p), std::max(height(p), least.distance),
                              n.cross(edge).norm(), true};
    deepest = std::min(deepest, slots[polygon[i].side].distance);
  }
  // give the end of a short edge the depth of its beginning, if they are nearly equal
  for (std::size_t i = 0; i < 2 * polygon.size(); ++i) {
    const Slot& s = slots[polygon[i % polygon.size()].side];
    Slot& next = slots[polygon[(i + 1) % polygon.size()].side];
    if (s.edge < -deepest && next.height - s.distance < -0.1 * deepest)
      next.distance = std::min(next.distance, s.distance);
  }
  // depth at most the length of the edge; where that would shorten all of the deepest, limit in proportion
  Real longest = 0;
  for (const Slot& s : slots)
    if (s.used && s.distance <= deepest + tie) longest = std::max(longest, s.edge);
  for (Slot& s : slots) {
    if (!s.used) continue;
    const Real share = s.edge < longest ? s.edge / longest : 1;
    s.distance = std::max(s.distance, longest < -deepest ? share * deepest : -s.edge);
  }

  // 4. a side without an edge: the corner nearest to it, its distance raised by how far it is from the side
  for (std::size_t k = 0; k < 8; ++k) {
    if (slots[k].used) continue;
    const Face& f = k < 4 ? fa : fb;
    const Real offset = f.offset[k % 4] + (k < 4 ? grow : 0);
    const auto inside = [&](std::size_t i) {
      return offset - f.outward[k % 4].dot(polygon[i % polygon.size()].point);
    };
    Real away = kInfinity;
    for (std::size_t i = 0; i < polygon.size(); ++i) away = std::min(away, inside(i));
    // of two equally near corners, the beginning of the edge between them
    std::size_t corner = 0;
    while (corner < polygon.size() &&
           !(inside(corner) <= away + tie && inside(corner + polygon.size() - 1) > away + tie))
      ++corner;
    const Vec3& p = polygon[corner % polygon.size()].point;
    slots[k] = {p, height(p), std::max<Real>(0, away) + std::max<Real>(0, height(p)), 0, false};
  }

  for (std::size_t k = 0; k < 8; ++k) {
    const Slot& s = slots[k];
    const Vec3 middle = first.pos + first.rot * (s.point - 0.5 * s.height * n);
    const Vec3 normal = first.rot * n, half_gap = 0.5 * s.distance * normal;
    out[k] = {middle - half_gap, middle + half_gap, normal, s.distance};
  }
}

}  // namespace stiction::reference::inline STICTION_REAL

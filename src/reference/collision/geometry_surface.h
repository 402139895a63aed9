// The surface of a height field: its nodes, and the solid below.
#pragma once

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {

inline constexpr double kFlat = 1e-9;  // rad, or relative to a length

using Node = std::array<int, 2>;  // column, row
inline Node operator+(const Node& a, const Node& b) {
  return {a[0] + b[0], a[1] + b[1]};
}
inline Node operator-(const Node& a, const Node& b) {
  return {a[0] - b[0], a[1] - b[1]};
}
// Steps to the neighbours of a node, in order around it.
inline constexpr std::array<Node, 6> kAround{{{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}}};

class Surface {
 public:
  explicit Surface(const HeightField& f) : f_(f) {
    cell_ = {2 * f.size[0] / (f.ncol - 1), 2 * f.size[1] / (f.nrow - 1)};
  }
  bool has(const Node& n) const {
    return n[0] >= 0 && n[1] >= 0 && n[0] < f_.ncol && n[1] < f_.nrow;
  }
  Vec3 at_node(const Node& n) const {
    return {n[0] * cell_[0] - f_.size[0], n[1] * cell_[1] - f_.size[1],
            f_.size[2] * f_.data[at(n[1] * f_.ncol + n[0])]};
  }
  // Returns the vector from p to a node; outside of the field there is a cliff.
  Vec3 way(const Vec3& p, const Node& n) const {
    return has(n) ? Vec3(at_node(n) - p) : Vec3(-Vec3::UnitZ());
  }
  // Returns whether the surface descends from the plane through p with normal m towards a node, or rises by < `slope`.
  bool falls_away(const Vec3& p, const Vec3& m, const Node& n, double tolerance,
                  double slope = 0) const {
    const Real rise = m.dot(way(p, n));
    if (rise <= tolerance * way(p, n).norm()) return true;
    return slope > 0 && has(n) && rise <= slope * m.z() * way(p, n).head<2>().norm();
  }
  Real cell() const { return cell_.sum(); }
  // Returns the lower corner of the cell around (x, y).
  Node node_below(const Real& x, const Real& y) const {
    const auto index = [](const Real& u, int n) {
      return static_cast<int>(std::clamp(value(u), 0.0, n - 2.0));
    };
    return {index((x + f_.size[0]) / cell_[0], f_.ncol),
            index((y + f_.size[1]) / cell_[1], f_.nrow)};
  }
  // Returns whether p is in the solid: below the triangle over it.
  bool inside(const Vec3& p) const {
    if (abs(p.x()) > f_.size[0] || abs(p.y()) > f_.size[1]) return false;
    const Node a = node_below(p.x(), p.y());
    const Vec3 from = at_node(a), to = at_node(a + Node{1, 1});
    const Real u = (p.x() - from.x()) / cell_[0], v = (p.y() - from.y()) / cell_[1];
    const Vec3 third = at_node(a + (u >= v ? Node{1, 0} : Node{0, 1}));
    const Vec3 n = (to - from).cross(third - from);
    return n.dot(p - from) * n.z() <= 0;
  }

  // Returns the vector from p to the nearest point of a cell.
  Vec3 way_to_cell(const Vec3& p, const Node& n) const {
    const Node far = n + Node{1, 1};
    const Vec3 right = way_to_triangle(p, {at_node(n), at_node(far), at_node(n + Node{1, 0})});
    const Vec3 left = way_to_triangle(p, {at_node(n), at_node(far), at_node(n + Node{0, 1})});
    return left.squaredNorm() < right.squaredNorm() ? left : right;
  }

 private:
  static Vec3 way_to_triangle(const Vec3& p, const std::array<Vec3, 3>& corner) {
    const Vec3 n = (corner[1] - corner[0]).cross(corner[2] - corner[0]).normalized();
    Vec3 nearest = Vec3::Constant(std::numeric_limits<double>::infinity());
    bool over = true;
    for (std::size_t c = 0; c < 3; ++c) {
      const Vec3 from = p - corner[c], side = corner[(c + 1) % 3] - corner[c];
      over = over && n.dot(side.cross(from)) >= 0;
      const Real t = std::clamp<Real>(side.dot(from) / side.squaredNorm(), 0, 1);
      const Vec3 way = t * side - from;
      if (way.squaredNorm() < nearest.squaredNorm()) nearest = way;
    }
    return over ? Vec3(n.dot(corner[0] - p) * n) : nearest;
  }

  const HeightField& f_;
  Vec2 cell_;
};

}  // namespace stiction::reference::inline STICTION_REAL

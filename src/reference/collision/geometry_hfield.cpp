// Convex shapes against a height field. geometry.h defines the points.
#include <optional>
#include <vector>

#include "reference/collision/geometry_surface.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kSameNormal = 1e-5, kSamePoint = 1e-6;    // the second: of the shape's extent
constexpr double kTurned = 1e-6;                           // rad
constexpr double kBand = 0.05, kSlope = 20, kLongWay = 3;  // the first: of the shape's extent
constexpr double kLeastMargin = 0.25;                      // m
constexpr std::size_t kGathered = 16;

class Gathering {
 public:
  Gathering(const HeightField& field, const Shape& shape)
      : surface_(field), shape_(shape), own_(at(contact_points(GeomType::plane, shape.type))) {
    const bool wide = shape.type == GeomType::box || shape.type == GeomType::mesh;
    const bool long_one = shape.type == GeomType::capsule || shape.type == GeomType::cylinder;
    extent_ = wide ? shape.size.sum() : long_one ? shape.size[0] + shape.size[1] : shape.size[0];
    if (shape.type == GeomType::ellipsoid) extent_ = shape.size.maxCoeff();
    margin_ = std::max<Real>(kLeastMargin, extent_);
  }

  void run(std::span<Witness> out) {
    const Vec3 c = shape_.pos;
    const Real room = 2 * extent_ + margin_;
    low_ = surface_.node_below(c.x() - room, c.y() - room);
    high_ = surface_.node_below(c.x() + room, c.y() + room) + Node{1, 1};
    for (int j = low_[1]; j <= high_[1]; ++j)
      for (int i = low_[0]; i <= high_[0]; ++i) {
        for (std::size_t k = 0; k < 3; ++k)
          if (const Node to = Node{i, j} + kAround[k]; to[0] <= high_[0] && to[1] <= high_[1])
            ridge({i, j}, k);
        peak({i, j});
        if (i == high_[0] || j == high_[1]) continue;
        const Node n{i, j}, far = n + Node{1, 1};
        face({n, n + Node{1, 0}, far});
        face({n, far, n + Node{0, 1}});
      }
    std::erase_if(more_, [&](const Witness& w) { return known(w); });
    choose();
    for (std::size_t k = 0; k < out.size(); ++k) {
      Witness idle{c, c, Vec3::UnitZ(), 2 * margin_ + extent_};
      idle.point2.z() += idle.distance;
      out[k] = slots_[k].value_or(idle);
    }
  }

 private:
  bool same(const Witness& a, const Witness& b) const {
    return (a.normal - b.normal).norm() <= kSameNormal &&
           (a.point1 - b.point1).norm() <= kSamePoint * extent_;
  }
  void add(const Witness& w) {
    for (Witness& known : more_) {
      if (!same(w, known)) continue;
      if (w.distance < known.distance) known = w;
      return;
    }
    more_.push_back(w);
  }
  // Of a point of the shape, or of the centre of the ball around it, from the triangle.
  Real away(const Witness& w) const { return w.distance + ball_radius(); }

  void face(const std::array<Node, 3>& nodes) {
    std::array<Vec3, 3> corner;
    for (std::size_t c = 0; c < 3; ++c) corner[c] = surface_.at_node(nodes[c]);
    const Vec3 n = (corner[1] - corner[0]).cross(corner[2] - corner[0]).normalized();
    Shape plane{GeomType::plane, Vec3::Zero(), corner[0], Mat3::Zero()};
    plane.rot.col(2) = n;
    std::vector<Witness> touching(own_);
    if (shape_.type == GeomType::mesh)
      touching.push_back(plane_corners(plane, shape_, touching));
    else
      collide(plane, shape_, touching);
    const auto over = [&](const Witness& w) {
      for (std::size_t c = 0; c < 3; ++c) {
        const Vec3 side = corner[(c + 1) % 3] - corner[c];
        const Real in = n.dot(side.cross(w.point1 - corner[c])) / side.norm();
        if (in >= -kFlat * surface_.cell()) continue;
        const Node beyond = nodes[c] + nodes[(c + 1) % 3] - nodes[(c + 2) % 3];
        const bool valley = !surface_.falls_away(corner[c], n, beyond, kFlat);
        if (!valley || in < std::min<Real>(0, away(w))) return false;
      }
      return true;
    };
    for (std::size_t k = 0; k < touching.size(); ++k) {
      const Witness& w = touching[k];
      if (w.distance > margin_ || !over(w)) continue;
      if (k > 0 && shape_.type == GeomType::mesh && w.point1 == touching[0].point1)
        continue;  // idle
      const Vec3 core = w.point2 + ball_radius() * n;
      if (abs(away(w)) > kFlat * extent_ && surface_.inside(core) != (away(w) < 0)) continue;
      if (away(w) < 0 && is_long_way(core, away(w))) continue;
      if (k >= own_) {
        add(w);
        continue;
      }
      if (!slots_[k]) {
        slots_[k] = w;
        continue;
      }
      const bool nearer = abs(away(w)) < abs(away(*slots_[k]));
      if (!same(*slots_[k], w)) add(nearer ? *slots_[k] : w);
      if (nearer) slots_[k] = w;
    }
  }

  // Whether the surface bends down at the edge from a node towards neighbour k.
  bool is_ridge(const Node& node, std::size_t k) const {
    const Vec3 from = surface_.at_node(node);
    const Vec3 along = surface_.at_node(node + kAround[k]) - from;
    const Vec3 up = along.cross(surface_.way(from, node + kAround[(k + 1) % 6])).normalized();
    const Vec3 to_right = surface_.way(from, node + kAround[(k + 5) % 6]);
    return up.dot(to_right) < -kFlat * to_right.norm();
  }

  void ridge(const Node& node, std::size_t k) {
    if (!is_ridge(node, k)) return;
    const Vec3 from = surface_.at_node(node), along = surface_.at_node(node + kAround[k]) - from;
    Shape bar{GeomType::capsule, {0, along.norm() / 2, 0}, from + along / 2, Mat3()};
    bar.rot = Eigen::Quaternion<Real>::FromTwoVectors(Vec3::UnitZ(), along).toRotationMatrix();
    const Real half = bar.size[1];
    const SignedDistance nearest = nearest_convex(bar, shape_);
    if (nearest.distance > margin_) return;
    const bool overlaps = ball_radius() == 0 && nearest.distance <= 0;
    if (overlaps) bar.size[1] += 2 * extent_;  // no way out along the edge
    const Vec3 n = overlaps ? nearest_convex(bar, shape_).normal : nearest.normal;
    for (const std::size_t side : {(k + 1) % 6, (k + 5) % 6})
      if (!surface_.falls_away(from, n, node + kAround[side], kTurned)) return;
    if (abs(n.dot(bar.rot.col(2))) > kTurned) return;
    const bool one = shape_.type == GeomType::sphere || shape_.type == GeomType::ellipsoid;
    std::vector<Witness> points(one ? 1 : 2);
    collide_convex(bar, shape_, points);
    if (overlaps && !clip(bar, half, points)) return;
    for (const Witness& w : points)
      if (w.distance <= margin_) add(w);
  }

  void peak(const Node& node) {
    bool bends = false;
    for (std::size_t k = 0; k < 6; ++k)
      bends = bends || (surface_.has(node + kAround[k]) && is_ridge(node, k));
    if (!bends) return;
    const Vec3 p = surface_.at_node(node);
    const Shape point{GeomType::sphere, Vec3::Zero(), p, Mat3::Identity()};
    const SignedDistance d = nearest_convex(point, shape_);
    if (d.distance > margin_ || !(d.normal.z() > 0)) return;
    for (const Node& step : kAround)
      if (!surface_.falls_away(p, d.normal, node + step, kTurned)) return;
    add({p, p + d.distance * d.normal, d.normal, d.distance});
  }

  // What of the points of a bar is within half of its middle, at heights between theirs; false: nothing.
  static bool clip(const Shape& bar, const Real& half, std::span<Witness> points) {
    const Vec3 axis = bar.rot.col(2);
    const auto along = [&](const Witness& w) { return axis.dot(w.point1 - bar.pos); };
    const Witness first = points.front(), last = points.back();
    const Real t0 = along(first), t1 = along(last);
    if (std::max(t0, t1) < -half || std::min(t0, t1) > half) return false;
    for (Witness& w : points) {
      const Real t = std::clamp<Real>(along(w), -half, half);
      const Real share = t1 != t0 ? (t - t0) / (t1 - t0) : Real(0);
      w.distance = first.distance + share * (last.distance - first.distance);
      w.point1 = bar.pos + t * axis, w.point2 = w.point1 + w.distance * w.normal;
    }
    return true;
  }

  Real ball_radius() const {
    const bool round = shape_.type == GeomType::sphere || shape_.type == GeomType::capsule;
    return round ? shape_.size[0] : Real(0);
  }

  bool known(const Witness& w) const {
    for (std::size_t k = 0; k < own_; ++k)
      if (slots_[k] && same(*slots_[k], w)) return true;
    return false;
  }

  // Whether the point of the shape would leave the ground by a far longer way than the shortest.
  bool is_long_way(const Vec3& core, const Real& away) const {
    Real nearest = std::numeric_limits<double>::infinity();
    for (int j = low_[1]; j < high_[1]; ++j)
      for (int i = low_[0]; i < high_[0]; ++i)
        nearest = std::min(nearest, surface_.distance_to_cell(core, {i, j}));
    return nearest < -away / kLongWay;
  }

  void choose() {
    std::stable_sort(more_.begin(), more_.end(),
                     [](const auto& a, const auto& b) { return a.distance < b.distance; });
    if (more_.size() > kGathered) more_.resize(kGathered);
    std::vector<Witness> chosen;
    const auto score = [&](const Witness& w) -> Real {
      if (chosen.empty()) return -w.distance;
      const Real higher = w.distance - std::max<Real>(0, chosen.front().distance);
      if (higher > kBand * extent_) return -higher;
      Real apart = std::numeric_limits<double>::infinity();
      for (const Witness& q : chosen)
        apart = std::min<Real>(
            apart, (w.point1 - q.point1).norm() + extent_ * (w.normal - q.normal).norm());
      return apart - kSlope * higher + 2 * extent_;
    };
    while (chosen.size() < kHfieldMore && !more_.empty()) {
      auto best = more_.begin();
      for (auto p = more_.begin(); p != more_.end(); ++p)
        if (score(*p) > score(*best)) best = p;
      chosen.push_back(*best);
      more_.erase(best);
    }
    for (std::size_t k = 0; k < chosen.size(); ++k) slots_[own_ + k] = chosen[k];
  }

  Surface surface_;
  const Shape& shape_;
  std::size_t own_;
  Real extent_, margin_;
  Node low_{}, high_{};  // of the cells that are looked at
  std::array<std::optional<Witness>, 12> slots_;
  std::vector<Witness> more_;
};

}  // namespace

void collide_hfield(const Shape& field, const Shape& shape, std::span<Witness> out) {
  Shape local = shape;
  local.pos = field.rot.transpose() * (shape.pos - field.pos);
  local.rot = field.rot.transpose() * shape.rot;
  Gathering(field.field, local).run(out);
  for (Witness& w : out) {
    w.point1 = field.pos + field.rot * w.point1;
    w.point2 = field.pos + field.rot * w.point2;
    w.normal = field.rot * w.normal;
  }
}

}  // namespace stiction::reference::inline STICTION_REAL

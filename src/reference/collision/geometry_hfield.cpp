// Convex shapes against a height field. geometry.h defines the points.
#include <optional>
#include <vector>

#include "reference/collision/geometry_hfield_slots.h"
#include "reference/collision/geometry_surface.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kLeveled = 1e-6;  // rad
constexpr double kLongWay = 3;
constexpr double kPeakSlope = 0.02;    // rad
constexpr double kLeastMargin = 0.25;  // m
constexpr std::size_t kGathered = 24;

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
    const bool fixed = shape_.type == GeomType::box || shape_.type == GeomType::sphere ||
                       shape_.type == GeomType::capsule;
    for (std::size_t k = 0; k < own_ && fixed; ++k)
      if (!slots_[k]) valley(k);
    std::erase_if(more_, [&](const Witness& w) { return known(w) || repeats_node(w); });
    std::stable_sort(more_.begin(), more_.end(),
                     [](const auto& a, const auto& b) { return a.distance < b.distance; });
    if (more_.size() > kGathered) more_.resize(kGathered);
    HfieldChoice(shape_, own_, extent_, slots_).choose(more_);
    for (std::size_t k = 0; k < out.size(); ++k) {
      Witness idle{c, c, Vec3::UnitZ(), 2 * margin_ + extent_};
      idle.point2.z() += idle.distance;
      out[k] = slots_[k].value_or(idle);
    }
  }

 private:
  bool same(const Witness& a, const Witness& b) const { return same_point(a, b, extent_); }
  void add(const Witness& w) {
    for (Witness& known : more_) {
      if (!same(w, known)) continue;
      if (w.distance < known.distance) known = w;
      return;
    }
    more_.push_back(w);
  }
  // Returns the distance from the triangle to a point of the shape, or to the centre of the ball around it.
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
      const auto repeats = [&](std::size_t j) {
        return w.point1 == touching[j].point1 && touching[j].distance < w.distance;
      };
      if (shape_.type == GeomType::mesh && k < own_ &&
          (repeats(0) || repeats(1) || repeats(2) || repeats(3)))
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

  // Returns whether the edge from a node towards neighbour k is convex.
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
    if (overlaps) bar.size[1] += 2 * extent_;  // there is no way out along the edge
    const Vec3 n = overlaps ? nearest_convex(bar, shape_).normal : nearest.normal;
    for (const std::size_t side : {(k + 1) % 6, (k + 5) % 6})
      if (!surface_.falls_away(from, n, node + kAround[side], kLeveled, slope())) return;
    if (abs(n.dot(bar.rot.col(2))) > kLeveled) return;
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
      if (!surface_.falls_away(p, d.normal, node + step, kLeveled, slope())) return;
    const Witness w{p, p + d.distance * d.normal, d.normal, d.distance};
    add(w);
    if (slope() > 0) nodes_.push_back(w);
  }

  // Clips the points of a bar to `half` on either side of its midpoint, interpolating heights; false: none remains.
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

  // Returns the slope by which the surface may rise from a point that touches a flat side.
  double slope() const { return has_flat_sides(shape_.type) ? kPeakSlope : 0; }

  bool known(const Witness& w) const {
    for (std::size_t k = 0; k < own_; ++k)
      if (slots_[k] && same(*slots_[k], w)) return true;
    return false;
  }

  // Returns whether w, the end of a ridge, repeats a node that itself touches a flat side along nearly the same normal.
  bool repeats_node(const Witness& w) const {
    return std::any_of(nodes_.begin(), nodes_.end(), [&](const Witness& node) {
      const Real turn = (node.normal - w.normal).norm();
      return turn > kSameNormal && turn <= 2 * kPeakSlope &&
             (node.point1 - w.point1).norm() <= kSamePoint * extent_;
    });
  }

  // Returns whether the point would leave the ground by a way much longer than the shortest one.
  bool is_long_way(const Vec3& core, const Real& away) const {
    return way_out(core).norm() < -away / kLongWay;
  }
  // Returns the vector from a point to the nearest point of the surface.
  Vec3 way_out(const Vec3& core) const {
    Vec3 nearest = Vec3::Constant(std::numeric_limits<double>::infinity());
    for (int j = low_[1]; j < high_[1]; ++j)
      for (int i = low_[0]; i < high_[0]; ++i)
        if (const Vec3 way = surface_.way_to_cell(core, {i, j});
            way.squaredNorm() < nearest.squaredNorm())
          nearest = way;
    return nearest;
  }

  // Own point k: a corner of a box, or the centre of a ball of a sphere or capsule, in the ground but over no triangle.
  void valley(std::size_t k) {
    const Vec3 sign(k & 1u ? 1 : -1, k & 2u ? 1 : -1, k & 4u ? 1 : -1);
    const Vec3 along(0, 0, k == 0 ? -shape_.size[1] : shape_.size[1]);
    Vec3 core = shape_.pos;
    if (shape_.type == GeomType::box) core += shape_.rot * sign.cwiseProduct(shape_.size);
    if (shape_.type == GeomType::capsule) core += shape_.rot * along;
    if (!surface_.inside(core)) return;
    const Vec3 way = way_out(core);
    const Real length = way.norm();
    if (!(length > kFlat * extent_)) return;
    const Vec3 n = way / length;
    slots_[k] = Witness{core + way, core - ball_radius() * n, n, -length - ball_radius()};
  }

  Surface surface_;
  const Shape& shape_;
  std::size_t own_;
  Real extent_, margin_;
  Node low_{}, high_{};  // range of cells searched
  HfieldSlots slots_;
  std::vector<Witness> more_, nodes_;
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

// The choice of the points of a shape on a height field that get slots: geometry.h, "Height field", item 3.
#pragma once

#include <optional>
#include <vector>

#include "reference/collision/geometry_slots.h"

namespace stiction::reference::inline STICTION_REAL {

inline constexpr double kSameNormal = 1e-5, kSamePoint = 1e-6;  // the second: of the shape's extent
inline constexpr double kBand = 0.05;                           // of the shape's extent
inline constexpr double kSlope = 20, kSteep = 250, kLean = 50;

inline bool has_flat_sides(GeomType type) {
  return type == GeomType::box || type == GeomType::cylinder || type == GeomType::mesh;
}
inline bool same_point(const Witness& a, const Witness& b, const Real& extent) {
  return (a.normal - b.normal).norm() <= kSameNormal &&
         (a.point1 - b.point1).norm() <= kSamePoint * extent;
}

// The shape's own points, `own` of them, then kHfieldMore others.
using HfieldSlots = std::array<std::optional<Witness>, 12>;

class HfieldChoice {
 public:
  HfieldChoice(const Shape& shape, std::size_t own, const Real& extent, HfieldSlots& slots)
      : shape_(shape), own_(own), extent_(extent), slots_(slots) {}

  // Chooses from these points, sorted nearest first.
  void choose(const std::vector<Witness>& points) {
    if (points.empty()) return;
    left_ = points;
    high_ = std::max<Real>(0, points.front().distance) + kBand * extent_;
    const bool flat = has_flat_sides(shape_.type);
    if (flat)
      by_direction(points);
    else
      by_distance();
    // the nearest of the rest; overlaps of a flat side all or none, so that small motions change nothing
    std::size_t free = 0, overlapping = 0;
    for (std::size_t k = 0; k < own_ + kHfieldMore; ++k) free += is_free(k) ? 1 : 0;
    for (const Witness& w : left_) overlapping += w.distance < 0 ? 1 : 0;
    const std::vector<Witness> rest = left_;
    for (const Witness& w : rest)
      if (!flat || (w.distance < 0 ? overlapping <= free : w.distance > high_)) put(own_, w);
  }

 private:
  // Returns whether the slot has no point, or one of the shape's own that is higher than the band.
  bool is_free(std::size_t k) const {
    return !slots_[k] || (k < own_ && slots_[k]->distance > high_);
  }
  // Puts w into this slot, or the first free one; a point that is itself high does not replace another one.
  void put(std::size_t wanted, const Witness& w) {
    std::vector<std::size_t> order{wanted};
    for (std::size_t k = 0; k < kHfieldMore; ++k) order.push_back(own_ + k);
    for (std::size_t k = 0; k < own_ && !(w.distance > high_); ++k) order.push_back(k);
    for (const std::size_t k : order) {
      if (!is_free(k)) continue;
      slots_[k] = w;
      std::erase_if(left_, [&](const Witness& q) { return same_point(q, w, extent_); });
      return;
    }
  }

  void by_direction(const std::vector<Witness>& points) {
    const auto [x, y] = slot_axes(shape_.rot.transpose() * -Vec3::UnitZ());
    const std::array<Vec3, 4> d = directions(shape_.rot * x, shape_.rot * y, Vec3(Vec3::UnitZ()));
    for (std::size_t k = 0; k < 12; ++k) {
      const Vec3 w = k / 4 == 1 ? Vec3(sqrt(0.5) * (d[k % 4] + d[(k + 1) % 4])) : d[k % 4];
      const auto ahead = [&](const Witness& p) -> Real {
        return w.dot(p.point1 - shape_.pos) - (k < 8 ? kSteep : kLean) * p.distance;
      };
      const Witness* best = nullptr;
      for (const Witness& p : points)
        if (!(p.distance > high_) && (best == nullptr || ahead(p) > ahead(*best))) best = &p;
      for (const Witness& q : left_)
        if (same_point(q, *best, extent_)) {
          put(own_ + (k < 4 ? k : 0), *best);
          break;
        }
    }
  }

  void by_distance() {
    std::vector<Witness> chosen;
    const auto score = [&](const Witness& w) -> Real {
      if (chosen.empty() || w.distance > high_) return -w.distance;
      Real apart = std::numeric_limits<double>::infinity();
      for (const Witness& q : chosen)
        apart = std::min<Real>(
            apart, (w.point1 - q.point1).norm() + extent_ * (w.normal - q.normal).norm());
      return apart - kSlope * (w.distance - high_) + 2 * extent_;
    };
    while (chosen.size() < kHfieldMore && !left_.empty()) {
      auto best = left_.begin();
      for (auto p = left_.begin(); p != left_.end(); ++p)
        if (score(*p) > score(*best)) best = p;
      chosen.push_back(*best);
      put(own_, chosen.back());
    }
  }

  const Shape& shape_;
  std::size_t own_;
  Real extent_, high_{};
  HfieldSlots& slots_;
  std::vector<Witness> left_;
};

}  // namespace stiction::reference::inline STICTION_REAL

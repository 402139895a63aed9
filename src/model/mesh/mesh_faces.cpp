#include "model/mesh/mesh_faces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace stiction::model {
namespace {

// Triangles whose normals differ by less than this cosine may belong to one face.
constexpr double kAlike = 0.5;
// A corner closer than this to the line through its neighbours, relative to the extent, is dropped.
constexpr double kStraight = 1e-9;

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

struct Triangle {
  Vec3 cross;   // twice the area times the normal
  bool sliver;  // its height is within the tolerance: its normal is arbitrary
  std::array<int, 3> beside{-1, -1, -1};
};

class Merge {
 public:
  Merge(const std::vector<Vec3>& v, const std::vector<std::array<int, 3>>& corners)
      : v_(v), corners_(corners) {
    for (const Vec3& p : v) extent_ = std::max(extent_, p.norm());
    std::map<std::pair<int, int>, int> edge;
    for (std::size_t t = 0; t < corners.size(); ++t) {
      const auto& c = corners[t];
      const Vec3 &p = point(c[0]), &q = point(c[1]), &r = point(c[2]);
      const double longest = std::max({(q - p).norm(), (r - q).norm(), (p - r).norm()});
      triangles_.push_back({(q - p).cross(r - p), false, {}});
      triangles_.back().sliver = triangles_.back().cross.norm() <= kCoplanar * extent_ * longest;
      for (std::size_t k = 0; k < 3; ++k) edge[{c[k], c[(k + 1) % 3]}] = static_cast<int>(t);
    }
    for (std::size_t t = 0; t < corners.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k)
        if (const auto it = edge.find({corners[t][(k + 1) % 3], corners[t][k]}); it != edge.end())
          triangles_[t].beside[k] = it->second;
  }

  HullFaces run() {
    std::vector<int> order(corners_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return triangles_[index(a)].cross.norm() > triangles_[index(b)].cross.norm();
    });
    found_.of_triangle.assign(corners_.size(), -1);
    for (const int seed : order)
      if (face_of(seed) < 0 && !triangles_[index(seed)].sliver) grow(seed);
    for (bool more = true; more;) {  // the remaining triangles have no plane of their own
      more = false;
      for (const int t : order)
        for (const int u : triangles_[index(t)].beside)
          if (face_of(t) < 0 && u >= 0 && face_of(u) >= 0)
            found_.of_triangle[index(t)] = face_of(u), more = true;
    }
    for (const int seed : order)
      if (face_of(seed) < 0) grow(seed);
    std::vector<std::vector<int>> members(found_.faces.size());
    for (std::size_t t = 0; t < corners_.size(); ++t)
      members[index(found_.of_triangle[t])].push_back(static_cast<int>(t));
    for (std::size_t f = 0; f < members.size(); ++f) outline(found_.faces[f], members[f]);
    return std::move(found_);
  }

 private:
  const Vec3& point(int i) const { return v_[index(i)]; }
  int face_of(int t) const { return found_.of_triangle[index(t)]; }

  void grow(int seed) {
    const int face = static_cast<int>(found_.faces.size());
    const Vec3 normal = direction(triangles_[index(seed)].cross, seed);
    const Vec3& origin = point(corners_[index(seed)][0]);
    std::vector<int> members{seed};
    found_.of_triangle[index(seed)] = face;
    Vec3 sum = triangles_[index(seed)].cross;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const int u : triangles_[index(members[i])].beside) {
        if (u < 0 || face_of(u) >= 0) continue;
        const Triangle& t = triangles_[index(u)];
        if (!t.sliver && t.cross.dot(normal) < kAlike * t.cross.norm()) continue;
        const auto& c = corners_[index(u)];
        if (std::any_of(c.begin(), c.end(), [&](int k) {
              return std::abs(normal.dot(point(k) - origin)) > kCoplanar * extent_;
            }))
          continue;
        found_.of_triangle[index(u)] = face;
        members.push_back(u), sum += t.cross;
      }
    }
    found_.faces.push_back({direction(sum, seed), {}});
  }

  // Returns the normal; for a triangle without an area, the direction from the centre to it.
  Vec3 direction(const Vec3& cross, int t) const {
    if (cross.norm() > 0) return cross.normalized();
    const auto& c = corners_[index(t)];
    const Vec3 middle = point(c[0]) + point(c[1]) + point(c[2]);
    return middle.norm() > 0 ? Vec3(middle.normalized()) : Vec3(Vec3::UnitZ());
  }

  // Computes the convex hull of the face's vertices, seen along its normal (Andrew's monotone chain).
  void outline(HullFace& f, const std::vector<int>& triangles) const {
    std::set<int> members;
    for (const int t : triangles)
      members.insert(corners_[index(t)].begin(), corners_[index(t)].end());
    const Vec3 x = f.normal.unitOrthogonal(), y = f.normal.cross(x);
    const auto flat = [&](int i) { return std::pair(x.dot(point(i)), y.dot(point(i))); };
    std::vector<int> sorted(members.begin(), members.end());
    std::sort(sorted.begin(), sorted.end(), [&](int i, int j) { return flat(i) < flat(j); });
    // distance of b to the right of the line from a to c
    const auto outside = [&](int a, int b, int c) {
      const Vec3 along = point(c) - point(a);
      const double length = along.norm();
      return length > 0 ? f.normal.dot((point(b) - point(a)).cross(along)) / length : 0;
    };
    std::vector<int> loop;
    const auto chain = [&](auto first, auto last) {
      const std::size_t begin = loop.size();
      for (auto it = first; it != last; ++it) {
        while (loop.size() >= begin + 2 &&
               outside(loop[loop.size() - 2], loop.back(), *it) <= kStraight * extent_)
          loop.pop_back();
        loop.push_back(*it);
      }
      loop.pop_back();
    };
    chain(sorted.begin(), sorted.end());
    chain(sorted.rbegin(), sorted.rend());
    if (loop.size() < 3) {  // a face without an area: its first triangle
      const auto& c = corners_[index(triangles.front())];
      loop.assign(c.begin(), c.end());
    }
    // the longest edge first; if tied, the one at the first vertex
    std::rotate(loop.begin(), std::min_element(loop.begin(), loop.end()), loop.end());
    std::size_t longest = 0;
    double length = 0;
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const double edge = (point(loop[(i + 1) % loop.size()]) - point(loop[i])).norm();
      if (edge > length + kStraight * extent_) length = edge, longest = i;
    }
    std::rotate(loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(longest), loop.end());
    f.corners = std::move(loop);
  }

  const std::vector<Vec3>& v_;
  const std::vector<std::array<int, 3>>& corners_;
  double extent_ = 0;
  std::vector<Triangle> triangles_;
  HullFaces found_;
};

}  // namespace

HullFaces hull_faces(const std::vector<Vec3>& vertices,
                     const std::vector<std::array<int, 3>>& triangles) {
  return Merge(vertices, triangles).run();
}

}  // namespace stiction::model

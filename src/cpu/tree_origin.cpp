#include "cpu/tree_origin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "index.h"

namespace stiction::cpu {
namespace {

constexpr double kFar =
    8;  // float's 24 bits minus twice the 3 bits of this ratio leave 1e-5 of an inertia
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double length(const std::vector<double>& a, int i) {
  return std::hypot(a[at(3 * i)], a[at(3 * i + 1)], a[at(3 * i + 2)]);
}

// An upper bound on the distance of a body from its parent.
struct Way {
  double fixed = 0, slides = 0;  // slides: infinite without limits
};

class Tree {
 public:
  Tree(const Model& m, int root, int end)
      : m_(m), root_(root), size_(at(end), 0.0), turns_(at(end), false), way_(at(end)) {
    // leaves to root
    for (int b = end - 1; b >= root; --b) {
      look_at(b);
      if (b == root) break;
      const auto p = at(m.body_parentid[at(b)]);
      if (m.body_parentid[at(b)] < root) continue;
      const double slides = std::isfinite(way_[at(b)].slides) ? way_[at(b)].slides : 0;
      size_[p] = std::max(size_[p], way_[at(b)].fixed + slides + size_[at(b)]);
      turns_[p] = turns_[p] || turns_[at(b)];
    }
  }

  int origin(int end) const {
    int origin = root_, b = root_;
    double way = 0;
    for (int next = heir(b, end); next >= 0; next = heir(b, end)) {
      if (own_rotation(b)) way = 0;
      way += way_[at(next)].fixed + way_[at(next)].slides;
      if (way > kFar * size_[at(next)]) origin = next, way = 0;
      b = next;
    }
    return origin;
  }

 private:
  bool own_rotation(int b) const {
    const int first = m_.body_jntadr[at(b)];
    for (int j = first; j < first + m_.body_jntnum[at(b)]; ++j)
      if (m_.jnt_type[at(j)] != JointType::slide) return true;
    return false;
  }

  void look_at(int b) {
    turns_[at(b)] = turns_[at(b)] || own_rotation(b);
    way_[at(b)].fixed = length(m_.body_pos, b);
    const int first = m_.body_jntadr[at(b)];
    for (int j = first; j < first + m_.body_jntnum[at(b)]; ++j) {
      if (m_.jnt_type[at(j)] != JointType::slide) continue;
      const double zero = m_.qpos0[at(m_.jnt_qposadr[at(j)])];
      way_[at(b)].slides += m_.jnt_limited[at(j)] == 0
                                ? kUnbounded
                                : std::max(std::abs(m_.jnt_range[at(2 * j)] - zero),
                                           std::abs(m_.jnt_range[at(2 * j + 1)] - zero));
    }
    double& size = size_[at(b)];
    size = std::max(size, length(m_.body_ipos, b));
    for (int g = 0; g < m_.ngeom; ++g)
      if (m_.geom_bodyid[at(g)] == b)
        size = std::max(size, length(m_.geom_pos, g) + m_.geom_rbound[at(g)]);
  }

  // Returns the child that O may move to; -1: none.
  int heir(int b, int end) const {
    double total = 0;
    int heaviest = -1;
    for (int c = b + 1; c < end; ++c) {
      if (m_.body_parentid[at(c)] != b || !turns_[at(c)]) continue;
      const double mass = m_.body_subtreemass[at(c)];
      total += mass;
      if (heaviest < 0 || mass > m_.body_subtreemass[at(heaviest)]) heaviest = c;
    }
    return heaviest >= 0 && 2 * m_.body_subtreemass[at(heaviest)] > total ? heaviest : -1;
  }

  const Model& m_;
  int root_;
  std::vector<double> size_;  // upper bound on the distance of a body's matter from its origin
  std::vector<bool> turns_;   // whether any joint from the body on rotates
  std::vector<Way> way_;
};

}  // namespace

int tree_origin(const Model& m, int root, int end) {
  return Tree(m, root, end).origin(end);
}

}  // namespace stiction::cpu

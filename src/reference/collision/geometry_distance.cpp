// The signed distance of two convex shapes by an expanding polytope inside D = {b - a}, until the support
// plane of its facet nearest to the origin adds nothing. The nearest facet bounds the depth from
// below, its support plane bounds it from above: so this finds the global minimum, slowly.
//
// Where D barely contains the origin, or barely does not, the direction from the nearest point to the origin
// is round-off. In that case D is inflated by a ball of radius ρ, which reduces the distance along every normal by ρ:
// D and the inflated D have the same normal, and the inflated D contains the origin.
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr int kMostVertices = 400;
constexpr double kResolved = 1e-13;  // of the extent
constexpr double kRoundOff = 1e-15;  // of the extent: of an offset
constexpr double kNear = 1e-3,
                 kBall = 1e-2;  // of the extent: |distance| below which D is inflated, and ρ

// Returns the point of the shape's core farthest along m; the core of a sphere or capsule is its centre or axis.
Vec3 core_support(const Shape& s, const Vec3& m) {
  const Vec3 d = s.rot.transpose() * m;
  const auto sign = [](Real x) -> Real { return x < 0 ? -1.0 : 1.0; };
  Vec3 p = Vec3::Zero();
  switch (s.type) {
    case GeomType::capsule: p = Vec3(0, 0, sign(d.z()) * s.size[1]); break;
    case GeomType::ellipsoid: {
      const Vec3 w = s.size.cwiseProduct(d);
      if (w.norm() > 0) p = s.size.cwiseProduct(w.normalized());
      break;
    }
    case GeomType::cylinder: {
      const Real radial = hypot(d.x(), d.y());
      p.z() = sign(d.z()) * s.size[1];
      if (radial > 0) p.head<2>() = s.size[0] / radial * d.head<2>();
      break;
    }
    case GeomType::box: p = d.unaryExpr(sign).cwiseProduct(s.size); break;
    case GeomType::mesh:
      for (int i = 0; i < s.hull.vertices(); ++i)
        if (const Vec3 v = s.hull.vertex(i); i == 0 || d.dot(v) > d.dot(p)) p = v;
      break;
    default: break;
  }
  return s.pos + s.rot * p;
}
Real radius_of(const Shape& s) {
  return s.type == GeomType::sphere || s.type == GeomType::capsule ? s.size[0] : 0;
}

struct Vertex {
  Vec3 w, a, b;  // w = b - a
};
// Returns the point of D, inflated by a ball, that is farthest along the unit vector m.
Vertex support(const Shape& a, const Shape& b, const Vec3& m, Real ball = 0) {
  const Vec3 p = core_support(a, -m), q = core_support(b, m);
  return {q - p + ball * m, p, q};
}

// A triangle of the polytope, counterclockwise from outside.
struct Facet {
  int vertex[3];
  Vec3 normal;
  Real offset;  // of its plane: normal·x
};

class Polytope {
 public:
  Polytope(const Shape& a, const Shape& b, Real extent, Real ball) : extent_(extent) {
    // four points that span a volume: along an axis, off the line, off the plane
    const auto along = [&](const Vec3& m) { return support(a, b, m.normalized(), ball); };
    const auto add = [&](const Vec3& m) { vertices_.push_back(along(m)); };
    add(Vec3(1, 0, 0));
    add(Vec3(-1, 0, 0));
    const Vec3 line = vertices_[1].w - vertices_[0].w;
    const Vec3 beside = line.cross(Vec3(0.36, 0.48, 0.8));
    add(beside);
    if ((vertices_[2].w - vertices_[0].w).cross(line).norm() <= 1e-12 * extent * extent)
      vertices_.back() = along(-beside);
    const Vec3 across = line.cross(vertices_[2].w - vertices_[0].w);
    add(across);
    if (abs(across.dot(vertices_[3].w - vertices_[0].w)) <= 1e-12 * extent * across.norm())
      vertices_.back() = along(-across);
    centre_ = 0.25 * (vertices_[0].w + vertices_[1].w + vertices_[2].w + vertices_[3].w);
    for (const auto& f : {std::array{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}})
      face(f[0], f[1], f[2]);
  }

  bool solid() const { return facets_.size() == 4; }
  const Vertex& vertex(int i) const { return vertices_[at(i)]; }
  int size() const { return static_cast<int>(vertices_.size()); }
  const std::vector<Facet>& facets() const { return facets_; }

  // Returns false if the point adds nothing.
  bool grow(const Vertex& v) {
    std::vector<Facet> kept;
    std::map<std::pair<int, int>, int> edges;  // edges of the facets that are visible from v
    for (const Facet& f : facets_) {
      if (f.normal.dot(v.w) - f.offset <= 1e-16 * extent_) {
        kept.push_back(f);
        continue;
      }
      for (int i = 0; i < 3; ++i) ++edges[{f.vertex[i], f.vertex[(i + 1) % 3]}];
    }
    if (kept.size() == facets_.size() || kept.empty()) return false;
    facets_ = std::move(kept);
    vertices_.push_back(v);
    for (const auto& [edge, count] : edges)
      if (!edges.contains({edge.second, edge.first})) face(edge.first, edge.second, size() - 1);
    return true;
  }

 private:
  void face(int i, int j, int k) {
    const Vec3 &p = vertex(i).w, &q = vertex(j).w, &r = vertex(k).w;
    Vec3 n = (q - p).cross(r - p);
    if (!(n.norm() > 0)) return;
    n.normalize();
    if (n.dot(p - centre_) < 0) std::swap(j, k), n = -n;
    facets_.push_back({{i, j, k}, n, n.dot(p)});
  }

  Real extent_;
  Vec3 centre_;
  std::vector<Vertex> vertices_;
  std::vector<Facet> facets_;
};

// Returns the barycentric weights of the triangle's point nearest to the origin.
Vec3 nearest_weights(const Vec3& p, const Vec3& q, const Vec3& r) {
  const Vec3 corner[3] = {p, q, r};
  Vec3 best = Vec3::UnitX();
  Real least = p.norm();
  const auto consider = [&](const Vec3& w) {
    const Real d = (w[0] * p + w[1] * q + w[2] * r).norm();
    if (d < least) least = d, best = w;
  };
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const Vec3 edge = corner[j] - corner[i];
    if (edge.squaredNorm() == 0) continue;
    const Real t = std::clamp<Real>(-corner[i].dot(edge) / edge.squaredNorm(), 0.0, 1.0);
    Vec3 w = Vec3::Zero();
    w[i] = 1 - t, w[j] = t;
    consider(w);
  }
  const Vec3 n = (q - p).cross(r - p);
  Vec3 w(n.dot(q.cross(r)), n.dot(r.cross(p)), n.dot(p.cross(q)));
  if (n.squaredNorm() > 0 && w.minCoeff() >= 0) consider(w / w.sum());
  return best;
}

// The polytope's facet nearest to the origin, its nearest point, and the outward direction there.
struct Foot {
  const Facet* facet;
  Vec3 weight, outward;
  Real distance;  // < 0: the origin is inside
};
Foot nearest_facet(const Polytope& polytope, Real extent) {
  Real lowest = std::numeric_limits<double>::infinity();
  for (const Facet& f : polytope.facets()) lowest = std::min(lowest, f.offset);
  Foot best{nullptr, Vec3::Zero(), Vec3::Zero(), std::numeric_limits<double>::infinity()};
  Real least_beside = std::numeric_limits<double>::infinity();
  for (const Facet& f : polytope.facets()) {
    const auto w = [&](int i) { return polytope.vertex(f.vertex[i]).w; };
    const auto point = [&](const Vec3& weight) -> Vec3 {
      return weight[0] * w(0) + weight[1] * w(1) + weight[2] * w(2);
    };
    if (lowest >= 0) {
      // triangles of one face tie up to round-off: take the one that contains the foot of the origin
      if (f.offset > lowest + kRoundOff * extent) continue;
      const Vec3 foot = f.offset * f.normal;
      const Vec3 weight = nearest_weights(w(0) - foot, w(1) - foot, w(2) - foot);
      const Real beside = (point(weight) - foot).norm();
      if (beside >= least_beside) continue;
      least_beside = beside;
      best = {&f, weight, f.normal, -f.offset};
    } else if (f.offset < 0) {
      const Vec3 weight = nearest_weights(w(0), w(1), w(2)), p = point(weight);
      if (p.norm() >= best.distance) continue;
      best = {&f, weight, f.normal, p.norm()};
      if (p.norm() > 1e-11 * extent) best.outward = -p / p.norm();
    }
  }
  return best;
}

// Takes the normal of a face, or of a side, near n along which the shapes are equally far apart; else keeps n.
void settle_on(const Shape& s, const Shape& a, const Shape& b, Real extent, SignedDistance& found) {
  const auto consider = [&](const Vec3& m, bool face = false) {
    const Vec3 n = m.dot(found.normal) < 0 && !face ? Vec3(-m) : m;
    if (n.cross(found.normal).norm() > 1e-5) return;
    const Real distance = n.dot(support(a, b, -n).w) - radius_of(a) - radius_of(b);
    if (distance >= found.distance - 10 * kResolved * extent)
      found.normal = n, found.distance = distance;
  };
  if (s.type == GeomType::box) consider(s.rot.col(0)), consider(s.rot.col(1));
  if (s.type == GeomType::box || s.type == GeomType::cylinder) consider(s.rot.col(2));
  if (s.type == GeomType::mesh) {
    const Vec3 m = &s == &a ? found.normal : Vec3(-found.normal), d = s.rot.transpose() * m;
    for (int f = 0; f < s.hull.faces(); ++f) {
      const Vec3 n = s.hull.face_normal(f);
      if (n.dot(d) > 0.9) consider(s.rot * (&s == &a ? n : Vec3(-n)), true);
    }
  }
  const Vec3 z = s.rot.col(2), side = found.normal - z.dot(found.normal) * z;
  if (s.type == GeomType::cylinder && side.norm() > 0.8) consider(side.normalized());
}

// Signed distance of two cores; D is inflated by a ball.
SignedDistance nearest_cores(const Shape& a, const Shape& b, Real extent, Real ball,
                             bool& resolved) {
  resolved = true;
  Polytope polytope(a, b, extent, ball);
  if (!polytope.solid()) {  // cores without a volume
    const Vec3 d = b.pos - a.pos;
    const Vec3 n = d.norm() > 0 ? Vec3(d.normalized()) : Vec3(a.rot.col(0));
    const Vertex v = support(a, b, -n);
    return {n, n.dot(v.w), v.a, v.b};
  }
  // the best certified result: along `normal` the cores are `distance` apart
  SignedDistance found{Vec3::UnitX(), -std::numeric_limits<double>::infinity(), Vec3::Zero(),
                       Vec3::Zero()};
  while (true) {
    const Foot foot = nearest_facet(polytope, extent);
    const Vertex next = support(a, b, foot.outward, ball);
    const Real certified = ball - foot.outward.dot(next.w);
    if (certified >= found.distance - 0.1 * kResolved * extent) {  // also points of finer facets
      found = {-foot.outward, std::max(certified, found.distance), Vec3::Zero(), Vec3::Zero()};
      for (int i = 0; i < 3; ++i) {
        const Vertex& v = polytope.vertex(foot.facet->vertex[i]);
        found.point1 += foot.weight[i] * v.a, found.point2 += foot.weight[i] * v.b;
      }
    }
    if (foot.distance + ball - certified <= kResolved * extent) break;
    if (polytope.size() >= kMostVertices || !polytope.grow(next)) {
      resolved = false;
      break;
    }
  }
  return found;
}

}  // namespace

SignedDistance nearest_convex(const Shape& a, const Shape& b) {
  const auto is_round = [](const Shape& s) {
    return s.type == GeomType::sphere || s.type == GeomType::capsule;
  };
  if (is_round(a) && is_round(b)) {  // cores without a volume
    const auto as_capsule = [](Shape s) {
      if (s.type == GeomType::sphere) s.type = GeomType::capsule, s.size[1] = 0;
      return s;
    };
    const Witness w = nearest_of_capsules(as_capsule(a), as_capsule(b));
    return {w.normal, w.distance, w.point1, w.point2};
  }
  const Real extent = a.size.sum() + b.size.sum() + (b.pos - a.pos).norm();
  bool resolved;
  SignedDistance found = nearest_cores(a, b, extent, 0, resolved);
  if (abs(found.distance) < kNear * extent || !resolved) {
    const SignedDistance grown = nearest_cores(a, b, extent, kBall * extent, resolved);
    if (grown.distance > found.distance + 10 * kResolved * extent) found = grown;
  }
  found.distance -= radius_of(a) + radius_of(b);
  settle_on(a, a, b, extent, found);
  settle_on(b, a, b, extent, found);
  found.point1 += radius_of(a) * found.normal, found.point2 -= radius_of(b) * found.normal;
  return found;
}

}  // namespace stiction::reference::inline STICTION_REAL

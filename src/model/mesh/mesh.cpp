#include "model/mesh/mesh.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/mesh/inertia.h"
#include "model/mesh/mesh_hull.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

constexpr double kMinimum = 1e-15;  // MuJoCo's smallest volume and area

struct Face {
  Vec3 a, b, c;
  double area() const { return 0.5 * (b - a).cross(c - a).norm(); }
  Vec3 sum() const { return a + b + c; }
  // of the tetrahedron with r; positive if r is inside
  double volume(const Vec3& r) const { return (a - r).dot((b - r).cross(c - r)) / 6; }
};

void transform(Triangles& t, Hull& hull, const MeshSettings& s) {
  const Mat3 back = s.refquat.normalized().toRotationMatrix().transpose();
  for (Vec3& v : t.vertices) v = s.scale.cwiseProduct(back * (v - s.refpos));
  if (s.scale.prod() > 0) return;
  for (auto* faces : {&t.faces, &hull.faces})
    for (auto& f : *faces) std::swap(f[1], f[2]);
}

void check_orientation(const Triangles& t) {
  std::set<std::pair<int, int>> edges;
  for (const auto& f : t.faces) {
    const Face face{t.vertices[at(f[0])], t.vertices[at(f[1])], t.vertices[at(f[2])]};
    if (face.area() <= std::sqrt(kMinimum)) continue;
    for (std::size_t k = 0; k < 3; ++k)
      if (!edges.emplace(f[k], f[(k + 1) % 3]).second)
        throw ModelError(
            "its faces are not turned alike (inertia=\"exact\"): two of them run from vertex " +
            std::to_string(f[k] + 1) + " to " + std::to_string(f[(k + 1) % 3] + 1));
  }
}

// Returns whether a face lies inside of the hull, deeper than a thousandth of its extent. Of large meshes
// only a sample of the faces is tested, limited to a tenth of a second.
bool is_hollow(const Triangles& t, const Hull& hull) {
  constexpr std::size_t kMaxWork = 30'000'000;
  if (t.faces.empty() || hull.faces.empty()) return false;
  Vec3 low = t.vertices[at(hull.vertices.front())], high = low;
  for (const int i : hull.vertices)
    low = low.cwiseMin(t.vertices[at(i)]), high = high.cwiseMax(t.vertices[at(i)]);
  const double extent = (high - low).maxCoeff(), deep = 1e-3 * extent;
  std::vector<std::pair<Vec3, double>> planes;
  for (const auto& f : hull.faces) {
    const Vec3& a = t.vertices[at(f[0])];
    const Vec3 n = (t.vertices[at(f[1])] - a).cross(t.vertices[at(f[2])] - a);
    if (n.norm() > 1e-9 * extent * extent)  // slivers have no direction
      planes.emplace_back(n.normalized(), n.normalized().dot(a));
  }
  const std::size_t stride = 1 + t.faces.size() * planes.size() / kMaxWork;
  for (std::size_t k = 0; k < t.faces.size(); k += stride) {
    const auto& f = t.faces[k];
    const Vec3 middle = (t.vertices[at(f[0])] + t.vertices[at(f[1])] + t.vertices[at(f[2])]) / 3;
    if (std::all_of(planes.begin(), planes.end(),
                    [&](const auto& p) { return p.second - p.first.dot(middle) > deep; }))
      return true;
  }
  return false;
}

class Sums {
 public:
  Sums(std::vector<Face> faces, MeshInertia kind) : faces_(std::move(faces)), kind_(kind) {}

  // Returns the centre of mass: Σ V (a + b + c + r)/4 over tetrahedra with the centroid r of all faces.
  Vec3 centre() const {
    Vec3 r = Vec3::Zero();
    double area = 0;
    for (const Face& f : faces_) r += f.area() * f.sum() / 3, area += f.area();
    if (area < kMinimum) throw ModelError("its surface is too small");
    r /= area;
    if (kind_ == MeshInertia::shell) return r;
    Vec3 com = Vec3::Zero();
    double volume = 0;
    for (const Face& f : faces_) {
      const double v = signed_or_not(f.volume(r));
      com += v * (f.sum() + r) / 4, volume += v;
    }
    if (volume < -kMinimum)
      throw ModelError("its volume is negative: its faces are turned inside out");
    if (volume < kMinimum)
      throw ModelError("its volume is too small; inertia=\"shell\" takes a surface");
    return com / volume;
  }

  // Returns ∫ x xᵀ about `com`: V/20 (s sᵀ + a aᵀ + b bᵀ + c cᵀ) for a tetrahedron with com, s = a + b + c;
  // A/12 for a triangle.
  std::pair<double, Mat3> second_moments(const Vec3& com) const {
    Mat3 p = Mat3::Zero();
    double total = 0;
    const bool shell = kind_ == MeshInertia::shell;
    for (const Face& f : faces_) {
      const Vec3 a = f.a - com, b = f.b - com, c = f.c - com, s = a + b + c;
      const double v = shell ? f.area() : signed_or_not(f.volume(com));
      total += v;
      p += v / (shell ? 12 : 20) *
           (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
    }
    return {total, p};
  }

 private:
  double signed_or_not(double v) const { return kind_ == MeshInertia::legacy ? std::abs(v) : v; }

  std::vector<Face> faces_;
  MeshInertia kind_;
};

}  // namespace

MeshShape mesh_shape(Triangles t, const MeshSettings& s) {
  check_triangles(t);
  Hull hull;  // of the file's coordinates, since `maxhullvert` selects by distance in these
  if (s.needs_hull || t.faces.empty() || s.inertia == MeshInertia::convex)
    hull = convex_hull(t.vertices, s.maxhullvert);
  transform(t, hull, s);
  if (s.inertia == MeshInertia::exact) check_orientation(t);
  std::vector<Face> faces;
  for (const auto& f : t.faces.empty() || s.inertia == MeshInertia::convex ? hull.faces : t.faces)
    faces.push_back({t.vertices[at(f[0])], t.vertices[at(f[1])], t.vertices[at(f[2])]});

  const Sums sums(std::move(faces), s.inertia);
  MeshShape m;
  m.hollow = s.needs_hull && is_hollow(t, hull);
  m.pos = sums.centre();
  const auto [volume, second] = sums.second_moments(m.pos);
  m.volume = volume;
  const Principal principal = principal_axes(second.trace() * Mat3::Identity() - second);
  m.quat = principal.axes;
  m.moments = principal.moments / volume;
  if (!(m.moments.minCoeff() > 0)) throw ModelError("its inertia is not positive");
  if (m.moments[1] + m.moments[2] < m.moments[0] * (1 - 1e-6) - 1e-9 / volume)
    throw ModelError("no rigid body has its inertia; inertia=\"convex\" takes that of its hull");

  const Mat3 back = m.quat.toRotationMatrix().transpose();
  for (Vec3& v : t.vertices) v = back * (v - m.pos);
  m.low = m.high = t.vertices.front();
  for (const Vec3& v : t.vertices) m.low = m.low.cwiseMin(v), m.high = m.high.cwiseMax(v);
  std::vector<int> local(t.vertices.size(), -1);
  for (const int i : hull.vertices) {
    local[static_cast<std::size_t>(i)] = static_cast<int>(m.hull.size());
    m.hull.push_back(t.vertices[at(i)]);
  }
  for (auto f : hull.faces) {
    for (int& i : f) i = local[static_cast<std::size_t>(i)];
    m.hull_faces.push_back(f);
  }
  return m;
}

Fit fitted(const MeshShape& mesh, GeomType type, bool aabb) {
  // half sizes of the box with these moments: b_k² = 3/2 (I_i + I_j − I_k)
  Vec3 b = (1.5 * (Vec3::Constant(mesh.moments.sum()) - 2 * mesh.moments)).cwiseMax(0).cwiseSqrt();
  Fit fit;
  if (aabb) {
    fit.centre = 0.5 * (mesh.low + mesh.high);
    b = mesh.high - fit.centre;
  }
  switch (type) {
    case GeomType::sphere: fit.size[0] = aabb ? b.maxCoeff() : b.mean(); break;
    case GeomType::capsule:
    case GeomType::cylinder:
      fit.size[0] = aabb ? std::max(b[0], b[1]) : (b[0] + b[1]) / 2;
      fit.size[1] = b[2];
      if (type == GeomType::capsule)
        fit.size[1] -= aabb ? fit.size[0] : std::min(b[2], fit.size[0] / 2);
      break;
    case GeomType::ellipsoid:
    case GeomType::box: fit.size = b; break;
    default: throw ModelError("this shape can't be fitted to a mesh");
  }
  return fit;
}

}  // namespace stiction::model

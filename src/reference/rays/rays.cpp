#include "reference/rays/rays.h"

#include <algorithm>
#include <cmath>

namespace stiction::reference {
namespace {

// A ray in the frame of a geom; the parts of the geom's surface are tested one by one.
class Ray {
 public:
  Ray(const Vec3& origin, const Vec3& direction) : o_(origin), d_(direction) {}

  Vec3 at(double x) const { return o_ + x * d_; }
  double distance() const { return distance_; }
  Vec3 normal() const { return normal_; }

  void offer(double x, const Vec3& normal) {
    if (!(x >= 0) || (distance_ >= 0 && x >= distance_)) return;
    distance_ = x;
    normal_ = normal.normalized();
  }
  // The plane n·q = n·a; `holds` tells which of its points belong to the surface.
  template <class F>
  void plane(const Vec3& n, const Vec3& a, const F& holds) {
    const double rate = n.dot(d_);
    if (rate == 0) return;
    const double x = n.dot(a - o_) / rate;
    if (holds(at(x))) offer(x, n);
  }
  // The quadric |S (q - c)| = 1, S diagonal. With u = S d, w = S (o - c): the point of the line nearest to c is at
  // x0 = −u·w/|u|²; half the chord, squared 1 − |w + x0 u|², lies before it and half behind it.
  template <class F>
  void quadric(const Vec3& scale, const Vec3& c, const F& holds) {
    const Vec3 u = scale.cwiseProduct(d_), w = scale.cwiseProduct(o_ - c);
    const double length2 = u.squaredNorm();
    if (length2 == 0) return;
    const double x0 = -u.dot(w) / length2, chord2 = 1 - (w + x0 * u).squaredNorm();
    if (!(chord2 >= 0)) return;
    const double half = std::sqrt(chord2 / length2);
    for (const double x : {x0 - half, x0 + half}) {
      const Vec3 q = at(x);
      if (holds(q)) offer(x, scale.cwiseProduct(scale.cwiseProduct(q - c)));
    }
  }
  // Counterclockwise from outside. The line passes all three edges on the same side:
  //   d · (a − o) × (b − o)  of one sign
  void triangle(const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 u = a - o_, v = b - o_, w = c - o_;
    const double s[3] = {d_.dot(v.cross(u)), d_.dot(w.cross(v)), d_.dot(u.cross(w))};
    const auto [least, most] = std::minmax_element(s, s + 3);
    if (*least < 0 && *most > 0) return;
    const Vec3 n = (b - a).cross(c - a);
    if (n.dot(d_) != 0) offer(n.dot(u) / n.dot(d_), n);
  }

 private:
  Vec3 o_, d_, normal_ = Vec3::Zero();
  double distance_ = -1;
};

constexpr auto kEverywhere = [](const Vec3&) { return true; };

void plane(const Vec3& size, Ray& ray) {
  if (ray.at(1).z() >= ray.at(0).z()) return;  // hit from above only
  ray.plane(Vec3::UnitZ(), Vec3::Zero(), [&](const Vec3& q) {
    return (size[0] <= 0 || std::abs(q.x()) <= size[0]) &&
           (size[1] <= 0 || std::abs(q.y()) <= size[1]);
  });
}

void box(const Vec3& size, Ray& ray) {
  for (int k = 0; k < 3; ++k)
    for (const double side : {-1.0, 1.0}) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      const Vec3 n = side * Vec3::Unit(k);
      ray.plane(n, size[k] * n, [&](const Vec3& q) {
        return std::abs(q[i]) <= size[i] && std::abs(q[j]) <= size[j];
      });
    }
}

void tube(double radius, double half, Ray& ray) {
  ray.quadric({1 / radius, 1 / radius, 0}, Vec3::Zero(),
              [&](const Vec3& q) { return std::abs(q.z()) <= half; });
}

void cylinder(const Vec3& size, Ray& ray) {
  tube(size[0], size[1], ray);
  for (const double side : {-1.0, 1.0}) {
    const Vec3 n = side * Vec3::UnitZ();
    ray.plane(n, size[1] * n, [&](const Vec3& q) { return q.head<2>().norm() <= size[0]; });
  }
}

void capsule(const Vec3& size, Ray& ray) {
  tube(size[0], size[1], ray);
  for (const double side : {-1.0, 1.0})
    ray.quadric(Vec3::Constant(1 / size[0]), {0, 0, side * size[1]},
                [&](const Vec3& q) { return side * q.z() >= size[1]; });
}

void mesh(const Model& m, int id, Ray& ray) {
  const int first = m.mesh_vertadr[at(id)];
  for (int f = m.mesh_faceadr[at(id)]; f < m.mesh_faceadr[at(id)] + m.mesh_facenum[at(id)]; ++f) {
    const auto corner = [&](int k) {
      return row3(m.mesh_vert, first + m.mesh_face[at(3 * f + k)]);
    };
    ray.triangle(corner(0), corner(1), corner(2));
  }
}

// Two triangles per cell; four walls, from the surface down to the floor; the floor.
void height_field(const Model& m, int id, Ray& ray) {
  const int nrow = m.hfield_nrow[at(id)], ncol = m.hfield_ncol[at(id)];
  const double* const size = &m.hfield_size[at(4 * id)];
  const double* const data = &m.hfield_data[at(m.hfield_adr[at(id)])];
  const auto node = [&](int i, int j) -> Vec3 {
    return {(2.0 * i / (ncol - 1) - 1) * size[0], (2.0 * j / (nrow - 1) - 1) * size[1],
            size[2] * data[j * ncol + i]};
  };
  const double floor = std::min(-size[3], size[2] * *std::min_element(data, data + nrow * ncol));
  for (int j = 0; j + 1 < nrow; ++j)
    for (int i = 0; i + 1 < ncol; ++i) {
      ray.triangle(node(i, j), node(i + 1, j), node(i + 1, j + 1));
      ray.triangle(node(i, j), node(i + 1, j + 1), node(i, j + 1));
    }
  const auto wall = [&](const Vec3& a, const Vec3& b) {
    const Vec3 c(a.x(), a.y(), floor), d(b.x(), b.y(), floor);
    ray.triangle(c, d, b);
    ray.triangle(c, b, a);
  };
  for (int i = 0; i + 1 < ncol; ++i) {
    wall(node(i, 0), node(i + 1, 0));
    wall(node(i + 1, nrow - 1), node(i, nrow - 1));
  }
  for (int j = 0; j + 1 < nrow; ++j) {
    wall(node(0, j + 1), node(0, j));
    wall(node(ncol - 1, j), node(ncol - 1, j + 1));
  }
  ray.plane(-Vec3::UnitZ(), {0, 0, floor}, [&](const Vec3& q) {
    return std::abs(q.x()) <= size[0] && std::abs(q.y()) <= size[1];
  });
}

bool is_met(const Model& m, int g, const RayOptions& o) {
  const int body = m.geom_bodyid[at(g)],
            group = std::clamp(m.geom_group[at(g)], 0, kGeomGroups - 1);
  return m.geom_alpha[at(g)] != 0 && (o.geomgroup >> group & 1) != 0 && body != o.bodyexclude &&
         (o.flg_static || m.body_weldid[at(body)] != 0);
}

void meet(const Model& m, int g, Ray& ray) {
  const Vec3 size = row3(m.geom_size, g);
  const int id = m.geom_dataid[at(g)];
  switch (m.geom_type[at(g)]) {
    case GeomType::plane: return plane(size, ray);
    case GeomType::hfield:
      if (m.hfield_nrow[at(id)] > 0) height_field(m, id, ray);
      return;
    case GeomType::sphere:
      return ray.quadric(Vec3::Constant(1 / size[0]), Vec3::Zero(), kEverywhere);
    case GeomType::capsule: return capsule(size, ray);
    case GeomType::ellipsoid: return ray.quadric(size.cwiseInverse(), Vec3::Zero(), kEverywhere);
    case GeomType::cylinder: return cylinder(size, ray);
    case GeomType::box: return box(size, ray);
    case GeomType::mesh: return mesh(m, id, ray);
  }
}

}  // namespace

RayHit raycast(const Model& m, const Kinematics& kin, const Vec3& origin, const Vec3& direction,
               const RayOptions& options) {
  RayHit hit;
  for (int g = 0; g < m.ngeom; ++g) {
    if (!is_met(m, g, options)) continue;
    const Mat3& axes = kin.geom_xmat[at(g)];
    Ray ray(axes.transpose() * (origin - kin.geom_xpos[at(g)]), axes.transpose() * direction);
    meet(m, g, ray);
    const double x = ray.distance();
    if (x >= 0 && (hit.geom < 0 || x < hit.distance)) hit = {x, g, axes * ray.normal()};
  }
  return hit;
}

}  // namespace stiction::reference

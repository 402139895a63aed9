// An independent judge of contact geometry: support functions, surfaces and random placements.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "reference/collision/geometry.h"
#include "reference/collision/geometry_meshes.h"

namespace stiction::reference::test {

using Rng = std::mt19937_64;

inline double uniform(Rng& rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}
inline Vec3 random_vector(Rng& rng, double size) {
  return {uniform(rng, -size, size), uniform(rng, -size, size), uniform(rng, -size, size)};
}
inline Vec3 random_unit(Rng& rng) {
  std::normal_distribution<double> normal;
  return Vec3(normal(rng), normal(rng), normal(rng)).normalized();
}
inline Mat3 random_rotation(Rng& rng) {
  std::normal_distribution<double> normal;
  return Quat(normal(rng), normal(rng), normal(rng), normal(rng)).normalized().toRotationMatrix();
}
// A shape of size 0.05 to 1, or a mesh of the zoo, within a cube of half side `spread`.
inline Shape random_shape(Rng& rng, GeomType type, double spread = 1.5) {
  if (type == GeomType::mesh) {
    const int mesh = static_cast<int>(rng() % kZoo);
    return mesh_shape(mesh, random_vector(rng, spread), random_rotation(rng));
  }
  const Vec3 size(uniform(rng, 0.05, 1), uniform(rng, 0.05, 1), uniform(rng, 0.05, 1));
  return {type, size, random_vector(rng, spread), random_rotation(rng)};
}

struct TypePair {
  GeomType a, b;
};
inline const std::vector<TypePair>& all_pairs() {
  using G = GeomType;
  static const std::vector<TypePair> pairs = {
      {G::plane, G::sphere},   {G::plane, G::capsule},   {G::plane, G::ellipsoid},
      {G::plane, G::cylinder}, {G::plane, G::box},       {G::sphere, G::sphere},
      {G::sphere, G::capsule}, {G::capsule, G::capsule}, {G::sphere, G::box},
      {G::capsule, G::box},    {G::box, G::box}};
  return pairs;
}

// Cylinders, ellipsoids and meshes against every convex shape: these are searched.
inline const std::vector<TypePair>& searched_pairs() {
  using G = GeomType;
  static const std::vector<TypePair> pairs = {{G::sphere, G::ellipsoid},
                                              {G::sphere, G::cylinder},
                                              {G::capsule, G::ellipsoid},
                                              {G::capsule, G::cylinder},
                                              {G::ellipsoid, G::ellipsoid},
                                              {G::ellipsoid, G::cylinder},
                                              {G::ellipsoid, G::box},
                                              {G::cylinder, G::cylinder},
                                              {G::cylinder, G::box},
                                              {G::sphere, G::mesh},
                                              {G::capsule, G::mesh},
                                              {G::ellipsoid, G::mesh},
                                              {G::cylinder, G::mesh},
                                              {G::box, G::mesh},
                                              {G::mesh, G::mesh}};
  return pairs;
}

inline std::vector<Witness> contacts(const Shape& a, const Shape& b) {
  std::vector<Witness> out(12);
  out.resize(static_cast<std::size_t>(collide(a, b, out)));
  return out;
}
inline const Witness& nearest(const std::vector<Witness>& w) {
  return *std::min_element(w.begin(), w.end(), [](const Witness& x, const Witness& y) {
    return x.distance < y.distance;
  });
}

// max over the shape of n·x; a plane is the half space below it.
inline double support(const Shape& s, const Vec3& n) {
  const Vec3 m = s.rot.transpose() * n;
  const double centre = n.dot(s.pos);
  switch (s.type) {
    case GeomType::sphere: return centre + s.size[0];
    case GeomType::capsule: return centre + s.size[0] + s.size[1] * std::abs(m[2]);
    case GeomType::ellipsoid: return centre + s.size.cwiseProduct(m).norm();
    case GeomType::cylinder:
      return centre + s.size[0] * std::hypot(m[0], m[1]) + s.size[1] * std::abs(m[2]);
    case GeomType::box: return centre + s.size.dot(m.cwiseAbs());
    case GeomType::mesh: {
      double most = -std::numeric_limits<double>::infinity();
      for (int i = 0; i < s.hull.vertices(); ++i) most = std::max(most, m.dot(s.hull.vertex(i)));
      return centre + most;
    }
    case GeomType::plane:
      if ((n - s.rot.col(2)).norm() < 1e-9) return s.rot.col(2).dot(s.pos);
      return std::numeric_limits<double>::infinity();
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

// Distance of the support planes of a and b with normal n from a to b. The signed distance of two
// convex bodies is the maximum of this over all unit n.
inline double separation(const Shape& a, const Shape& b, const Vec3& n) {
  return -support(b, -n) - support(a, n);
}

// Maximum of the separation found by brute force: random directions, the best climbed by random
// steps of shrinking length. A lower bound of the signed distance.
inline double brute_force_distance(const Shape& a, const Shape& b, Rng& rng) {
  if (a.type == GeomType::plane) return separation(a, b, a.rot.col(2));
  struct Start {
    double value;
    Vec3 n;
  };
  std::vector<Start> starts;
  for (int i = 0; i < 300; ++i) {
    const Vec3 n = random_unit(rng);
    starts.push_back({separation(a, b, n), n});
  }
  const auto better = [](const Start& x, const Start& y) { return x.value > y.value; };
  std::partial_sort(starts.begin(), starts.begin() + 8, starts.end(), better);
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 8; ++i) {
    Start s = starts[i];
    for (double step = 0.3; step > 1e-9;) {
      bool moved = false;
      for (int k = 0; k < 12; ++k) {
        const Vec3 n = (s.n + step * random_unit(rng)).normalized();
        const double value = separation(a, b, n);
        if (value > s.value) s = {value, n}, moved = true;
      }
      if (!moved) step *= 0.6;
    }
    best = std::max(best, s.value);
  }
  return best;
}

// How far x is outside the shape's surface, 0 on it, < 0 inside; exact near the surface to first
// order. Plane: height.
inline double outside(const Shape& s, const Vec3& x) {
  const Vec3 p = s.rot.transpose() * (x - s.pos);
  switch (s.type) {
    case GeomType::plane: return p[2];
    case GeomType::sphere: return p.norm() - s.size[0];
    case GeomType::capsule:
      return Vec3(p[0], p[1], p[2] - std::clamp(p[2], -s.size[1], s.size[1])).norm() - s.size[0];
    case GeomType::ellipsoid: return (p.cwiseQuotient(s.size).norm() - 1) * s.size.minCoeff();
    case GeomType::cylinder:
      return std::max(std::hypot(p[0], p[1]) - s.size[0], std::abs(p[2]) - s.size[1]);
    case GeomType::box: return (p.cwiseAbs() - s.size).maxCoeff();
    case GeomType::mesh: {
      double most = -std::numeric_limits<double>::infinity();
      for (int f = 0; f < s.hull.faces(); ++f)
        most = std::max(most, s.hull.face_normal(f).dot(p - s.hull.vertex(s.hull.corners(f)[0])));
      return most;
    }
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

inline std::string name(GeomType t) {
  static const char* const names[] = {"plane",     "hfield",   "sphere", "capsule",
                                      "ellipsoid", "cylinder", "box",    "mesh"};
  return names[static_cast<int>(t)];
}
inline std::string name(const TypePair& p) {
  return name(p.a) + "_" + name(p.b);
}

}  // namespace stiction::reference::test

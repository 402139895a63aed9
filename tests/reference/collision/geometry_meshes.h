// Meshes as shapes: the hulls that a model makes of points.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "reference/collision/geometry.h"
#include "stiction/model.h"

namespace stiction::reference::test {

inline std::string numbers(const std::vector<Eigen::Vector3d>& points) {
  std::ostringstream text;
  text.precision(17);
  for (const auto& p : points) text << p.x() << ' ' << p.y() << ' ' << p.z() << ' ';
  return text.str();
}
// A model with a loose geom of each mesh, which all touch each other.
inline ModelPtr model_of_meshes(const std::vector<std::vector<Eigen::Vector3d>>& meshes) {
  std::string assets, bodies;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    const std::string name = "m" + std::to_string(i);
    assets += "<mesh name='" + name + "' vertex='" + numbers(meshes[i]) + "'/>";
    bodies += "<body><freejoint/><geom type='mesh' mesh='" + name + "'/></body>";
  }
  return load_model_from_string("<mujoco><asset>" + assets +
                                "</asset><worldbody><geom size='.1'/>" + bodies +
                                "</worldbody></mujoco>");
}

inline std::vector<Eigen::Vector3d> box_points(const Eigen::Vector3d& half) {
  std::vector<Eigen::Vector3d> points;
  for (int i = 0; i < 8; ++i)
    points.push_back(
        half.cwiseProduct(Eigen::Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  return points;
}
// A regular prism about z.
inline std::vector<Eigen::Vector3d> prism_points(int sides, double radius, double half) {
  std::vector<Eigen::Vector3d> points;
  for (int i = 0; i < sides; ++i) {
    const double angle = 2 * M_PI * i / sides;
    for (const double z : {-half, half})
      points.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
  }
  return points;
}
// On an ellipsoid, by the golden angle: no two faces alike.
inline std::vector<Eigen::Vector3d> stone_points(int count, const Eigen::Vector3d& half) {
  std::vector<Eigen::Vector3d> points;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2 * i + 1.0) / count, angle = 2.399963229728653 * i,
                 r = std::sqrt(1 - z * z);
    points.push_back(
        half.cwiseProduct(Eigen::Vector3d(r * std::cos(angle), r * std::sin(angle), z)));
  }
  return points;
}

enum Zoo { kBox, kPrism, kStone, kRock, kTetrahedron, kZoo };
inline const Model& zoo() {
  static const ModelPtr model =
      model_of_meshes({box_points({0.5, 0.25, 0.125}),
                       prism_points(12, 0.5, 0.2),
                       stone_points(40, {0.6, 0.4, 0.3}),
                       stone_points(700, {0.4, 0.6, 0.5}),
                       {{0, 0, 0}, {0.7, 0, 0.1}, {0.2, 0.8, 0}, {0.3, 0.2, 0.6}}});
  return *model;
}

inline Hull hull_of(const Model& m, int mesh) {
  const auto i = static_cast<std::size_t>(mesh);
  const auto vert = static_cast<std::size_t>(m.mesh_vertadr[i]),
             face = static_cast<std::size_t>(m.mesh_polyadr[i]),
             faces = static_cast<std::size_t>(m.mesh_polynum[i]),
             triangle = static_cast<std::size_t>(m.mesh_faceadr[i]),
             triangles = static_cast<std::size_t>(m.mesh_facenum[i]);
  return {std::span(m.mesh_vert).subspan(3 * vert, 3 * static_cast<std::size_t>(m.mesh_vertnum[i])),
          std::span(m.mesh_polynormal).subspan(3 * face, 3 * faces),
          std::span(m.mesh_polyvertadr).subspan(face, faces),
          std::span(m.mesh_polyvertnum).subspan(face, faces),
          std::span(m.mesh_polyvert).subspan(static_cast<std::size_t>(m.mesh_polyvertadr[face])),
          std::span(m.mesh_face).subspan(3 * triangle, 3 * triangles)};
}
// A mesh of the zoo: its frame is at the centre of mass, along the principal axes.
inline Shape mesh_shape(int mesh, const Eigen::Vector3d& pos = Eigen::Vector3d::Zero(),
                        const Eigen::Matrix3d& rot = Eigen::Matrix3d::Identity()) {
  const double* size = &zoo().geom_size[3 * static_cast<std::size_t>(mesh + 1)];
  return {GeomType::mesh, Eigen::Vector3d(size), pos, rot, hull_of(zoo(), mesh)};
}
// Which mesh of the zoo it is.
inline int mesh_of(const Shape& s) {
  for (int i = 0; i < kZoo; ++i)
    if (hull_of(zoo(), i).vert.data() == s.hull.vert.data()) return i;
  return -1;
}

}  // namespace stiction::reference::test

// The robot of a URDF: links, their masses and shapes, joints as a tree.
#pragma once

#include <map>
#include <set>

#include "model/mesh/inertia.h"
#include "model/urdf/urdf_meshes.h"

namespace stiction::model::urdf {

struct Pose {
  Vec3 pos = Vec3::Zero();
  Quat quat = Quat::Identity();
  Pose operator*(const Pose& p) const { return {pos + quat * p.pos, (quat * p.quat).normalized()}; }
};

struct Shape {
  Element* element = nullptr;  // <collision>
  std::string name, type;      // of MJCF
  Pose origin;
  std::vector<double> size;
  std::string mesh;  // the name of its <mesh>
};

struct Joint {
  Element* element = nullptr;
  std::string name, type;
  int child = -1;
  Pose origin;
  Vec3 axis = Vec3::UnitX();
};

struct Link {
  Element* element = nullptr;
  std::string name;
  int parent = -1;
  bool is_fixed = false;                   // to its parent
  std::optional<MassProperties> inertial;  // in the frame of the link
  // Of this link or one that is fixed to it, over others that are: an inertial, one of a mass.
  bool has_inertial = false, has_mass = false;
  std::vector<Shape> shapes;
  std::vector<Joint> joints;  // to its children, in the order of the file
};

struct Robot {
  std::vector<Link> links;  // in the order of the file
  int root = -1;
  std::set<std::string> joint_names, geom_names;
};

// Reads <link> and <joint>; the meshes of their shapes go to `assets`. Throws ModelError where the
// links are no tree.
Robot read_robot(Element& robot, MeshFinder& meshes, Element& assets);

// The first child of this name, or null.
Element* child(Element& e, std::string_view name);
// "": nothing is near; otherwise the question whether it was meant.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace stiction::model::urdf

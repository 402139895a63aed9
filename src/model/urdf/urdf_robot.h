// The robot of a URDF: links, their masses and shapes, and the tree of joints.
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
  // Whether this link or a link fixed to it, over links that are fixed, has an inertial; one with a mass.
  bool has_inertial = false, has_mass = false;
  std::vector<Shape> shapes;
  std::vector<Joint> joints;  // to its children, in the order of the file
};

struct Robot {
  std::vector<Link> links;  // in the order of the file
  int root = -1;
  std::set<std::string> joint_names, geom_names;
};

// Reads <link> and <joint>; the meshes of their shapes are added to `assets`. Throws ModelError if the
// links do not form a tree.
Robot read_robot(Element& robot, MeshFinder& meshes, Element& assets);

// Returns the first child of this name, or null.
Element* child(Element& e, std::string_view name);
// Returns a question that suggests a near name; "" if none is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace stiction::model::urdf

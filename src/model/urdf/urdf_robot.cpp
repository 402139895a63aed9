#include "model/urdf/urdf_robot.h"

#include <cmath>

#include "model/xml/bounds.h"
#include "model/xml/schema.h"

namespace stiction::model::urdf {

Element* child(Element& e, std::string_view name) {
  for (Element& c : e.children)
    if (c.name == name) return &c;
  return nullptr;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? "" : "; did you mean \"" + near + "\"?";
}

namespace {

// <origin>: rpy are rotations about the fixed axes x, y, z.
Pose origin_of(Element& e) {
  Pose p;
  Element* o = child(e, "origin");
  if (!o) return p;
  exactly(*o, "xyz", kLengthBound, p.pos);
  Vec3 rpy = Vec3::Zero();
  if (exactly(*o, "rpy", rpy)) {
    const auto turn = [&](int axis) {
      Quat q(std::cos(0.5 * rpy[axis]), 0, 0, 0);
      q.vec()[axis] = std::sin(0.5 * rpy[axis]);
      return q;
    };
    p.quat = (turn(2) * turn(1) * turn(0)).normalized();
  }
  return p;
}

double required_number(Element& e, std::string_view attribute) {
  const auto x = number(e, attribute);
  if (!x) fail(e, "needs the attribute " + std::string(attribute));
  return *x;
}
Element& required_child(Element& e, std::string_view name) {
  Element* c = child(e, name);
  if (!c) fail(e, "needs a <" + std::string(name) + ">");
  return *c;
}

MassProperties inertial_of(Element& e) {
  MassProperties own;
  Element& mass = required_child(e, "mass");
  own.mass = required_number(mass, "value");
  require_nonnegative(mass, "value", own.mass);
  Element& i = required_child(e, "inertia");
  const auto off = [&](const char* name) { return number(i, name).value_or(0); };
  // read before <<, which an error must not interrupt
  const double xx = required_number(i, "ixx"), yy = required_number(i, "iyy"),
               zz = required_number(i, "izz");
  const double xy = off("ixy"), xz = off("ixz"), yz = off("iyz");
  own.inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  const Pose p = origin_of(e);
  if (own.mass == 0 && !own.inertia.isZero(0)) {
    mark(mass, "value", Use::mapped, false, "without a mass there is no inertia, as in MuJoCo");
    own.inertia.setZero();
  }
  return placed(own, p.pos, p.quat);
}

class Reader {
 public:
  Reader(Element& robot, MeshFinder& meshes, Element& assets)
      : element_(robot), meshes_(meshes), assets_(assets) {}

  Robot read() {
    for (Element& e : element_.children)
      if (e.name == "link") read_link(e);
    if (robot_.links.empty()) fail(element_, "a robot without a <link>");
    for (Element& e : element_.children)
      if (e.name == "joint") read_joint(e);
    robot_.root = only_root();
    for (std::size_t i = 0; i < robot_.links.size(); ++i) look_up(static_cast<int>(i));
    return std::move(robot_);
  }

 private:
  Link& at(int i) { return robot_.links[static_cast<std::size_t>(i)]; }

  void read_link(Element& e) {
    Link l;
    l.element = &e;
    l.name = required_text(e, "name");
    if (!ids_.try_emplace(l.name, static_cast<int>(robot_.links.size())).second)
      fail(e, "name", "second link of this name");
    if (Element* inertial = child(e, "inertial")) l.inertial = inertial_of(*inertial);
    for (Element& c : e.children)
      if (c.name == "collision") l.shapes.push_back(read_shape(c));
    robot_.links.push_back(std::move(l));
  }

  Shape read_shape(Element& e) {
    Shape s;
    s.element = &e;
    s.name = text(e, "name").value_or("");
    if (!s.name.empty() && !robot_.geom_names.insert(s.name).second) {
      mark(e, "name", Use::ignored, false, "second collision of this name: its geom has none");
      s.name.clear();
    }
    s.origin = origin_of(e);
    Element& geometry = required_child(e, "geometry");
    if (geometry.children.size() != 1) fail(geometry, "needs one shape");
    Element& g = geometry.children.front();
    if (g.name == "box") {
      Vec3 size;
      if (!exactly(g, "size", size)) fail(g, "needs the attribute size");
      s.type = "box", s.size = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
    } else if (g.name == "sphere") {
      s.type = "sphere", s.size = {required_number(g, "radius")};
    } else if (g.name == "cylinder" || g.name == "capsule") {
      s.type = g.name, s.size = {required_number(g, "radius"), 0.5 * required_number(g, "length")};
    } else if (g.name == "mesh") {
      s.type = "mesh", s.mesh = meshes_.add(g, assets_);
    } else {
      fail(g, "no shape of URDF: box, cylinder, capsule, sphere or mesh");
    }
    return s;
  }

  int find_link(Element& joint, const char* end) {
    Element& e = required_child(joint, end);
    const std::string name = required_text(e, "link");
    const auto it = ids_.find(name);
    if (it != ids_.end()) return it->second;
    std::vector<std::string> known;
    for (const auto& [k, id] : ids_) known.push_back(k);
    fail(e, "link", "there is no link of this name" + did_you_mean(name, known));
  }

  void read_joint(Element& e) {
    Joint j;
    j.element = &e;
    j.name = required_text(e, "name");
    if (!robot_.joint_names.insert(j.name).second) fail(e, "name", "second joint of this name");
    j.type = required_text(e, "type");
    if (!std::set<std::string>{"fixed", "revolute", "continuous", "prismatic", "floating", "planar"}
             .contains(j.type))
      fail(e, "type", "is none of fixed, revolute, continuous, prismatic, floating, planar");
    const int parent = find_link(e, "parent");
    j.child = find_link(e, "child");
    if (at(j.child).parent >= 0 || j.child == parent)
      fail(e, "the link \"" + at(j.child).name +
                  "\" has a parent already: URDF has no loops; close them in MJCF by <equality>");
    at(j.child).parent = parent;
    at(j.child).is_fixed = j.type == "fixed";
    j.origin = origin_of(e);
    if (Element* axis = child(e, "axis")) {
      exactly(*axis, "xyz", j.axis);
      const bool turns = j.type != "fixed" && j.type != "floating";
      if (turns && !(j.axis.norm() > 1e-14))
        fail(*axis, "xyz", "an axis of length zero has no direction");
    }
    at(parent).joints.push_back(j);
  }

  int only_root() {
    std::string roots;
    int root = -1, count = 0;
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      if (robot_.links[i].parent >= 0) continue;
      roots += (count++ ? ", \"" : "\"") + shown(robot_.links[i].name) + "\"";
      if (root < 0) root = static_cast<int>(i);
    }
    if (count == 0) fail(element_, "every link has a parent: URDF has no loops");
    if (count > 1)
      fail(element_, std::to_string(count) + " links have no parent: " + roots +
                         "; join them by fixed or floating joints");
    for (const Link& l : robot_.links) {
      std::size_t steps = 0;
      for (int i = l.parent; i >= 0; i = at(i).parent)
        if (++steps > robot_.links.size())
          fail(*l.element, "has itself among its parents: URDF has no loops");
    }
    return root;
  }

  // Tells the links to which this one is fixed that an inertial, or one with a mass, exists.
  void look_up(int i) {
    if (!at(i).inertial) return;
    const bool mass = at(i).inertial->mass > 0;
    for (; i >= 0 && !(at(i).has_inertial && at(i).has_mass >= mass);
         i = at(i).is_fixed ? at(i).parent : -1)
      at(i).has_inertial = true, at(i).has_mass |= mass;
  }

  Element& element_;
  MeshFinder& meshes_;
  Element& assets_;
  Robot robot_;
  std::map<std::string, int> ids_;
};

}  // namespace

Robot read_robot(Element& robot, MeshFinder& meshes, Element& assets) {
  return Reader(robot, meshes, assets).read();
}

}  // namespace stiction::model::urdf

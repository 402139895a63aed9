// URDF (wiki.ros.org/urdf/XML) as MJCF. Conventions are those of MuJoCo's own reader: links that are
// fixed to each other form one body, the root is fixed to the world, a planar joint is two slides and a
// hinge, a mimic joint an equality of joints.
#include "model/urdf/urdf.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "model/urdf/urdf_robot.h"
#include "model/xml/bounds.h"
#include "model/xml/orientation.h"
#include "model/xml/schema.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

using namespace urdf;

constexpr double kDensity = 1000;  // kg/m³ for links without <inertial>, as in MuJoCo

std::string written(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}
template <class Numbers>
std::string written(const Numbers& numbers) {
  std::string text;
  for (const double x : numbers) text += (text.empty() ? "" : " ") + written(x);
  return text;
}

void set_pose(Element& e, const Pose& p) {
  if (!p.pos.isZero(0)) set_attribute(e, "pos", written(p.pos));
  const Quat& q = p.quat;
  if (q.coeffs() != Quat::Identity().coeffs())
    set_attribute(e, "quat", written(std::array{q.w(), q.x(), q.y(), q.z()}));
}

class Urdf {
 public:
  Urdf(Element& robot, const UrdfOptions& options, MeshFinder& meshes)
      : element_(robot), options_(options), meshes_(meshes) {}

  Element mjcf() {
    settings();
    tree_ = read_robot(element_, meshes_, assets_);
    const int root = tree_.root;
    check_actuators();

    Element& world = add_child(mujoco_, "worldbody", element_);
    if (options_.floor) {
      Element& floor = add_child(world, "geom", element_);
      set_attribute(floor, "type", "plane"), set_attribute(floor, "size", "0 0 0.05");
      if (!tree_.geom_names.contains("floor")) set_attribute(floor, "name", "floor");
    }
    if (options_.free_root) {
      Element& body = new_body(world, link(root), {});
      if (!tree_.joint_names.contains("root"))
        set_attribute(add_child(body, "freejoint", element_), "name", "root");
      else
        add_child(body, "freejoint", element_);
      group(body, root, true);
    } else if (!fuse_) {
      group(new_body(world, link(root), {}), root, link(root).inertial.has_value());
    } else {
      group(world, root, false);
      site(world, link(root), {});
    }
    for (Element* section : {&assets_, &equality_, &actuator_})
      if (!section->children.empty()) mujoco_.children.push_back(std::move(*section));
    return std::move(mujoco_);
  }

 private:
  std::vector<std::string> joint_names() const {
    return {tree_.joint_names.begin(), tree_.joint_names.end()};
  }
  bool has_one_dof(const std::string& joint) const {
    const auto moves = [&](const Joint& j) {
      return j.name == joint &&
             (j.type == "revolute" || j.type == "continuous" || j.type == "prismatic");
    };
    return std::any_of(tree_.links.begin(), tree_.links.end(), [&](const Link& l) {
      return std::any_of(l.joints.begin(), l.joints.end(), moves);
    });
  }
  Link& link(int i) { return tree_.links[static_cast<std::size_t>(i)]; }

  void settings() {
    mujoco_.name = "mujoco", mujoco_.file = element_.file, mujoco_.line = element_.line;
    set_attribute(mujoco_, "model", text(element_, "name").value_or(""));
    Element& compiler = add_child(mujoco_, "compiler", element_);
    set_attribute(compiler, "angle", "radian");
    if (Element* extension = child(element_, "mujoco")) {
      for (Element& e : extension->children) {
        if (e.name == "compiler") read_compiler(e, mujoco_.children.front());
        if (e.name == "option") {
          mujoco_.children.push_back(e);
          touch(e);
        }
      }
    }
    for (Element* e : {&assets_, &equality_, &actuator_})
      e->file = element_.file, e->line = element_.line;
    assets_.name = "asset", equality_.name = "equality", actuator_.name = "actuator";
  }

  // The verdict on elements copied to MJCF is left to the reader of MJCF.
  static void touch(Element& e) {
    for (Attribute& a : e.attributes) a.touched = true;
    for (Element& c : e.children) touch(c);
  }

  // <mujoco><compiler>: attributes that the reader of MJCF understands are copied to it.
  void read_compiler(Element& e, Element& to) {
    fuse_ = boolean(e, "fusestatic").value_or(true);
    boolean(e, "discardvisual");
    meshes_.compiler(text(e, "meshdir"), boolean(e, "strippath"));
    for (Attribute& a : e.attributes) {
      if (a.touched || a.name == "angle") continue;
      a.touched = true;
      set_attribute(to, a.name.c_str(), a.value);
    }
  }

  void check_actuators() {
    for (const auto& [name, kind] : options_.actuators) {
      if (!std::set<std::string>{"position", "velocity", "effort", "none"}.contains(kind))
        throw ModelError("actuators: \"" + shown(kind) +
                         "\" is none of \"position\", \"velocity\", \"effort\", \"none\"");
      if (name.empty() || tree_.joint_names.contains(name)) continue;
      throw ModelError("actuators: the robot has no joint \"" + shown(name) + "\"" +
                       did_you_mean(name, joint_names()));
    }
  }

  Element& new_body(Element& parent, Link& l, const Pose& at) {
    Element& body = add_child(parent, "body", *l.element);
    set_attribute(body, "name", l.name), set_pose(body, at);
    return body;
  }

  void site(Element& body, const Link& l, const Pose& at) {
    Element& s = add_child(body, "site", *l.element);
    set_attribute(s, "name", l.name), set_pose(s, at);
  }

  // How the mass of a body of several links is defined: not written, written as the sum of theirs, or by its shapes.
  enum class Mass { untold, sum, shapes };

  // Makes one body of all links that are fixed to `root`; writes its mass, unless it cannot move.
  void group(Element& body, int root, bool moves) {
    const Link& l = link(root);
    const bool told = moves && (fuse_ ? l.has_inertial : l.inertial.has_value());
    const Mass mass = !told ? Mass::untold : weighs_by_meshes(l) ? Mass::shapes : Mass::sum;
    std::vector<MassProperties> parts;
    emit(body, root, {}, mass, parts);
    if (mass != Mass::sum) return;
    const MassProperties all = sum(parts);
    if (!(all.mass > 0)) fail(*l.element, "moves, but its <inertial> has no mass");
    Element& e = add_child(body, "inertial", *l.element);
    const Mat3& i = all.inertia;
    set_attribute(e, "pos", written(all.com)), set_attribute(e, "mass", written(all.mass));
    set_attribute(e, "fullinertia",
                  written(std::array{i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}));
  }

  // The mass of meshes is not known here, so it cannot be added to masses of other links.
  static bool weighs_by_meshes(const Link& l) {
    if (l.inertial) return false;
    for (const Shape& s : l.shapes)
      if (s.type == "mesh") return true;
    return false;
  }

  void emit(Element& body, int i, const Pose& at, Mass mass, std::vector<MassProperties>& parts) {
    Link& l = link(i);
    if (!l.inertial && !l.shapes.empty() && body.name == "body")
      mark(*l.element, "name", Use::mapped, false,
           "no <inertial>: mass of its collision shapes at 1000 kg/m^3, as in MuJoCo");
    if (mass == Mass::sum && l.inertial) parts.push_back(placed(*l.inertial, at.pos, at.quat));
    for (Shape& s : l.shapes) {
      const Pose p = at * s.origin;
      Element& g = add_child(body, "geom", *s.element);
      if (!s.name.empty()) set_attribute(g, "name", s.name);
      set_attribute(g, "type", s.type), set_pose(g, p);
      if (s.type == "mesh")
        set_attribute(g, "mesh", s.mesh);
      else
        set_attribute(g, "size", written(s.size));
      if (mass == Mass::sum && !l.inertial) parts.push_back(placed(weight(s), p.pos, p.quat));
      if (mass == Mass::shapes && l.inertial) set_attribute(g, "mass", "0");
    }
    for (Joint& j : l.joints) {
      const Pose p = at * j.origin;
      const Link& next = link(j.child);
      if (j.type != "fixed") {
        moving(body, j, p);
      } else if (!fuse_ || (mass == Mass::sum && weighs_by_meshes(next)) ||
                 (mass == Mass::shapes && next.has_mass)) {
        group(new_body(body, link(j.child), p), j.child, true);
      } else {
        emit(body, j.child, p, mass, parts);
        site(body, next, p);
      }
    }
  }

  static MassProperties weight(const Shape& s) {
    const GeomType type = s.type == "box"        ? GeomType::box
                          : s.type == "sphere"   ? GeomType::sphere
                          : s.type == "cylinder" ? GeomType::cylinder
                                                 : GeomType::capsule;
    Vec3 size = Vec3::Zero();
    for (std::size_t k = 0; k < s.size.size(); ++k) size[static_cast<int>(k)] = s.size[k];
    return primitive_mass(type, size, std::nullopt, kDensity);
  }

  void moving(Element& parent, Joint& j, const Pose& at) {
    Element& body = new_body(parent, link(j.child), at);
    Element& e = *j.element;
    if (j.type == "floating") {
      if (parent.name != "worldbody")
        fail(e, "type", "a floating joint belongs to a child of a fixed root");
      set_attribute(add_child(body, "freejoint", e), "name", j.name);
    } else if (j.type == "planar") {  // in the plane normal to the axis
      const Quat q = rotation_from_z(j.axis);
      add_joint(body, e, j.name + "_TX", "slide", q * Vec3::UnitX());
      add_joint(body, e, j.name + "_TY", "slide", q * Vec3::UnitY());
      add_joint(body, e, j.name + "_RZ", "hinge", j.axis);
    } else {
      Element& m = add_joint(body, e, j.name, j.type == "prismatic" ? "slide" : "hinge", j.axis);
      one_dof(j, m);
    }
    group(body, j.child, true);
  }

  static Element& add_joint(Element& body, const Element& from, const std::string& name,
                            const char* type, const Vec3& axis) {
    Element& m = add_child(body, "joint", from);
    set_attribute(m, "name", name), set_attribute(m, "type", type),
        set_attribute(m, "axis", written(axis));
    return m;
  }

  // Converts limits, damping, mimic and actuator of a hinge or slide.
  void one_dof(Joint& j, Element& m) {
    Element& e = *j.element;
    double lower = 0, upper = 0, effort = 0, velocity = 0;
    if (Element* limit = child(e, "limit")) {
      lower = number(*limit, "lower").value_or(0), upper = number(*limit, "upper").value_or(0);
      effort = number(*limit, "effort").value_or(0);
      velocity = number(*limit, "velocity").value_or(0);
      mark(*limit, "velocity", Use::ignored, false, "speeds are not limited, as in MuJoCo");
      if (j.type != "continuous" && lower > upper)
        fail(*limit, "lower", "the lower limit must be below the upper one");
    }
    bool limited = j.type != "continuous" && lower < upper;
    if (limited && std::max(-lower, upper) > kPositionBound.most) {
      limited = false;
      mark(*child(e, "limit"), "upper", Use::mapped, false, "as far away as none");
    }
    if (limited) set_attribute(m, "range", written(std::array{lower, upper}));
    if (effort > 0) set_attribute(m, "actuatorfrcrange", written(std::array{-effort, effort}));
    if (Element* dynamics = child(e, "dynamics")) {
      if (const auto d = number(*dynamics, "damping")) set_attribute(m, "damping", written(*d));
      if (const auto f = number(*dynamics, "friction"))
        set_attribute(m, "frictionloss", written(*f));
    }
    if (Element* mimic = child(e, "mimic")) {
      const std::string other = required_text(*mimic, "joint");
      if (!tree_.joint_names.contains(other))
        fail(*mimic, "joint",
             "there is no joint of this name" + did_you_mean(other, joint_names()));
      if (!has_one_dof(other))
        fail(*mimic, "joint", "only a revolute, continuous or prismatic joint can be followed");
      Element& q = add_child(equality_, "joint", *mimic);
      set_attribute(q, "joint1", j.name), set_attribute(q, "joint2", other);
      const double offset = number(*mimic, "offset").value_or(0);
      set_attribute(
          q, "polycoef",
          written(std::array{offset, number(*mimic, "multiplier").value_or(1), 0., 0., 0.}));
    }
    add_actuator(j, limited, effort, velocity);
  }

  void add_actuator(const Joint& j, bool limited, double effort, double velocity) {
    const auto own = options_.actuators.find(j.name), any = options_.actuators.find("");
    std::string kind = "none";
    if (own != options_.actuators.end())
      kind = own->second;
    else if (any != options_.actuators.end() && !child(*j.element, "mimic"))
      kind = any->second;
    if (kind == "none") return;
    Element& a = add_child(actuator_, kind == "effort" ? "motor" : kind.c_str(), *j.element);
    set_attribute(a, "name", j.name), set_attribute(a, "joint", j.name);
    if (kind == "position") {
      set_attribute(a, "kp", written(options_.kp)), set_attribute(a, "dampratio", "1");
      if (limited) set_attribute(a, "inheritrange", "1");
    } else if (kind == "velocity") {
      set_attribute(a, "kv", written(options_.kv));
      if (velocity > 0) set_attribute(a, "ctrlrange", written(std::array{-velocity, velocity}));
    } else if (effort > 0) {
      set_attribute(a, "ctrlrange", written(std::array{-effort, effort}));
    }
  }

  Element& element_;
  const UrdfOptions& options_;
  MeshFinder& meshes_;
  Element mujoco_, assets_, equality_, actuator_;
  bool fuse_ = true;
  Robot tree_;
};

// Elements that do not concern a simulator of rigid bodies.
struct Aside {
  const char* element;
  const char* note;
};
constexpr Aside kAside[] = {
    {"visual", "graphics"},
    {"material", "graphics"},
    {"transmission", "actuators are given where the file is loaded"},
    {"gazebo", "for another simulator"},
    {"sensor", "sensors of URDF are not evaluated; they can be given in MJCF"},
    {"safety_controller", "belongs to a controller"},
    {"calibration", "belongs to a controller"},
};

void put_aside(Element& e) {
  for (const Aside& a : kAside)
    if (e.name == a.element) mark(e, Use::ignored, false, a.note);
  for (Element& c : e.children) put_aside(c);
}

void list(const Element& e, LoadReport& report) {
  const auto entry = [&](const Verdict& v, const std::string& name, const std::string& value) {
    report.entries.push_back(
        {v.use, v.physics, *e.file, e.line, shown(e.name), name, shown(value), v.note});
  };
  if (e.verdict) return entry(*e.verdict, "", "");
  for (const Attribute& a : e.attributes) {
    if (a.verdict)
      entry(*a.verdict, a.name, a.value);
    else
      entry(a.touched ? Verdict{} : Verdict{Use::ignored, false, "not read"}, a.name, a.value);
  }
  for (const Element& c : e.children) list(c, report);
}

}  // namespace

Element mjcf_of_urdf(Element& robot, const UrdfOptions& options, const std::string& directory,
                     const FindFile& find) {
  put_aside(robot);
  MeshFinder meshes(options.search_path, directory, find);
  return Urdf(robot, options, meshes).mjcf();
}

void collect_urdf(Element& robot, Element& mjcf, LoadReport& report) {
  list(robot, report);
  LoadReport all;
  collect(mjcf, all);
  for (ReportEntry& e : all.entries)
    if (e.use == Use::refused || e.physics) report.entries.push_back(std::move(e));
}

}  // namespace stiction::model

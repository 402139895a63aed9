// <worldbody>: bodies, frames and their contents, depth first.
#include <cmath>
#include <numbers>

#include "model/read/read.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

struct Pose {
  Vec3 pos = Vec3::Zero();
  Quat quat = Quat::Identity();
  Vec3 point(const Vec3& p) const { return pos + quat * p; }
};

// Transforms a pose to the frame's parent. The identity leaves every bit unchanged.
void move_by(const Pose& frame, Vec3& pos, Quat& quat) {
  if (frame.pos.isZero(0) && frame.quat.coeffs() == Quat::Identity().coeffs()) return;
  pos = frame.point(pos);
  quat = (frame.quat * quat).normalized();
}

// Converts the ends of fromto to pos, quat and the half length in `size`.
bool span_ends(const Element& e, const std::optional<std::array<double, 6>>& fromto, GeomType type,
               Vec3& pos, Quat& quat, Vec3& size) {
  if (!fromto) return false;
  const std::string_view at = e.attributes.empty() ? "" : "fromto";
  if (type != GeomType::capsule && type != GeomType::cylinder && type != GeomType::box &&
      type != GeomType::ellipsoid) {
    fail(e, at, "fromto is for a capsule, cylinder, box or ellipsoid; use pos");
  }
  // as in MuJoCo, a position of zero counts as absent
  if (!pos.isZero(0)) fail(e, "pos", "fromto is given too; keep one of them");
  const auto& f = *fromto;
  const Vec3 a(f[0], f[1], f[2]), b(f[3], f[4], f[5]);
  const double length = (a - b).norm();
  if (!(length > 1e-14)) fail(e, at, "the two points coincide; give distinct ends");
  pos = 0.5 * (a + b);
  quat = rotation_from_z(a - b);
  if (type == GeomType::capsule || type == GeomType::cylinder) {
    size[1] = 0.5 * length;
  } else {
    size[1] = size[0];
    size[2] = 0.5 * length;
  }
  return true;
}

class Tree {
 public:
  explicit Tree(Spec& spec) : spec_(spec) {}

  void children(Element& parent, int body, const Pose& frame, const std::string& childclass) {
    for (auto& e : parent.children) {
      const std::string& n = e.name;
      if (n == "body")
        add_body(e, body, frame, childclass);
      else if (n == "frame")
        add_frame(e, body, frame, childclass);
      else if (n == "replicate" || n == "attach")  // what they stand for has already been inserted
        children(e, body, frame, childclass_of(spec_, e, childclass));
      else if (n == "joint" || n == "freejoint")
        add_joint(e, body, frame, childclass);
      else if (n == "geom")
        add_geom(e, body, frame, childclass);
      else if (n == "site")
        add_site(e, body, frame, childclass);
      else if (n == "inertial")
        add_inertial(e, body, frame);
      else if (n == "camera")
        add_camera(e, body, frame, childclass);
      else if (n == "light")
        mark(e, Use::ignored, false, "graphics");
      else {
        mark(e, Use::refused, true, "<" + n + "> can't be read; write its elements out");
        spec_.unread.push_back(&e);
      }
      if (n == "light") claim_name(spec_, n, e);
    }
  }

 private:
  void add_body(Element& e, int parent, const Pose& frame, const std::string& inherited) {
    BodySpec b;
    b.element = &e;
    b.name = claim_name(spec_, "body", e);
    b.parent = parent;
    exactly(e, "pos", kLengthBound, b.pos);
    read_orientation(spec_.compiler_of(e), e, b.quat);
    b.written_pos = b.pos, b.written_quat = b.quat;
    move_by(frame, b.pos, b.quat);
    b.mocap = boolean(e, "mocap").value_or(false);
    read_within(e, "gravcomp", kRatioBound, b.gravcomp);
    const std::string childclass = childclass_of(spec_, e, inherited);
    const int id = static_cast<int>(spec_.bodies.size());
    spec_.bodies.push_back(std::move(b));
    children(e, id, {}, childclass);
    check_joints(id);
  }

  void add_frame(Element& e, int body, const Pose& outer, const std::string& inherited) {
    Pose frame;
    claim_name(spec_, "frame", e);
    exactly(e, "pos", kLengthBound, frame.pos);
    read_orientation(spec_.compiler_of(e), e, frame.quat);
    move_by(outer, frame.pos, frame.quat);
    children(e, body, frame, childclass_of(spec_, e, inherited));
  }

  void add_joint(Element& e, int body, const Pose& frame, const std::string& childclass) {
    if (body == 0) fail(e, "the world can't move: put the joint in a <body>");
    JointSpec j;
    if (e.name == "freejoint") {
      j.type = JointType::free;  // no defaults apply
      if (const auto s = read_switch(e, "align")) j.align = *s;
    } else {
      j = class_of(spec_, e, childclass).joint;
      read_joint(spec_.compiler_of(e), e, j);
    }
    j.element = &e;
    j.name = claim_name(spec_, "joint", e);
    finish(j, frame);
    spec_.bodies[static_cast<std::size_t>(body)].joints.push_back(std::move(j));
  }

  // Converts degrees, resolves automatic switches and makes the checks that need the whole joint.
  void finish(JointSpec& j, const Pose& frame) {
    const Element& e = *j.element;
    const Compiler& c = spec_.compiler_of(e);
    const bool rotary = j.type == JointType::hinge || j.type == JointType::ball;
    resolve(e, "limited", "range", j.limited, j.range);
    resolve(e, "actuatorfrclimited", "actuatorfrcrange", j.actfrclimited, j.actfrcrange);
    // as in MuJoCo, the range of an unlimited joint keeps the numbers of the file
    if (rotary && j.limited == Switch::yes) {
      for (double& r : j.range) r = c.radians(r);
    }
    if (j.type == JointType::hinge) j.ref = c.radians(j.ref), j.springref = c.radians(j.springref);
    require_within(e, "range", j.range, kPositionBound);
    require_within(e, "ref", j.ref, kPositionBound);
    require_within(e, "springref", j.springref, kPositionBound);
    if (j.type == JointType::free) j.limited = Switch::no;
    if (j.limited == Switch::yes) {
      if (!(j.range[0] < j.range[1])) {
        fail(e, "range",
             "the lower limit must be below the upper one; set limited=\"false\" for none");
      }
      if (j.type == JointType::ball && j.range[0] != 0) {
        fail(e, "range", "the range of a ball joint starts at 0: its largest angle counts");
      }
    }
    if (j.actfrclimited == Switch::yes && !(j.actfrcrange[0] < j.actfrcrange[1])) {
      fail(e, "actuatorfrcrange", "the lower limit must be below the upper one");
    }

    if (j.type == JointType::free) {
      j.pos.setZero();
    } else {
      Quat unused = Quat::Identity();
      move_by(frame, j.pos, unused);
    }
    if (j.type == JointType::free || j.type == JointType::ball) {
      j.axis = Vec3::UnitZ();
    } else {
      const double n = j.axis.norm();
      if (!(n > 1e-14)) fail(e, "axis", "an axis of length zero has no direction");
      if (std::abs(n - 1) > 1e-14) j.axis /= n;
      if (frame.quat.coeffs() != Quat::Identity().coeffs()) j.axis = frame.quat * j.axis;
    }
  }

  // autolimits: a given range enables its limit.
  void resolve(const Element& e, const std::string& switch_name, const std::string& range_name,
               Switch& limited, const Range& range) {
    if (limited != Switch::automatic) return;
    const bool given = range[0] != 0 || range[1] != 0;
    if (given && !spec_.compiler_of(e).autolimits) {
      fail(e, range_name,
           "a range with autolimits=\"false\": set " + switch_name + " to \"true\" or \"false\"");
    }
    limited = given ? Switch::yes : Switch::no;
  }

  void add_geom(Element& e, int body, const Pose& frame, const std::string& childclass) {
    GeomSpec g = class_of(spec_, e, childclass).geom;
    g.element = &e;
    read_geom(spec_.compiler_of(e), e, g);
    g.name = claim_name(spec_, "geom", e);
    for (auto& child : e.children) {
      mark(child, Use::refused, true, "plugins can't be run; remove the element");
    }
    if (g.sdf) mark(g.written, "type", Use::refused, true, "signed distance fields need a plugin");
    if (!g.mesh.empty()) {
      require_name(spec_, "mesh", e, "mesh", g.mesh);
      if (g.type != GeomType::mesh) {
        g.fitted = true;
        g.fit = g.type;
        g.type = GeomType::mesh;
      }
    } else if (g.type == GeomType::mesh && !g.sdf) {
      fail(e, "a geom of type mesh needs the attribute mesh");
    }
    if (g.type == GeomType::hfield) {
      if (g.hfield.empty()) fail(e, "a geom of type hfield needs the attribute hfield");
      require_name(spec_, "hfield", e, "hfield", g.hfield);
    }
    if (g.type != GeomType::mesh) {
      span_ends(e, g.fromto, g.type, g.pos, g.quat, g.size);
      check_size(e, g.type, g.size);
    } else {
      g.size.setZero();
    }
    move_by(frame, g.pos, g.quat);
    spec_.bodies[static_cast<std::size_t>(body)].geoms.push_back(std::move(g));
  }

  void add_site(Element& e, int body, const Pose& frame, const std::string& childclass) {
    SiteSpec s = class_of(spec_, e, childclass).site;
    s.element = &e;
    read_site(spec_.compiler_of(e), e, s);
    s.name = claim_name(spec_, "site", e);
    if (s.type == GeomType::plane || s.type == GeomType::hfield) {
      fail(e, "type", "a site can't be a plane or a height field");
    }
    if (!span_ends(e, s.fromto, s.type, s.pos, s.quat, s.size)) check_size(e, s.type, s.size);
    move_by(frame, s.pos, s.quat);
    spec_.bodies[static_cast<std::size_t>(body)].sites.push_back(std::move(s));
  }

  // Converts to metres; a length that is also given in pixels is taken from these. The field of view is the chip's.
  void resolve_lens(const Element& e, CameraSpec& c) {
    const bool has_chip = c.sensorsize[0] > 0 && c.sensorsize[1] > 0;
    const auto is_given = [](const auto& x) { return x[0] != 0 || x[1] != 0; };
    if (!has_chip) {
      for (const auto* x : {&c.focal, &c.focalpixel, &c.principal, &c.principalpixel})
        if (is_given(*x)) fail(e, "focal lengths and principal points need a sensorsize");
      return;
    }
    for (const std::size_t k : {0u, 1u}) {
      const double pixel = c.sensorsize[k] / c.resolution[k];
      if (c.focalpixel[k] != 0) c.focal[k] = pixel * c.focalpixel[k];
      if (c.principalpixel[k] != 0) c.principal[k] = pixel * c.principalpixel[k];
      if (!(c.focal[k] > 0)) fail(e, "sensorsize", "needs two lengths focal or focalpixel > 0");
    }
    c.fovy = std::atan2(c.sensorsize[1] / 2, c.focal[1]) * 360 / std::numbers::pi;
  }

  void add_camera(Element& e, int body, const Pose& frame, const std::string& childclass) {
    CameraSpec c = class_of(spec_, e, childclass).camera;
    c.element = &e;
    read_camera(spec_.compiler_of(e), e, c);
    c.name = claim_name(spec_, "camera", e);
    resolve_lens(e, c);
    move_by(frame, c.pos, c.quat);
    spec_.bodies[static_cast<std::size_t>(body)].cameras.push_back(std::move(c));
  }

  void add_inertial(Element& e, int body, const Pose& frame) {
    if (body == 0) fail(e, "the world has no inertia; remove the element");
    InertialSpec i;
    read_inertial(spec_.compiler_of(e), e, i);
    move_by(frame, i.pos, i.quat);
    auto& slot = spec_.bodies[static_cast<std::size_t>(body)].inertial;
    if (slot) fail(e, "second <inertial> of this body; keep one");
    slot = i;
  }

  // Checks that need the whole body.
  void check_joints(int id) {
    const BodySpec& b = spec_.bodies[static_cast<std::size_t>(id)];
    int dofs = 0;
    bool ball = false;
    for (const auto& j : b.joints) {
      if (j.type == JointType::free) {
        if (b.joints.size() > 1) {
          fail(*j.element, "a free joint must be the only joint of its body");
        }
        if (b.parent != 0) {
          fail(*j.element, "a free joint belongs to a child of the world; move the body there");
        }
      }
      if (ball && (j.type == JointType::ball || j.type == JointType::hinge)) {
        fail(*j.element, "a ball joint can't be followed by another rotation in the same body");
      }
      ball = ball || j.type == JointType::ball;
      dofs += dof_count(j.type);
      if (dofs > 6) fail(*j.element, "more than 6 degrees of freedom in one body; add a body");
    }
    if (b.mocap && (b.parent != 0 || !b.joints.empty())) {
      fail(*b.element, "mocap", "a mocap body must be a child of the world and have no joints");
    }
  }

  Spec& spec_;
};

}  // namespace

void check_size(const Element& e, GeomType type, const Vec3& size) {
  int needed = 0;
  switch (type) {
    case GeomType::sphere: needed = 1; break;
    case GeomType::capsule:
    case GeomType::cylinder: needed = 2; break;
    case GeomType::box:
    case GeomType::ellipsoid: needed = 3; break;
    case GeomType::plane:
      if (!(size[0] >= 0 && size[1] >= 0 && size[2] > 0)) {
        fail(e, "size", "a plane needs two half sizes >= 0 and a grid spacing > 0, such as 0 0 1");
      }
      break;
    case GeomType::hfield:
    case GeomType::mesh: break;
  }
  for (int i = 0; i < needed; ++i) {
    if (!(size[i] > 0)) {
      fail(e, "size",
           "number " + std::to_string(i + 1) + " is " + shown(size[i]) + "; this shape needs " +
               std::to_string(needed) + " positive numbers");
    }
    require_within(e, "size", size[i], kLengthBound);
    if (size[i] < kLeastSize) {
      fail(e, "size",
           shown(size[i]) + " m is below " + shown(kLeastSize) +
               " m, the least size that can be computed with; sizes are in metres");
    }
  }
}

void read_worldbody(Element& e, Spec& spec) {
  Tree(spec).children(e, 0, {}, "main");
}

}  // namespace stiction::model

// Attributes of joints, geoms, sites and inertials. Angles are converted once the type is known.
#include <algorithm>

#include "model/inertia.h"
#include "model/read.h"

namespace stiction::model {
namespace {

// Polynomial coefficients: the linear one is computed.
void read_linear(Element& e, std::string_view attribute, double& linear) {
  std::array<double, 3> c{};
  const int n = numbers_into(e, attribute, c, 1);
  if (n == 0) return;
  require_nonnegative(e, attribute, c[0]);
  linear = c[0];
  if (c[1] != 0 || c[2] != 0) {
    mark(e, attribute, Use::ignored, true, "only the first, linear coefficient is computed");
  }
}

void read_nonnegative(Element& e, std::string_view attribute, double& value) {
  if (const auto v = number(e, attribute)) {
    require_nonnegative(e, attribute, *v);
    value = *v;
  }
}

void read_bits(Element& e, std::string_view attribute, int& value) {
  if (const auto v = integer(e, attribute)) value = *v;
}

// Words of a shape, in the order of GeomType; a signed distance field counts as a mesh.
std::optional<int> read_shape(Element& e) {
  return choice(
      e, "type",
      {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"});
}

// A mixture of the two formats is MuJoCo's default.
void read_solreflimit(Element& e, std::array<double, 2>& solref) {
  if (numbers_into(e, "solreflimit", solref, 1) == 0) return;
  const bool mixed = (solref[0] > 0) != (solref[1] > 0);
  if (mixed) solref = {0.02, 1};
  mark(e, "solreflimit", Use::mapped, false,
       mixed ? "mixes (time constant, damping ratio) with (-stiffness, -damping): taken for 0.02 1"
             : "a violated limit returns with this time constant, or damping/stiffness");
}

}  // namespace

void read_joint(const Compiler&, Element& e, JointSpec& j) {
  if (const auto i = choice(e, "type", {"free", "ball", "slide", "hinge"})) {
    j.type = static_cast<JointType>(*i);
  }
  exactly(e, "pos", j.pos);
  exactly(e, "axis", j.axis);
  if (const auto s = read_switch(e, "limited")) j.limited = *s;
  exactly(e, "range", j.range);
  if (const auto s = read_switch(e, "actuatorfrclimited")) j.actfrclimited = *s;
  exactly(e, "actuatorfrcrange", j.actfrcrange);
  read_linear(e, "stiffness", j.stiffness);
  read_linear(e, "damping", j.damping);
  read_nonnegative(e, "armature", j.armature);
  read_nonnegative(e, "frictionloss", j.frictionloss);
  if (const auto v = number(e, "ref")) j.ref = *v;
  if (const auto v = number(e, "springref")) j.springref = *v;
  exactly(e, "springdamper", j.springdamper);
  if (e.has("springdamper")) {
    if (!(j.springdamper[0] > 0) || !(j.springdamper[1] > 0)) {
      fail(e, "springdamper", "expected a positive time constant and damping ratio");
    }
    mark(e, "springdamper", Use::mapped, false, "stiffness and damping from the inertia at qpos0");
  }
  if (const auto v = number(e, "margin")) j.margin = *v;
  read_solreflimit(e, j.solref);
  if (boolean(e, "actuatorgravcomp") == true) {
    mark(e, "actuatorgravcomp", Use::ignored, true,
         "gravity compensation acts as a passive force, outside actuatorfrcrange");
  }
}

void read_geom(const Compiler& c, Element& e, GeomSpec& g) {
  if (const auto i = read_shape(e)) {
    g.sdf = *i == 8;
    g.type = g.sdf ? GeomType::mesh : static_cast<GeomType>(*i);
  }
  g.pos_given = exactly(e, "pos", g.pos) || g.pos_given;
  read_orientation(c, e, g.quat);
  numbers_into(e, "size", {g.size.data(), 3}, 1);
  std::array<double, 6> ends{};
  if (exactly(e, "fromto", ends)) g.fromto = ends;
  read_bits(e, "contype", g.contype);
  read_bits(e, "conaffinity", g.conaffinity);
  read_bits(e, "priority", g.priority);
  if (const auto v = integer(e, "group")) g.group = *v;
  if (const auto v = integer(e, "condim")) {
    if (*v != 1 && *v != 3 && *v != 4 && *v != 6) fail(e, "condim", "expected 1, 3, 4 or 6");
    g.condim = *v;
    if (*v > 3) {
      mark(e, "condim", Use::ignored, true,
           "solved as 3: no torsional or rolling friction (of pairs where this geom decides)");
    }
  }
  if (numbers_into(e, "friction", g.friction, 1) > 0) {
    for (const double mu : g.friction) require_nonnegative(e, "friction", mu);
  }
  constexpr const char* kMapped = "mapped to stiffness and dissipation per pair";
  if (numbers_into(e, "solref", g.solref, 1) > 0) mark(e, "solref", Use::mapped, false, kMapped);
  if (numbers_into(e, "solimp", g.solimp, 1) > 0) mark(e, "solimp", Use::mapped, false, kMapped);
  read_nonnegative(e, "solmix", g.solmix);
  read_nonnegative(e, "margin", g.margin);
  read_nonnegative(e, "gap", g.gap);
  read_nonnegative(e, "density", g.density);
  if (const auto v = number(e, "mass")) {
    require_nonnegative(e, "mass", *v);
    g.mass = *v;
  }
  if (const auto b = boolean(e, "shellinertia")) g.shell = *b;
  if (const auto s = text(e, "mesh")) g.mesh = *s;
  if (const auto s = text(e, "hfield")) g.hfield = *s;
  if (choice(e, "fluidshape", {"none", "ellipsoid"}) == 1) {
    mark(e, "fluidshape", Use::ignored, true, "fluid forces are not computed");
  }
  std::array<double, 3> velocity{};
  if (numbers_into(e, "surfacevel", velocity, 1) > 0) {
    mark(e, "surfacevel", Use::ignored, velocity != std::array<double, 3>{},
         "surfaces do not move against their body");
  }
  if (const auto v = number(e, "adhesion")) {
    mark(e, "adhesion", Use::ignored, *v != 0, "contacts only push");
  }
}

void read_site(const Compiler& c, Element& e, SiteSpec& s) {
  if (const auto i = read_shape(e)) s.type = static_cast<GeomType>(std::min(*i, 7));
  exactly(e, "pos", s.pos);
  read_orientation(c, e, s.quat);
  numbers_into(e, "size", {s.size.data(), 3}, 1);
  std::array<double, 6> ends{};
  if (exactly(e, "fromto", ends)) s.fromto = ends;
}

void read_inertial(const Compiler& c, Element& e, InertialSpec& i) {
  i.element = &e;
  if (!exactly(e, "pos", i.pos)) fail(e, "attribute pos is required: the centre of mass");
  const auto mass = number(e, "mass");
  if (!mass) fail(e, "attribute mass is required, in kg");
  require_nonnegative(e, "mass", *mass);
  i.mass = *mass;

  const bool turned = read_orientation(c, e, i.quat);
  const bool diagonal = exactly(e, "diaginertia", i.moments);
  std::array<double, 6> full{};
  if (exactly(e, "fullinertia", full)) {
    if (diagonal) fail(e, "fullinertia", "diaginertia is given too; keep one of them");
    if (turned) fail(e, "fullinertia", "is in the body's axes; remove the orientation");
    Mat3 m;
    m << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
    const Principal p = principal_axes(m);
    i.moments = p.moments;
    i.quat = p.axes;
    if (!(p.moments.minCoeff() > 0)) {
      fail(e, "fullinertia",
           "principal moments " + shown(p.moments[0]) + " " + shown(p.moments[1]) + " " +
               shown(p.moments[2]) + " are not all positive");
    }
  }
  if (diagonal && !(i.moments.minCoeff() >= 0)) {
    fail(e, "diaginertia", "moments of inertia can't be negative");
  }
}

}  // namespace stiction::model

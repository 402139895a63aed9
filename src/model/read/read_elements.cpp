// Reads attributes of joints, geoms, sites and inertials. Angles are converted once the type is known.
#include <algorithm>

#include "model/mesh/inertia.h"
#include "model/read/read.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

void read_bits(Element& e, std::string_view attribute, int& value) {
  if (const auto v = integer(e, attribute)) value = *v;
}

// Reads the type of a shape, in the order of GeomType; a signed distance field counts as a mesh.
std::optional<int> read_shape(Element& e) {
  return choice(
      e, "type",
      {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"});
}

// If positive: a time constant in seconds and a damping ratio; else stiffness and damping.
void require_solref(Element& e, const char* name, const std::array<double, 2>& solref) {
  for (const double v : solref) {
    if (!(v > 0)) {
      require_within(e, name, v, kStiffnessBound);
    } else if (v < kLeastTime || v > kMostSolref) {
      fail(e, name,
           shown(v) + " is outside " + shown(kLeastTime) + " to " + shown(kMostSolref) +
               ", the time constants (s) and damping ratios that "
               "can be computed with");
    }
  }
}

}  // namespace

void read_polynomial(Element& e, std::string_view attribute, const Bound& bound, double& linear,
                     std::array<double, 2>& poly) {
  std::array<double, 3> c{};
  if (numbers_into(e, attribute, c, 1) == 0) return;
  require_nonnegative(e, attribute, c[0], bound);
  for (const double x : c) require_within(e, attribute, x, bound);
  linear = c[0], poly = {c[1], c[2]};
}

void read_solreflimit(Element& e, std::array<double, 2>& solref) {
  if (numbers_into(e, "solreflimit", solref, 1) == 0) return;
  require_solref(e, "solreflimit", solref);
  const bool mixed = (solref[0] > 0) != (solref[1] > 0);
  if (mixed) solref = {0.02, 1};
  mark(e, "solreflimit", Use::mapped, false,
       mixed ? "mixes (time constant, damping ratio) with (-stiffness, -damping): taken for 0.02 1"
             : "a violated limit returns with this time constant, or damping/stiffness");
}

bool read_solver(Element& e, std::array<double, 2>& solref, std::array<double, 5>& solimp) {
  const bool ref = numbers_into(e, "solref", solref, 1) > 0;
  const bool imp = numbers_into(e, "solimp", solimp, 1) > 0;
  require_within(e, "solimp", solimp, kRatioBound);
  require_solref(e, "solref", solref);
  return ref || imp;
}

void read_joint(const Compiler&, Element& e, JointSpec& j) {
  if (const auto i = choice(e, "type", {"free", "ball", "slide", "hinge"})) {
    j.type = static_cast<JointType>(*i);
  }
  j.written.note(e);
  exactly(e, "pos", kLengthBound, j.pos);
  exactly(e, "axis", j.axis);
  if (const auto s = read_switch(e, "limited")) j.limited = *s;
  exactly(e, "range", j.range);
  if (const auto s = read_switch(e, "actuatorfrclimited")) j.actfrclimited = *s;
  exactly(e, "actuatorfrcrange", kForceBound, j.actfrcrange);
  if (const auto b = boolean(e, "actuatorgravcomp")) j.actgravcomp = *b;
  read_polynomial(e, "stiffness", kStiffnessBound, j.stiffness, j.stiffnesspoly);
  read_polynomial(e, "damping", kDampingBound, j.damping, j.dampingpoly);
  read_nonnegative(e, "armature", kArmatureBound, j.armature);
  read_nonnegative(e, "frictionloss", kForceBound, j.frictionloss);
  if (const auto v = number(e, "ref")) j.ref = *v;
  if (const auto v = number(e, "springref")) j.springref = *v;
  if (exactly(e, "springdamper", j.springdamper) && j.springdamper != Range{}) {
    const auto [time, ratio] = j.springdamper;
    if (!(time > 0) || !(ratio > 0)) {
      fail(e, "springdamper", "expected a positive time constant and damping ratio");
    }
    require_within(e, "springdamper", time, kTimeBound);
    require_within(e, "springdamper", ratio, kRatioBound);
    if (time < kLeastTime || ratio < 1 / kRatioBound.most) {
      fail(e, "springdamper",
           "stiffer than can be computed with; its numbers are seconds and a "
           "damping ratio");
    }
  }
  read_within(e, "margin", kPositionBound, j.margin);
  read_solreflimit(e, j.solref);
}

void read_geom(const Compiler& c, Element& e, GeomSpec& g) {
  if (const auto i = read_shape(e)) {
    g.sdf = *i == 8;
    g.type = g.sdf ? GeomType::mesh : static_cast<GeomType>(*i);
  }
  g.written.note(e);
  exactly(e, "pos", kLengthBound, g.pos);
  read_orientation(c, e, g.quat);
  numbers_into(e, "size", {g.size.data(), 3}, 1);
  std::array<double, 6> ends{};
  if (exactly(e, "fromto", kLengthBound, ends)) g.fromto = ends;
  read_bits(e, "contype", g.contype);
  read_bits(e, "conaffinity", g.conaffinity);
  read_bits(e, "priority", g.priority);
  if (const auto v = integer(e, "group")) g.group = *v;
  numbers_into(e, "rgba", g.rgba, 0);  // an empty attribute counts as absent, as in MuJoCo
  if (const auto s = text(e, "material")) g.material = *s;
  if (const auto v = integer(e, "condim")) {
    if (*v != 1 && *v != 3 && *v != 4 && *v != 6) fail(e, "condim", "expected 1, 3, 4 or 6");
    g.condim = *v;
  }
  if (numbers_into(e, "friction", g.friction, 1) > 0) {
    for (const double mu : g.friction) require_nonnegative(e, "friction", mu, kFrictionBound);
  }
  constexpr const char* kMapped = "mapped to stiffness and dissipation per pair";
  if (read_solver(e, g.solref, g.solimp)) {
    mark(e, "solref", Use::mapped, false, kMapped);
    mark(e, "solimp", Use::mapped, false, kMapped);
  }
  read_nonnegative(e, "solmix", kRatioBound, g.solmix);
  read_within(e, "margin", kLengthBound, g.margin);
  read_within(e, "gap", kLengthBound, g.gap);
  read_nonnegative(e, "density", kDensityBound, g.density);
  if (const auto v = number(e, "mass")) {
    require_nonnegative(e, "mass", *v, kMassBound);
    g.mass = *v;
  }
  if (const auto b = boolean(e, "shellinertia")) g.shell = *b;
  if (const auto s = text(e, "mesh")) g.mesh = *s;
  if (read_within(e, "fitscale", kRatioBound, g.fitscale))
    require_positive(e, "fitscale", g.fitscale);
  if (const auto s = text(e, "hfield")) g.hfield = *s;
  if (const auto i = choice(e, "fluidshape", {"none", "ellipsoid"})) g.fluid_ellipsoid = *i == 1;
  numbers_into(e, "fluidcoef", g.fluidcoef, 1);
  require_within(e, "fluidcoef", g.fluidcoef, kRatioBound);
  numbers_into(e, "surfacevel", g.surfacevel, 1);
  require_within(e, "surfacevel", g.surfacevel, kVelocityBound);
}

void read_site(const Compiler& c, Element& e, SiteSpec& s) {
  if (const auto i = read_shape(e)) s.type = static_cast<GeomType>(std::min(*i, 7));
  exactly(e, "pos", kLengthBound, s.pos);
  read_orientation(c, e, s.quat);
  numbers_into(e, "size", {s.size.data(), 3}, 1);
  std::array<double, 6> ends{};
  if (exactly(e, "fromto", kLengthBound, ends)) s.fromto = ends;
}

namespace {

// Reads the chip of a camera, `sensorsize` m with this many pixels, and its lens, in m or in pixels.
void read_lens(Element& e, CameraSpec& s) {
  std::array<double, 2> pixels = {double(s.resolution[0]), double(s.resolution[1])};
  if (exactly(e, "resolution", kPixelBound, pixels))
    for (const std::size_t k : {0u, 1u}) {
      if (!(pixels[k] >= 1) || pixels[k] != std::floor(pixels[k]))
        fail(e, "resolution", "expected 2 whole numbers > 0, of pixels");
      s.resolution[k] = static_cast<int>(pixels[k]);
    }
  exactly(e, "sensorsize", kLengthBound, s.sensorsize);
  exactly(e, "focal", kLengthBound, s.focal);
  exactly(e, "principal", kLengthBound, s.principal);
  exactly(e, "focalpixel", kPixelBound, s.focalpixel);
  exactly(e, "principalpixel", kPixelBound, s.principalpixel);
}

}  // namespace

void read_camera(const Compiler& c, Element& e, CameraSpec& s) {
  if (const auto i =
          choice(e, "mode", {"fixed", "track", "trackcom", "targetbody", "targetbodycom"}))
    s.mode = static_cast<CameraMode>(*i);
  if (const auto i = choice(e, "projection", {"perspective", "orthographic"}))
    s.projection = static_cast<CameraProjection>(*i);
  exactly(e, "pos", kLengthBound, s.pos);
  read_orientation(c, e, s.quat);
  if (const auto v = number(e, "fovy")) s.fovy = *v;
  if (!(s.fovy > 0) || (s.projection == CameraProjection::perspective && s.fovy >= 180))
    fail(e, "fovy",
         "expected an angle between 0 and 180 degrees; of an orthographic camera a "
         "height > 0");
  read_lens(e, s);
}

void read_inertial(const Compiler& c, Element& e, InertialSpec& i) {
  i.element = &e;
  if (!exactly(e, "pos", kLengthBound, i.pos))
    fail(e, "attribute pos is required: the centre of mass");
  const auto mass = number(e, "mass");
  if (!mass) fail(e, "attribute mass is required, in kg");
  require_nonnegative(e, "mass", *mass, kMassBound);
  i.mass = *mass;

  const bool turned = read_orientation(c, e, i.quat);
  const bool diagonal = exactly(e, "diaginertia", kInertiaBound, i.moments);
  std::array<double, 6> full{};
  if (exactly(e, "fullinertia", kInertiaBound, full)) {
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

// <sensor> and <keyframe>.
#include <cmath>

#include "model/read/read.h"
#include "model/spec/sensor_types.h"

namespace stiction::model {
namespace {

// Checks the object of a frame sensor; "xbody" is a body with its own frame.
void require_object(const Spec& spec, Element& e, const std::string& type,
                    std::string_view attribute, const std::string& name) {
  require_name(spec, type == "xbody" ? "body" : type, e, attribute, name);
}

SensorSpec read_sensor(Spec& spec, Element& e) {
  SensorSpec s;
  s.type = e.name;
  s.name = claim_name(spec, "sensor", e);
  s.cutoff = number(e, "cutoff").value_or(0);
  require_nonnegative(e, "cutoff", s.cutoff);
  for (const char* kind : {"site", "joint", "tendon", "actuator", "body", "geom", "camera"}) {
    const auto name = text(e, kind);
    if (!name) continue;
    require_name(spec, kind, e, kind, *name);
    if (!s.object.empty()) continue;
    s.objtype = kind, s.object = *name;
  }
  if (const auto camera = text(e, "camera"); camera && s.objtype == "site")
    s.reftype = "camera", s.reference = *camera;
  const auto pair = [&](const char* type, const char* kind, const char* a, const char* b) {
    for (const char* attribute : {a, b}) {
      const auto name = text(e, attribute);
      if (!name) continue;
      require_name(spec, kind, e, attribute, *name);
      if (attribute == a)
        s.objtype = type, s.object = *name;
      else
        s.reftype = type, s.reference = *name;
    }
  };
  pair("geom", "geom", "geom1", "geom2");
  pair("body", "body", "body1", "body2");
  pair("xbody", "body", "subtree1", "subtree2");
  if (const auto type = text(e, "objtype")) {
    if (e.name == "insidesite") s.reftype = s.objtype, s.reference = s.object;  // the site
    s.objtype = *type, s.object = text(e, "objname").value_or("");
    if (e.name != "user") require_object(spec, e, s.objtype, "objname", s.object);
  }
  if (const auto type = text(e, "reftype")) {
    s.reftype = *type, s.reference = text(e, "refname").value_or("");
    require_object(spec, e, s.reftype, "refname", s.reference);
  }
  return s;
}

bool follows(const Spec& spec, const std::string& camera) {
  for (const BodySpec& b : spec.bodies)
    for (const CameraSpec& c : b.cameras)
      if (c.name == camera) return c.mode != CameraMode::fixed;
  return false;
}

// Returns whether geom `name`, or a geom of body `name`, is a height field.
bool has_hfield(const Spec& spec, const std::string& type, const std::string& name) {
  for (const BodySpec& b : spec.bodies)
    for (const GeomSpec& g : b.geoms)
      if ((type == "geom" ? g.name : b.name) == name && g.type == GeomType::hfield) return true;
  return false;
}

// Returns why the frame is not supported; "" if it is. No frame means the world.
std::string frame_problem(const Spec& spec, const std::string& type, const std::string& name) {
  if (type == "camera" && follows(spec, name)) return "cameras that follow are not moved";
  if (type.empty() || type == "camera" || type == "body" || type == "xbody" || type == "geom" ||
      type == "site")
    return "";
  return "frames of " + type + "s are not computed";
}

// As in MuJoCo: a limit sensor needs a limit.
void require_limit(const Spec& spec, Element& e, const SensorSpec& s) {
  for (const BodySpec& b : spec.bodies)
    for (const JointSpec& j : b.joints)
      if (j.name == s.object && j.limited != Switch::yes)
        fail(e, "joint", "has no limits; give it a range");
}

void require_joint(const Spec& spec, Element& e, const SensorSpec& s, bool ball) {
  for (const BodySpec& b : spec.bodies) {
    for (const JointSpec& j : b.joints) {
      if (j.name != s.object) continue;
      const bool one_dof = j.type == JointType::hinge || j.type == JointType::slide;
      if (ball ? j.type != JointType::ball : !one_dof)
        fail(e, "joint", std::string("must be a ") + (ball ? "ball" : "hinge or a slide"));
    }
  }
}

// Returns the numbers of a contact sensor: found 1, force 3. Refuses what is not computed.
int read_contact(Element& e) {
  const std::string data = text(e, "data").value_or("found");
  const std::string reduce = text(e, "reduce").value_or("none");
  const bool force = data == "force" || data == "found force";
  if (!force && data != "found")
    mark(e, "data", Use::refused, false, "must be found, force or found force");
  if (force && reduce != "netforce")
    mark(e, e.has("reduce") ? "reduce" : "data", Use::refused, false,
         "forces are reduced to their sum: add reduce=\"netforce\"");
  if (integer(e, "num").value_or(1) != 1)
    mark(e, "num", Use::refused, false, "must be 1: single contacts are not listed");
  if (e.has("site"))
    mark(e, "site", Use::refused, false, "contacts are chosen by geom, body or subtree only");
  return (force ? 3 : 0) + (data == "force" ? 0 : 1);
}

int read_inside(const Spec& spec, Element& e, const SensorSpec& s, std::string& why) {
  if (s.reftype != "site")
    fail(e, "must name a site, and by objtype and objname what may be inside");
  if (boolean(e, "enclosed") == true) why = "whether a whole object is enclosed is not computed";
  if (why.empty()) why = frame_problem(spec, s.objtype, s.object);
  return why.empty() ? 1 : 0;
}

int read_distance(const Spec& spec, Element& e, const SensorSpec& s, std::string& why, int dim) {
  if (s.object.empty() || s.reference.empty())
    fail(e, "must name two objects: geom1 or body1, and geom2 or body2");
  if (s.objtype == s.reftype && s.object == s.reference) fail(e, "must name two different objects");
  if (has_hfield(spec, s.objtype, s.object) || has_hfield(spec, s.reftype, s.reference))
    why = "distances to height fields are not computed";
  return why.empty() ? dim : 0;
}

// Returns the numbers of a reading; 0, with the reason in `why`: not evaluated.
int read_dim(const Spec& spec, Element& e, const SensorSpec& s, std::string& why) {
  const std::optional<SensorType> type = sensor_type(s.type);
  if (!type) {
    why = "this sensor is kept in the model but not evaluated";
    return 0;
  }
  using T = SensorType;
  const bool of_all = *type == T::clock || *type == T::e_potential || *type == T::e_kinetic;
  if (s.object.empty() && *type != T::contact && !of_all)
    fail(e, "must name what it is attached to");
  const bool unit_length = *type == T::ballquat || *type == T::framequat ||
                           *type == T::framexaxis || *type == T::frameyaxis ||
                           *type == T::framezaxis;
  if (unit_length && s.cutoff > 0) fail(e, "cutoff", "has no meaning for axes and quaternions");
  const int dim = sensor_dim(*type);
  switch (*type) {
    case T::jointpos:
    case T::jointvel:
    case T::jointactuatorfrc: require_joint(spec, e, s, false); return dim;
    case T::ballquat:
    case T::ballangvel: require_joint(spec, e, s, true); return dim;
    case T::touch:
    case T::tendonpos:
    case T::tendonvel:
    case T::tendonactuatorfrc:
    case T::tendonlimitpos:
    case T::tendonlimitvel:
    case T::tendonlimitfrc:
    case T::actuatorpos:
    case T::actuatorvel:
    case T::actuatorfrc:
    case T::clock:
    case T::e_potential:
    case T::e_kinetic: return dim;
    case T::jointlimitpos:
    case T::jointlimitvel:
    case T::jointlimitfrc: require_limit(spec, e, s); return dim;
    case T::distance:
    case T::normal:
    case T::fromto: return read_distance(spec, e, s, why, dim);
    case T::camprojection:
      if (s.objtype != "site" || s.reference.empty()) fail(e, "must name a site and a camera");
      why = frame_problem(spec, s.reftype, s.reference);
      return why.empty() ? dim : 0;
    case T::insidesite: return read_inside(spec, e, s, why);
    case T::contact: return read_contact(e);
    case T::rangefinder:
      if (s.objtype != "site") {
        why = "rays of a camera are Batch.depth";
        return 0;
      }
      if (text(e, "data").value_or("dist") != "dist")
        mark(e, "data", Use::refused, false, "must be dist: one distance a sensor");
      return dim;
    default: break;
  }
  why = frame_problem(spec, s.objtype, s.object);
  if (why.empty()) why = frame_problem(spec, s.reftype, s.reference);
  if (!why.empty()) return 0;
  return dim;
}

}  // namespace

void read_sensors(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    SensorSpec s = read_sensor(spec, child);
    std::string why;
    s.dim = read_dim(spec, child, s, why);
    if (s.dim == 0) mark(child, Use::ignored, false, why);
    spec.sensors.push_back({&child, std::move(s)});
  }
}

void read_keyframes(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    KeySpec k;
    k.element = &child;
    k.name = claim_name(spec, "key", child);
    k.time = number(child, "time").value_or(0);
    k.qpos = numbers(child, "qpos").value_or(std::vector<double>{});
    k.qvel = numbers(child, "qvel").value_or(std::vector<double>{});
    k.ctrl = numbers(child, "ctrl").value_or(std::vector<double>{});
    k.mpos = numbers(child, "mpos").value_or(std::vector<double>{});
    k.mquat = numbers(child, "mquat").value_or(std::vector<double>{});
    k.act = numbers(child, "act").value_or(std::vector<double>{});
    spec.keys.push_back(std::move(k));
  }
}

}  // namespace stiction::model

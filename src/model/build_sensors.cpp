// Sensors: names into indices, addresses in sensordata.
#include <algorithm>
#include <map>

#include "model/build.h"

namespace stiction::model {
namespace {

struct Named {
  std::string_view name;
  SensorType type;
};
constexpr Named kTypes[] = {
    {"touch", SensorType::touch},
    {"accelerometer", SensorType::accelerometer},
    {"velocimeter", SensorType::velocimeter},
    {"gyro", SensorType::gyro},
    {"force", SensorType::force},
    {"torque", SensorType::torque},
    {"magnetometer", SensorType::magnetometer},
    {"rangefinder", SensorType::rangefinder},
    {"camprojection", SensorType::camprojection},
    {"jointpos", SensorType::jointpos},
    {"jointvel", SensorType::jointvel},
    {"tendonpos", SensorType::tendonpos},
    {"tendonvel", SensorType::tendonvel},
    {"actuatorpos", SensorType::actuatorpos},
    {"actuatorvel", SensorType::actuatorvel},
    {"actuatorfrc", SensorType::actuatorfrc},
    {"jointactuatorfrc", SensorType::jointactuatorfrc},
    {"tendonactuatorfrc", SensorType::tendonactuatorfrc},
    {"tendonlimitpos", SensorType::tendonlimitpos},
    {"tendonlimitvel", SensorType::tendonlimitvel},
    {"tendonlimitfrc", SensorType::tendonlimitfrc},
    {"ballquat", SensorType::ballquat},
    {"ballangvel", SensorType::ballangvel},
    {"jointlimitpos", SensorType::jointlimitpos},
    {"jointlimitvel", SensorType::jointlimitvel},
    {"jointlimitfrc", SensorType::jointlimitfrc},
    {"framepos", SensorType::framepos},
    {"framequat", SensorType::framequat},
    {"framexaxis", SensorType::framexaxis},
    {"frameyaxis", SensorType::frameyaxis},
    {"framezaxis", SensorType::framezaxis},
    {"framelinvel", SensorType::framelinvel},
    {"frameangvel", SensorType::frameangvel},
    {"framelinacc", SensorType::framelinacc},
    {"frameangacc", SensorType::frameangacc},
    {"subtreecom", SensorType::subtreecom},
    {"subtreelinvel", SensorType::subtreelinvel},
    {"subtreeangmom", SensorType::subtreeangmom},
    {"insidesite", SensorType::insidesite},
    {"distance", SensorType::distance},
    {"normal", SensorType::normal},
    {"fromto", SensorType::fromto},
    {"e_potential", SensorType::e_potential},
    {"e_kinetic", SensorType::e_kinetic},
    {"contact", SensorType::contact},
    {"clock", SensorType::clock},
};

struct Object {
  ObjectType type = ObjectType::none;
  int id = -1;
};

// The element of the given kind; no name, no object. The reader has checked that it exists.
Object object(const Model& m, const std::string& kind, const std::string& name) {
  const auto found = [&](ObjectType type, const Names& names) {
    return Object{type,
                  static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin())};
  };
  if (kind == "body") return found(ObjectType::body, m.body_names);
  if (kind == "xbody") return found(ObjectType::xbody, m.body_names);
  if (kind == "joint") return found(ObjectType::joint, m.jnt_names);
  if (kind == "geom") return found(ObjectType::geom, m.geom_names);
  if (kind == "site") return found(ObjectType::site, m.site_names);
  if (kind == "camera") return found(ObjectType::camera, m.cam_names);
  if (kind == "tendon") return found(ObjectType::tendon, m.tendon_names);
  if (kind == "actuator") return found(ObjectType::actuator, m.actuator_names);
  return {};
}

}  // namespace

std::optional<SensorType> sensor_type(std::string_view name) {
  for (const Named& n : kTypes)
    if (n.name == name) return n.type;
  return {};
}

void build_sensors(const Spec& spec, Model& m) {
  for (const SensorSource& source : spec.sensors) {
    const SensorSpec& s = source.spec;
    m.sensors.push_back(s);
    if (s.dim == 0) continue;
    const Object obj = object(m, s.objtype, s.object), ref = object(m, s.reftype, s.reference);
    m.sensor_names.push_back(s.name);
    m.sensor_type.push_back(*sensor_type(s.type));
    m.sensor_objtype.push_back(obj.type), m.sensor_objid.push_back(obj.id);
    m.sensor_reftype.push_back(ref.type), m.sensor_refid.push_back(ref.id);
    m.sensor_adr.push_back(m.nsensordata);
    m.sensor_dim.push_back(s.dim);
    m.sensor_cutoff.push_back(s.cutoff);
    m.nsensordata += s.dim;
    ++m.nsensor;
  }
}

}  // namespace stiction::model

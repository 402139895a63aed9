// Sensors: resolves names to indices, assigns addresses in sensordata.
#include <algorithm>
#include <map>

#include "model/build/build.h"
#include "model/spec/sensor_types.h"

namespace stiction::model {
namespace {

struct Object {
  ObjectType type = ObjectType::none;
  int id = -1;
};

// Returns the element of the given kind; none without a name. The reader has checked that it exists.
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

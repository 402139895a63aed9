// <sensor> and <keyframe>.
#include <cmath>

#include "model/read.h"

namespace stiction::model {
namespace {

// Objects a frame sensor can be attached to; "xbody" is a body seen from its own frame.
void require_object(const Spec& spec, Element& e, const std::string& type,
                    std::string_view attribute, const std::string& name) {
  require_name(spec, type == "xbody" ? "body" : type, e, attribute, name);
}

SensorSpec read_sensor(Spec& spec, Element& e) {
  SensorSpec s;
  s.type = e.name;
  s.name = claim_name(spec, "sensor", e);
  for (const char* kind : {"site", "joint", "tendon", "actuator", "body", "geom", "camera"}) {
    const auto name = text(e, kind);
    if (!name || !s.object.empty()) continue;
    require_name(spec, kind, e, kind, *name);
    s.objtype = kind, s.object = *name;
  }
  const auto pair = [&](const char* type, const char* a, const char* b) {
    for (const char* attribute : {a, b}) {
      const auto name = text(e, attribute);
      if (!name) continue;
      require_name(spec, type, e, attribute, *name);
      if (attribute == a)
        s.objtype = type, s.object = *name;
      else
        s.reftype = type, s.reference = *name;
    }
  };
  pair("geom", "geom1", "geom2");
  pair("body", "body1", "body2");
  pair("body", "subtree1", "subtree2");
  if (const auto type = text(e, "objtype")) {
    s.objtype = *type, s.object = text(e, "objname").value_or("");
    if (e.name != "user") require_object(spec, e, s.objtype, "objname", s.object);
  }
  if (const auto type = text(e, "reftype")) {
    s.reftype = *type, s.reference = text(e, "refname").value_or("");
    require_object(spec, e, s.reftype, "refname", s.reference);
  }
  return s;
}

}  // namespace

void read_sensors(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    SensorSpec s = read_sensor(spec, child);
    mark(child, Use::ignored, false, "sensors are kept in the model but not evaluated");
    spec.sensors.push_back(std::move(s));
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
    for (const char* a : {"mpos", "mquat"}) {
      mark(child, a, Use::ignored, false, "keyframes hold no mocap poses; give them as inputs");
    }
    if (const auto act = numbers(child, "act"); act && !act->empty()) {
      fail(child, "act", "expected 0 numbers: no actuator has a state; remove it");
    }
    spec.keys.push_back(std::move(k));
  }
}

}  // namespace stiction::model

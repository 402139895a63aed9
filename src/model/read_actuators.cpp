// <actuator>: all kinds become gain * ctrl + bias . (1, length, velocity).
#include <algorithm>

#include "model/read.h"

namespace stiction::model {
namespace {

// Kinds with a different force law or with states of their own.
bool refused_kind(const std::string& kind) {
  constexpr std::array kKinds{"intvelocity", "orientation", "pid",     "cylinder",
                              "muscle",      "adhesion",    "dcmotor", "plugin"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

void refuse(Element& e, std::string_view attribute, const std::string& why) {
  mark(e, attribute, Use::refused, true, why);
}

void read_general(Element& e, ActuatorSpec& a) {
  if (choice(e, "dyntype",
             {"none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "user"})
          .value_or(0) > 0) {
    refuse(e, "dyntype", "actuators with a state are not computed; use dyntype=\"none\"");
  }
  if (const auto i =
          choice(e, "gaintype", {"fixed", "affine", "muscle", "dcmotor", "so3", "user"})) {
    a.affine_gain = *i == 1;
    if (*i > 1) refuse(e, "gaintype", "only a fixed or affine gain is computed");
  }
  if (const auto i =
          choice(e, "biastype", {"none", "affine", "muscle", "dcmotor", "so3", "user"})) {
    a.affine_bias = *i == 1;
    if (*i > 1) refuse(e, "biastype", "only an affine bias is computed; use biastype=\"affine\"");
  }
  if (const auto g = numbers(e, "gainprm"); g && !g->empty()) {
    for (std::size_t i = 0; i < std::min<std::size_t>(g->size(), 3); ++i) a.gain[i] = (*g)[i];
  }
  if (const auto b = numbers(e, "biasprm")) {
    for (std::size_t i = 0; i < std::min<std::size_t>(b->size(), 3); ++i) a.bias[i] = (*b)[i];
  }
  for (const char* name : {"input", "velrange", "ffrange"}) {
    if (e.has(name)) refuse(e, name, "this input of the actuator is not computed; remove it");
  }
}

void read_position(Element& e, ActuatorSpec& a) {
  if (const auto kp = number(e, "kp")) {
    require_nonnegative(e, "kp", *kp);
    a.gain[0] = *kp;
  }
  const auto kv = number(e, "kv"), ratio = number(e, "dampratio");
  if (kv && ratio) fail(e, "dampratio", "kv is given too; keep one of them");
  a.affine_gain = false;
  a.affine_bias = true;
  a.bias[0] = 0;
  a.bias[1] = -a.gain[0];
  if (kv) {
    require_nonnegative(e, "kv", *kv);
    a.bias[2] = -*kv;
  }
  if (ratio) {
    require_nonnegative(e, "dampratio", *ratio);
    a.bias[2] = *ratio;  // positive: resolved at qpos0
    mark(e, "dampratio", Use::mapped, false, "kv from the inertia at qpos0");
  }
  if (const auto t = number(e, "timeconst"); t && *t != 0) {
    refuse(e, "timeconst", "actuators with a state are not computed; remove it");
  }
}

void read_velocity(Element& e, ActuatorSpec& a) {
  a.affine_gain = false;
  a.gain = {1, 0, 0};
  if (const auto kv = number(e, "kv")) {
    require_nonnegative(e, "kv", *kv);
    a.gain[0] = *kv;
  }
  a.affine_bias = true;
  a.bias = {0, 0, -a.gain[0]};
}

// force = -kv ctrl velocity
void read_damper(Element& e, ActuatorSpec& a) {
  a.affine_gain = true;
  a.affine_bias = false;
  a.gain = {0, 0, -1};
  a.ctrllimited = Switch::yes;
  if (const auto kv = number(e, "kv")) {
    require_nonnegative(e, "kv", *kv);
    a.gain[2] = -*kv;
  }
}

void read_common(Element& e, ActuatorSpec& a) {
  numbers_into(e, "gear", a.gear, 1);
  if (const auto s = read_switch(e, "ctrllimited")) a.ctrllimited = *s;
  if (const auto s = read_switch(e, "forcelimited")) a.forcelimited = *s;
  const bool range = exactly(e, "ctrlrange", a.ctrlrange);
  exactly(e, "forcerange", a.forcerange);
  if (const auto v = number(e, "inheritrange")) {
    if (*v < 0)
      fail(e, "inheritrange", "is negative; give the share of the joint's range, such as 1");
    if (*v > 0 && range) fail(e, "inheritrange", "ctrlrange is given too; keep one of them");
    a.inheritrange = *v;
  }
  if (range) a.inheritrange = 0;
  std::array<double, 3> damping{};
  if (numbers_into(e, "damping", damping, 1) > 0) {
    mark(e, "damping", Use::ignored, damping != std::array<double, 3>{},
         "damping of actuators is not computed; write it on the joint");
  }
  if (const auto v = number(e, "armature")) {
    mark(e, "armature", Use::ignored, *v != 0,
         "armature of actuators is not computed; write it on the joint");
  }
  for (const char* name : {"delay", "nsample"}) {
    if (const auto v = number(e, name); v && *v != 0) {
      refuse(e, name, "delayed controls are not computed; remove it");
    }
  }
}

}  // namespace

void read_actuator(Element& e, ActuatorSpec& a) {
  if (refused_kind(e.name)) {
    // in <default> it harms nobody as long as no actuator of that kind exists
    mark(e, Use::ignored, false, "default of an actuator that can't be computed");
    return;
  }
  if (e.name == "general") read_general(e, a);
  if (e.name == "motor") a.gain = {1, 0, 0}, a.affine_bias = a.affine_gain = false, a.bias = {};
  if (e.name == "position") read_position(e, a);
  if (e.name == "velocity") read_velocity(e, a);
  if (e.name == "damper") read_damper(e, a);
  read_common(e, a);
  if (e.name == "damper" && a.ctrlrange[0] < 0) {
    fail(e, "ctrlrange", "a damper can't push: the range must start at 0 or above");
  }
}

namespace {

void read_target(Element& e, const Spec& spec, ActuatorSpec& a) {
  int targets = 0;
  for (const char* kind : {"joint", "jointinparent", "tendon", "site", "slidersite", "body"}) {
    targets += e.has(kind) ? 1 : 0;
  }
  if (targets != 1) {
    fail(e, targets == 0 ? "has no target; add joint=\"...\" or tendon=\"...\""
                         : "has more than one target; keep one");
  }
  for (const char* kind : {"site", "slidersite", "cranksite", "body", "refsite"}) {
    if (e.has(kind)) {
      refuse(e, kind, "only transmissions to joints and fixed tendons are computed");
    }
  }
  for (const char* kind : {"joint", "jointinparent"}) {
    if (const auto name = text(e, kind)) {
      require_name(spec, "joint", e, kind, *name);
      a.trntype = Transmission::joint;
      a.target = *name;
    }
  }
  if (const auto name = text(e, "tendon")) {
    require_name(spec, "tendon", e, "tendon", *name);
    a.trntype = Transmission::tendon;
    a.target = *name;
    const auto t = std::find_if(spec.tendons.begin(), spec.tendons.end(),
                                [&](const TendonSpec& s) { return s.name == *name; });
    if (t != spec.tendons.end() && !t->fixed) {
      refuse(e, "tendon", "spatial tendons are not computed");
    }
  }
}

void resolve(const Compiler& c, const Element& e, const std::string& switch_name,
             const std::string& range_name, Switch& limited, const Range& range) {
  const bool given = range[0] != 0 || range[1] != 0;
  if (limited == Switch::automatic) {
    if (given && !c.autolimits) {
      fail(e, range_name,
           "a range with autolimits=\"false\": set " + switch_name + " to \"true\" or \"false\"");
    }
    limited = given ? Switch::yes : Switch::no;
  }
  if (limited == Switch::yes && !(range[0] < range[1])) {
    fail(e, range_name, "the lower limit must be below the upper one");
  }
}

}  // namespace

void read_actuators(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    const std::string name = claim_name(spec, "actuator", child);
    if (refused_kind(child.name)) {
      mark(child, Use::refused, true,
           "<" + shown(child.name) +
               "> is not computed; use motor, position, velocity, damper or general");
      continue;
    }
    ActuatorSpec a = class_of(spec, child, "main").actuator;
    a.element = &child;
    a.name = name;
    read_actuator(child, a);
    read_target(child, spec, a);
    resolve(spec.compiler, child, "forcelimited", "forcerange", a.forcelimited, a.forcerange);
    // an inherited range is filled in when the joints are known
    if (!(a.inheritrange > 0)) {
      resolve(spec.compiler, child, "ctrllimited", "ctrlrange", a.ctrllimited, a.ctrlrange);
    }
    if (child.name == "damper" && !(a.ctrlrange[0] >= 0 && a.ctrlrange[0] < a.ctrlrange[1])) {
      fail(child, "ctrlrange", "a damper needs a range of positive controls, such as 0 1");
    }
    spec.actuators.push_back(std::move(a));
  }
}

}  // namespace stiction::model

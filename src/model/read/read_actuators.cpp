// <actuator>: all kinds become gain * u + bias . (1, length, velocity), u the control or the activation.
#include <algorithm>
#include <numbers>

#include "model/read/read.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

// Returns whether a kind has a different force law or several states.
bool refused_kind(const std::string& kind) {
  constexpr std::array kKinds{"orientation", "pid", "dcmotor", "plugin"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

// Returns whether a shortcut inherits its parameters: from a default written with the same shortcut, or with
// <general> and the gain type of the shortcut.
bool inherits(const std::string& kind, const ActuatorSpec& from) {
  const Law gaintype = kind == "damper"   ? Law::affine
                       : kind == "muscle" ? Law::muscle
                                          : Law::constant;
  return from.kind == kind || (from.kind == "general" && from.gaintype == gaintype);
}

// Sets the initial gain, bias and dynamics of the shortcut: those of the nearest class it can inherit
// from, else its own. Everything else of `a` comes from its class, whatever the default was written with.
void begin_shortcut(const Spec& spec, const std::string& kind, const std::string& ancestor,
                    ActuatorSpec& a) {
  const ActuatorSpec own;
  const ActuatorSpec* from = &a;
  for (const std::string* name = &ancestor; !inherits(kind, *from);) {
    if (name->empty()) {
      from = &own;
      break;
    }
    const DefaultClass& above = spec.classes.at(*name);
    from = &above.actuator;
    name = &above.parent;
  }
  a.gaintype = from->gaintype;
  a.gain = from->gain;
  a.bias = from->bias;
  a.dyntype = from->dyntype;
  a.dynprm = from->dynprm;
  a.actearly = false;
  a.actdim = -1;
  a.unknown_law = from->unknown_law;
  a.unknown_state = false;
  if (kind == "position" || kind == "intvelocity") a.inheritrange = from->inheritrange;
  a.kind = kind;
}

void read_general(Element& e, ActuatorSpec& a) {
  a.kind = "general";
  if (const auto i =
          choice(e, "dyntype",
                 {"none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "user"})) {
    a.unknown_state = *i > 4;
    a.dyntype = static_cast<ActuatorDynamics>(a.unknown_state ? 0 : *i);
  }
  if (numbers(e, "dynprm")) {
    const auto given = *numbers(e, "dynprm");
    std::copy_n(given.begin(), std::min<std::size_t>(given.size(), 3), a.dynprm.begin());
    require_within(e, "dynprm", a.dynprm, kTimeBound);
  }
  if (const auto b = boolean(e, "actearly")) a.actearly = *b;
  if (const auto n = integer(e, "actdim")) a.actdim = *n;
  const auto law = [](int i) {
    constexpr Law kLaws[] = {Law::constant, Law::affine, Law::muscle};
    return i < 3 ? kLaws[i] : Law::other;
  };
  if (const auto i =
          choice(e, "gaintype", {"fixed", "affine", "muscle", "dcmotor", "so3", "user"})) {
    a.gaintype = law(*i);
  }
  if (const auto i =
          choice(e, "biastype", {"none", "affine", "muscle", "dcmotor", "so3", "user"})) {
    a.biastype = law(*i);
  }
  const auto overlay = [&](const char* name, LawNumbers& to) {
    const auto given = numbers(e, name).value_or(std::vector<double>{});
    std::copy_n(given.begin(), std::min(given.size(), to.size()), to.begin());
    for (const double v : to) require_within(e, name, v, kGainBound);
  };
  overlay("gainprm", a.gain);
  overlay("biasprm", a.bias);
}

void read_position(Element& e, ActuatorSpec& a) {
  const bool integrates = a.kind == "intvelocity";
  read_within(e, "kp", kGainBound, a.gain[0]);
  const auto kv = number(e, "kv"), ratio = number(e, "dampratio");
  if (kv && ratio) fail(e, "dampratio", "kv is given too; keep one of them");
  a.gaintype = Law::constant;
  a.biastype = Law::affine;
  a.gain = {a.gain[0]};
  a.bias = {0, -a.gain[0], a.bias[2]};
  if (kv) {
    require_nonnegative(e, "kv", *kv, kGainBound);
    a.bias[2] = -*kv;
  }
  if (ratio) {
    require_nonnegative(e, "dampratio", *ratio, kRatioBound);
    a.bias[2] = *ratio;  // positive: converted at qpos0
    mark(e, "dampratio", Use::mapped, false, "kv from the inertia at qpos0");
  }
  if (integrates) {
    a.dyntype = ActuatorDynamics::integrator;
    return;
  }
  const bool filters = a.dyntype == ActuatorDynamics::filterexact;
  if (!filters) a.dyntype = ActuatorDynamics::none;
  a.dynprm = {filters ? a.dynprm[0] : 1, 0, 0};
  if (const auto t = number(e, "timeconst")) {
    require_nonnegative(e, "timeconst", *t, kTimeBound);
    a.dyntype = *t == 0 ? ActuatorDynamics::none : ActuatorDynamics::filterexact;
    a.dynprm = {*t, 0, 0};
  }
}

void read_velocity(Element& e, ActuatorSpec& a) {
  read_within(e, "kv", kGainBound, a.gain[0]);
  a.gaintype = Law::constant;
  a.biastype = Law::affine;
  a.gain = {a.gain[0]};
  a.bias = {0, 0, -a.gain[0]};
  a.dyntype = ActuatorDynamics::none, a.dynprm = {1, 0, 0};
}

// force = -kv ctrl velocity
void read_damper(Element& e, ActuatorSpec& a) {
  double kv = -a.gain[2];
  read_within(e, "kv", kGainBound, kv);
  if (kv < 0) fail(e, "kv", shown(kv) + ": a damper's coefficient can't be negative");
  a.gaintype = Law::affine;
  a.biastype = Law::constant;
  a.gain = {0, 0, -kv};
  a.bias = {};
  a.dyntype = ActuatorDynamics::none, a.dynprm = {1, 0, 0};
  a.ctrllimited = Switch::yes;
}

// The pressure in the cylinder follows the control.
void read_cylinder(Element& e, ActuatorSpec& a) {
  double diameter = 0;
  read_within(e, "timeconst", kTimeBound, a.dynprm[0]);
  read_within(e, "area", kGainBound, a.gain[0]);
  if (read_within(e, "diameter", kLengthBound, diameter))
    a.gain[0] = std::numbers::pi / 4 * diameter * diameter;
  exactly(e, "bias", kGainBound, std::span(a.bias).first(3));
  a.gaintype = Law::constant, a.biastype = Law::affine;
  a.gain = {a.gain[0]};
  a.dyntype = ActuatorDynamics::filter;
  a.dynprm = {a.dynprm[0], 0, 0};
}

// Numbers below zero are ignored, as in MuJoCo, except a force of -1: computed from scale and the inertia at qpos0.
void read_muscle(Element& e, ActuatorSpec& a) {
  if (a.gaintype != Law::muscle) {
    a.gain = kMuscle;
    a.dynprm = {0.01, 0.04, 0};
  }
  if (std::array<double, 2> t{}; exactly(e, "timeconst", kTimeBound, t))
    for (std::size_t k = 0; k < 2; ++k)
      if (t[k] >= 0) a.dynprm[k] = t[k];
  read_nonnegative(e, "tausmooth", kRatioBound, a.dynprm[2]);
  exactly(e, "range", kRatioBound, std::span(a.gain).first(2));
  if (double force = 0; read_within(e, "force", kForceBound, force))
    a.gain[2] = force < 0 ? -1 : force;
  constexpr const char* kNames[] = {"scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  for (std::size_t k = 0; k < 6; ++k)
    if (double v = 0; read_within(e, kNames[k], kGainBound, v) && v >= 0) a.gain[3 + k] = v;
  a.gaintype = a.biastype = Law::muscle;
  a.bias = a.gain;
  a.dyntype = ActuatorDynamics::muscle;
}

// Shortcuts that matter only to a <general> of their class, which inherits all of it.
void read_uncomputed(Element& e, ActuatorSpec& a) {
  mark(e, Use::ignored, false, "default of an actuator that can't be computed");
  a.dyntype = ActuatorDynamics::none, a.dynprm = {1, 0, 0};
  a.gaintype = a.biastype = Law::other;
  a.unknown_law = e.name;
}

void read_adhesion(Element& e, ActuatorSpec& a) {
  a.gaintype = a.biastype = Law::constant;
  a.gain = {a.gain[0]}, a.bias = {};
  a.dyntype = ActuatorDynamics::none, a.dynprm = {1, 0, 0};
  a.unknown_law.clear();
  a.ctrllimited = Switch::yes;
  read_nonnegative(e, "gain", kGainBound, a.gain[0]);
}

// inheritrange is a parameter of <position>, which does not allow ctrlrange as well; <general> allows both.
void read_ranges(Element& e, ActuatorSpec& a) {
  const bool range = exactly(e, "ctrlrange", kControlBound, a.ctrlrange);
  const auto share = number(e, "inheritrange");
  if (share) {
    if (*share < 0)
      fail(e, "inheritrange", "is negative; give the share of the joint's range, such as 1");
    require_within(e, "inheritrange", *share, kRatioBound);
    a.inheritrange = *share;
  }
  const bool activation = exactly(e, "actrange", kControlBound, a.actrange);
  if (a.kind != "position" && a.kind != "intvelocity") return;
  // the target of an intvelocity is its activation
  const bool integrates = a.kind == "intvelocity", given = integrates ? activation : range;
  Range& target = integrates ? a.actrange : a.ctrlrange;
  if (given && !share) a.inheritrange = 0;
  if (share && !given) {
    if (*share > 0) target = {};
  } else if (a.inheritrange > 0 && target != Range{}) {
    fail(e, "inheritrange",
         std::string(integrates ? "actrange" : "ctrlrange") + " is given too; keep one of them");
  }
}

void read_common(Element& e, ActuatorSpec& a) {
  if (numbers_into(e, "gear", a.gear, 1) > 0) require_within(e, "gear", a.gear, kGearBound);
  read_nonnegative(e, "cranklength", kLengthBound, a.cranklength);
  read_polynomial(e, "damping", kDampingBound, a.damping, a.dampingpoly);
  read_nonnegative(e, "armature", kArmatureBound, a.armature);
  if (const auto s = read_switch(e, "ctrllimited")) a.ctrllimited = *s;
  if (const auto s = read_switch(e, "forcelimited")) a.forcelimited = *s;
  if (const auto s = read_switch(e, "actlimited")) a.actlimited = *s;
  exactly(e, "forcerange", kForceBound, a.forcerange);
  exactly(e, "lengthrange", kLengthBound, a.lengthrange);
  read_ranges(e, a);
}

}  // namespace

void read_actuator(const Spec& spec, Element& e, const std::string& ancestor, ActuatorSpec& a) {
  a.written.note(e);
  if (e.name == "general") {
    read_general(e, a);
  } else {
    begin_shortcut(spec, e.name, ancestor, a);
    if (e.name == "motor") {
      a.gaintype = a.biastype = Law::constant;
      a.gain = {1}, a.bias = {};
      a.dyntype = ActuatorDynamics::none, a.dynprm = {1, 0, 0};
      a.unknown_law.clear();  // nothing of the default's law remains
    } else if (e.name == "position" || e.name == "intvelocity") {
      read_position(e, a);
    } else if (e.name == "cylinder") {
      read_cylinder(e, a);
    } else if (e.name == "muscle") {
      read_muscle(e, a);
    } else if (e.name == "velocity") {
      read_velocity(e, a);
    } else if (e.name == "damper") {
      read_damper(e, a);
    } else if (e.name == "adhesion") {
      read_adhesion(e, a);
    } else {
      read_uncomputed(e, a);
    }
  }
  read_common(e, a);
  if (e.name == "damper" && a.ctrlrange[0] < 0) {
    fail(e, "ctrlrange", "a damper can't push: the range must start at 0 or above");
  }
  if (e.name == "adhesion" && a.ctrlrange[0] < 0) {
    fail(e, "ctrlrange", "adhesion can't push: the range must start at 0 or above");
  }
}

namespace {

void read_target(Element& e, const Spec& spec, ActuatorSpec& a) {
  int targets = 0;
  for (const char* kind : {"joint", "jointinparent", "tendon", "site", "cranksite", "body"}) {
    targets += e.has(kind) ? 1 : 0;
  }
  if (targets != 1) {
    fail(e, targets == 0
                ? "has no target; add joint=\"...\", tendon=\"...\", site=\"...\" or body=\"...\""
                : "has more than one target; keep one");
  }
  const auto take = [&](const char* attribute, const char* kind, Transmission type) {
    const auto name = text(e, attribute);
    if (!name) return;
    require_name(spec, kind, e, attribute, *name);
    a.trntype = type;
    a.target = *name;
  };
  take("joint", "joint", Transmission::joint);
  take("jointinparent", "joint", Transmission::jointinparent);
  take("tendon", "tendon", Transmission::tendon);
  take("site", "site", Transmission::site);
  take("cranksite", "site", Transmission::slidercrank);
  take("body", "body", Transmission::body);
  const auto has_length = [](Law law, const auto& numbers) {
    return law == Law::muscle || (law == Law::affine && (numbers[1] != 0 || numbers[2] != 0));
  };
  if (a.trntype == Transmission::body &&
      (has_length(a.gaintype, a.gain) || has_length(a.biastype, a.bias)))
    mark(e, "body", Use::refused, true,
         "contacts have no length: gain and bias of adhesion must be fixed");
  for (const char* attribute : {"refsite", "slidersite"}) {
    const auto name = text(e, attribute);
    if (!name) continue;
    require_name(spec, "site", e, attribute, *name);
    if (a.trntype !=
        (attribute == std::string_view("refsite") ? Transmission::site : Transmission::slidercrank))
      fail(e, attribute, "is for actuators with site=\"...\" or cranksite=\"...\"");
    a.reference = *name;
  }
  if (a.trntype == Transmission::slidercrank) {
    if (a.reference.empty()) fail(e, "cranksite", "a slider-crank needs slidersite, too");
    if (!(a.cranklength > 0)) fail(e, "cranklength", "a slider-crank needs a positive cranklength");
  }
}

}  // namespace

void resolve_limited(const Compiler& c, const Element& e, const std::string& switch_name,
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

namespace {

// Checks that a state or a muscle can be computed with these numbers.
void check_law(const Element& e, const ActuatorSpec& a) {
  const auto need = [&](bool ok, const std::string& what) {
    if (!ok) fail(e, what);
  };
  if (a.dyntype == ActuatorDynamics::filter)
    need(a.dynprm[0] > 0, "its filter has the time constant " + shown(a.dynprm[0]) +
                              "; it must be positive, in seconds");
  if (a.dyntype == ActuatorDynamics::muscle)
    need(a.dynprm[0] > 0 && a.dynprm[1] > 0 && a.dynprm[2] >= 0,
         "the time constants of a muscle's activation must be positive and tausmooth not negative");
  for (const auto& [law, n] : {std::pair(a.gaintype, &a.gain), std::pair(a.biastype, &a.bias)}) {
    if (law != Law::muscle) continue;
    const auto& [range0, range1, force, scale, lmin, lmax, vmax, fpmax, fvmax] = *n;
    need(range0 < range1, "a muscle needs range[0] < range[1]");
    need(lmin < 1 && 1 < lmax, "a muscle needs lmin < 1 < lmax");
    need(scale > 0 && vmax > 0 && fpmax > 0 && fvmax > 0,
         "a muscle needs positive scale, vmax, fpmax and fvmax");
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
    const DefaultClass& defaults = class_of(spec, child, "main");
    ActuatorSpec a = defaults.actuator;
    a.element = &child;
    a.name = name;
    read_actuator(spec, child, defaults.parent, a);
    read_target(child, spec, a);
    judge(a);
    resolve_limited(spec.compiler_of(child), child, "forcelimited", "forcerange", a.forcelimited,
                    a.forcerange);
    // an inherited range is filled in once the joints are known
    if (!a.inherits_ctrlrange())
      resolve_limited(spec.compiler_of(child), child, "ctrllimited", "ctrlrange", a.ctrllimited,
                      a.ctrlrange);
    if (!a.inherits_actrange())
      resolve_limited(spec.compiler_of(child), child, "actlimited", "actrange", a.actlimited,
                      a.actrange);
    if (a.actlimited == Switch::yes && !a.has_state() && !a.unknown_state && a.unknown_law.empty())
      fail(child, "actrange", "the actuator has no state that it could bound");
    check_law(child, a);
    if (child.name == "damper" && !(a.ctrlrange[0] >= 0 && a.ctrlrange[0] < a.ctrlrange[1])) {
      fail(child, "ctrlrange", "a damper needs a range of positive controls, such as 0 1");
    }
    spec.actuators.push_back(std::move(a));
  }
}

}  // namespace stiction::model

// <compiler>, <option> with <flag>, <custom>.
#include "model/read/read.h"
#include "model/spec/contact_material.h"
#include "model/xml/bounds.h"

namespace stiction::model {

void read_compiler(Element& e, Compiler& c) {
  if (const auto i = choice(e, "angle", {"radian", "degree"})) c.degree = *i == 1;
  if (const auto i = choice(e, "coordinate", {"local", "global"}); i == 1) {
    fail(e, "coordinate", "global coordinates can't be read; convert the file to local ones");
  }
  if (const auto s = text(e, "eulerseq")) {
    check_eulerseq(e, *s);
    c.eulerseq = *s;
  }
  if (const auto b = boolean(e, "autolimits")) c.autolimits = *b;
  if (const auto b = boolean(e, "balanceinertia")) c.balanceinertia = *b;
  if (const auto s = read_switch(e, "inertiafromgeom")) c.inertiafromgeom = *s;
  if (const auto v = number(e, "boundmass")) {
    require_nonnegative(e, "boundmass", *v, kMassBound);
    c.boundmass = *v;
  }
  if (const auto v = number(e, "boundinertia")) {
    require_nonnegative(e, "boundinertia", *v, kInertiaBound);
    c.boundinertia = *v;
  }
  read_within(e, "settotalmass", kMassBound, c.settotalmass);
  std::array<double, 2> range{};
  if (exactly(e, "inertiagrouprange", range)) {
    if (range[0] > range[1] || range[0] < 0 || range[1] > 5) {
      fail(e, "inertiagrouprange", "expected two group numbers of 0 to 5, the lower one first");
    }
    c.inertiagrouprange = {static_cast<int>(range[0]), static_cast<int>(range[1])};
  }
  if (const auto b = boolean(e, "alignfree")) c.alignfree = *b;
  if (const auto b = boolean(e, "strippath")) c.strippath = *b;
  if (const auto s = text(e, "assetdir")) c.meshdir = *s;
  if (const auto s = text(e, "meshdir")) c.meshdir = *s;
  if (const auto b = boolean(e, "fitaabb")) c.fitaabb = *b;
  if (boolean(e, "fusestatic") == true) {
    mark(e, "fusestatic", Use::mapped, false,
         "static bodies stay separate; the motion is the same");
  }
  if (boolean(e, "discardvisual") == true) {
    mark(e, "discardvisual", Use::mapped, false,
         "visual geoms stay in the model; the motion is the same");
  }
  for (auto& child : e.children) {
    if (child.name != "lengthrange") continue;
    if (const auto b = boolean(child, "useexisting")) c.useexisting = *b;
    if (const auto b = boolean(child, "uselimit")) c.uselimit = *b;
  }
}

namespace {

void read_flag(Element& e, Spec& spec) {
  const auto on = [&](const char* name, bool normal) {
    const auto i = choice(e, name, {"disable", "enable"});
    return i ? *i == 1 : normal;
  };
  Flags& f = spec.flags;
  const auto honour = [&](const char* name, bool& flag, const char* note) {
    flag = on(name, flag);
    if (!flag) mark(e, name, Use::mapped, false, note);
  };
  honour("contact", f.contact, "no geom pairs");
  honour("limit", f.limit, "joint ranges are kept but not enforced");
  honour("frictionloss", f.frictionloss, "dry friction of all joints set to 0");
  honour("spring", f.spring, "stiffness of all joints set to 0");
  honour("damper", f.damper, "damping of all joints set to 0");
  honour("equality", f.equality, "all equalities inactive");
  honour("clampctrl", f.clampctrl, "controls are not clamped");
  honour("actuation", f.actuation, "gains and biases of all actuators set to 0");
  honour("gravity", f.gravity, "gravity set to 0");
  if (!on("constraint", true)) {
    f.contact = f.limit = f.frictionloss = f.equality = false;
    mark(e, "constraint", Use::mapped, false, "no contacts, limits, dry friction or equalities");
  }
  spec.contact.filter_parent = on("filterparent", spec.contact.filter_parent);
  spec.contact.refsafe = on("refsafe", spec.contact.refsafe);
  if (on("override", false)) {
    mark(e, "override", Use::refused, true,
         "replaces the parameters of all contacts; write them on the geoms");
  }
}

}  // namespace

void read_option(Element& e, Spec& spec) {
  if (const auto v = number(e, "timestep")) {
    require_positive(e, "timestep", *v);
    require_within(e, "timestep", *v, kTimestepBound);
    if (*v < kLeastTimestep) {
      fail(e, "timestep",
           "is below " + shown(kLeastTimestep) +
               " s, the least that can be computed with; it is in seconds");
    }
    spec.timestep = *v;
  }
  exactly(e, "gravity", kGravityBound, spec.gravity);
  if (const auto i = choice(e, "cone", {"pyramidal", "elliptic"})) {
    spec.contact.elliptic = *i == 1;
    mark(e, "cone", Use::mapped, false,
         "friction cones are round; the choice only enters the contact stiffness");
  }
  if (const auto v = number(e, "impratio")) {
    require_positive(e, "impratio", *v);
    require_within(e, "impratio", *v, kRatioBound);
    spec.contact.impratio = *v;
    mark(e, "impratio", Use::mapped, false,
         "only enters the contact stiffness; friction is as stiff as stiction_tolerance says");
  }
  if (choice(e, "integrator", {"Euler", "RK4", "implicit", "implicitfast", "discrete"})) {
    mark(e, "integrator", Use::mapped, false,
         "symplectic Euler, implicit in contacts, springs, damping and servos");
  }
  read_nonnegative(e, "density", kMediumBound, spec.density);
  read_nonnegative(e, "viscosity", kMediumBound, spec.viscosity);
  exactly(e, "wind", kWindBound, spec.wind);
  exactly(e, "magnetic", spec.magnetic);
  for (auto& child : e.children) {
    if (child.name == "flag") read_flag(child, spec);
  }
}

void read_custom(Element& e, Spec& spec) {
  constexpr std::string_view kKey = "stiction_contact", kEqualityKey = "stiction_equality";
  for (auto& n : e.children) {
    if (n.name == "tuple" && read_mesh_choice(n, spec)) continue;
    if (n.name != "numeric") {
      mark(n, Use::ignored, false, "user data");
      continue;
    }
    const std::string name = required_text(n, "name");
    claim_name(spec, "numeric", n);
    const auto size = integer(n, "size");
    const auto data = any_numbers(n, "data").value_or(std::vector<double>{});
    if (size && (*size < 0 || data.size() > static_cast<std::size_t>(*size))) {
      fail(n, "data", "more numbers than size=" + std::to_string(*size));
    }
    const auto is_key = [&](std::string_view key) {
      return name == key || name.starts_with(std::string(key) + "/");
    };
    const auto owner = [&](std::string_view key, const char* what) {
      if (name == key) return std::string();
      if (name.size() == key.size() + 1)
        fail(n, "name", std::string(what) + " name must follow the slash");
      return name.substr(key.size() + 1);
    };
    if (is_key(kEqualityKey)) {
      read_compliance(n, owner(kEqualityKey, "an equality's"), data, spec);
      continue;
    }
    if (!is_key(kKey)) {
      mark(n, Use::ignored, false, "user data");
      continue;
    }
    if (data.size() != 2 && data.size() != 3) {
      fail(n, "data",
           "expected 2 numbers, stiffness in N/m and dissipation in s/m, or a third: restitution");
    }
    require_positive(n, "data", data[0]);
    if (data[0] < kRigid) require_within(n, "data", data[0], kStiffnessBound);
    require_nonnegative(n, "data", data[1], kDissipationBound);
    if (data.size() == 3 && !(data[2] >= 0 && data[2] <= 1))
      fail(n, "data", "the third number, restitution, must be in [0, 1]");
    MaterialSpec m;
    m.element = &n;
    m.stiffness = data[0], m.dissipation = data[1];
    if (data.size() == 3) m.restitution = data[2];
    m.geom = owner(kKey, "a geom");
    spec.materials.push_back(m);
  }
}

}  // namespace stiction::model

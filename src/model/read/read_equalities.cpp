// <equality>: constraints between two bodies, joints or tendons; and their native compliance in <custom>.
#include "model/read/read.h"
#include "model/spec/contact_material.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

void read_objects(const Spec& spec, EqualitySource& q, const char* kind, const char* first,
                  const char* second) {
  Element& e = *q.element;
  q.object1 = required_text(e, first);
  require_name(spec, kind, e, first, q.object1);
  q.object2 = text(e, second).value_or("");
  if (!q.object2.empty()) require_name(spec, kind, e, second, q.object2);
  if (q.object1 == q.object2) fail(e, second, std::string("names the same ") + kind + " twice");
}

void read_sites(const Spec& spec, EqualitySource& q) {
  Element& e = *q.element;
  for (const char* name : {"body1", "body2", "anchor", "relpose"})
    if (e.has(name)) fail(e, name, "does not go with site1 and site2");
  required_text(e, "site2");
  q.objtype = ObjectType::site;
  read_objects(spec, q, "site", "site1", "site2");
}

// anchor: for a connect in body 1, for a weld in body 2. relpose: of body 2 in body 1; if absent, or with a
// quaternion of length zero, that of the reference pose.
void read_bodies(const Spec& spec, EqualitySource& q) {
  Element& e = *q.element;
  if (e.has("site1") || e.has("site2")) return read_sites(spec, q);
  read_objects(spec, q, "body", "body1", "body2");
  const bool anchored = exactly(e, "anchor", kLengthBound, q.anchor);
  if (q.type == EqualityType::connect && !anchored) fail(e, "needs an anchor, or site1 and site2");
  if (q.type == EqualityType::connect) return;
  exactly(e, "relpose", kLengthBound, q.relpose);
  read_within(e, "torquescale", kRatioBound, q.torquescale);
}

void read_polynomial(const Spec& spec, EqualitySource& q, ObjectType type, const char* kind,
                     const char* first, const char* second) {
  q.objtype = type;
  read_objects(spec, q, kind, first, second);
  numbers_into(*q.element, "polycoef", q.polycoef, 1);
  for (const double c : q.polycoef) require_within(*q.element, "polycoef", c, kGearBound);
}

}  // namespace

void read_equality(Element& e, EqualitySource& q) {
  if (const auto b = boolean(e, "active")) q.active = *b;
  read_solver(e, q.solref, q.solimp);
}

void read_equalities(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    EqualitySource q = class_of(spec, child, "main").equality;
    q.element = &child;
    read_equality(child, q);
    q.name = claim_name(spec, "equality", child);
    q.active = q.active && spec.flags.equality;
    if (child.name == "connect" || child.name == "weld") {
      q.type = child.name == "weld" ? EqualityType::weld : EqualityType::connect;
      read_bodies(spec, q);
    } else if (child.name == "joint") {
      q.type = EqualityType::joint;
      read_polynomial(spec, q, ObjectType::joint, "joint", "joint1", "joint2");
    } else if (child.name == "tendon") {
      q.type = EqualityType::tendon;
      read_polynomial(spec, q, ObjectType::tendon, "tendon", "tendon1", "tendon2");
    } else {
      mark(child, Use::refused, true, "flexible bodies are not computed");
      continue;
    }
    spec.equalities.push_back(std::move(q));
  }
}

void read_compliance(Element& n, const std::string& equality, const std::vector<double>& data,
                     Spec& spec) {
  if (data.size() != 2 && data.size() != 3)
    fail(n, "data",
         "expected 2 numbers: stiffness in N/m and relaxation time in s; of a weld also a "
         "rotational "
         "stiffness in N m/rad");
  ComplianceSpec c{&n, equality, data[0], data[1], {}};
  if (data.size() == 3) c.rotational = data[2];
  if (data[0] >= kRigid && !c.rotational) c.rotational = data[0];
  for (const double k : {c.stiffness, c.rotational.value_or(0)}) {
    require_nonnegative(n, "data", k);
    if (k < kRigid) require_within(n, "data", k, kStiffnessBound);
  }
  require_nonnegative(n, "data", c.relaxation_time, kTimeBound);
  spec.compliances.push_back(c);
}

}  // namespace stiction::model

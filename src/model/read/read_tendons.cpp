// <tendon>: the path of a tendon, and the forces along it.
#include <algorithm>

#include "model/read/read.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

const GeomSpec& wrapped_geom(const Spec& spec, const std::string& name) {
  for (const BodySpec& b : spec.bodies)
    for (const GeomSpec& g : b.geoms)
      if (g.name == name) return g;
  throw std::logic_error("a name without a geom");  // require_name has found it
}

WrapSpec read_wrap(const Spec& spec, Element& e) {
  WrapSpec w{.element = &e};
  if (e.name == "pulley") {
    w.type = WrapType::pulley;
    const auto divisor = number(e, "divisor");
    if (!divisor) fail(e, "attribute divisor is required");
    if (!(*divisor > 0)) fail(e, "divisor", "must be positive: 2 for a block with two parts");
    require_within(e, "divisor", *divisor, kRatioBound);
    if (*divisor < 1 / kRatioBound.most) fail(e, "divisor", "is too small to compute with");
    w.coef = *divisor;
    return w;
  }
  w.object = required_text(e, e.name);
  require_name(spec, e.name, e, e.name, w.object);
  if (e.name == "joint") {
    w.type = WrapType::joint;
    const auto coef = number(e, "coef");
    if (!coef) fail(e, "attribute coef is required");
    require_within(e, "coef", *coef, kGearBound);
    w.coef = *coef;
  } else if (e.name == "site") {
    w.type = WrapType::site;
  } else {
    const GeomType type = wrapped_geom(spec, w.object).type;
    if (type != GeomType::sphere && type != GeomType::cylinder)
      fail(e, "geom", "a tendon runs around spheres and cylinders only");
    w.type = type == GeomType::sphere ? WrapType::sphere : WrapType::cylinder;
    if (const auto side = text(e, "sidesite")) {
      require_name(spec, "site", e, "sidesite", *side);
      w.side = *side;
    }
  }
  return w;
}

bool is_geom(const WrapSpec& w) {
  return w.type == WrapType::sphere || w.type == WrapType::cylinder;
}

// Refuses paths that MuJoCo refuses.
void check_path(const TendonSpec& t) {
  const auto& path = t.wraps;
  if (path.empty())
    fail(*t.element, t.fixed ? "needs at least one <joint joint=\"...\" coef=\"...\"/>"
                             : "needs at least two <site site=\"...\"/>");
  if (t.fixed) return;
  const auto type = [&](std::size_t i) {
    return i < path.size() ? path[i].type : WrapType::pulley;
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const WrapSpec& w = path[i];
    const WrapType before = i > 0 ? path[i - 1].type : WrapType::pulley, after = type(i + 1);
    if (w.type == WrapType::pulley && (i + 1 == path.size() || after == WrapType::pulley))
      fail(*w.element, "needs a site after it");
    if (w.type == WrapType::site && before == WrapType::pulley && after == WrapType::pulley)
      fail(*w.element, "stands alone: a part of a path needs two sites");
    if (w.type == WrapType::site && after == WrapType::site && path[i + 1].object == w.object)
      fail(*path[i + 1].element, "repeats the site before it");
    if (is_geom(w) && (before != WrapType::site || after != WrapType::site))
      fail(*w.element, "needs a site before and after it");
    if (is_geom(w) && t.armature > 0)
      fail(*t.element, "armature", "is not defined for a tendon around a geom");
  }
}

}  // namespace

void read_tendon(Element& e, TendonSpec& t) {
  t.written.note(e);
  if (const auto s = read_switch(e, "limited")) t.limited = *s;
  exactly(e, "range", kPositionBound, t.range);
  read_within(e, "margin", kPositionBound, t.margin);
  read_solreflimit(e, t.solref);
  read_polynomial(e, "stiffness", kStiffnessBound, t.stiffness, t.stiffnesspoly);
  read_polynomial(e, "damping", kDampingBound, t.damping, t.dampingpoly);
  read_nonnegative(e, "armature", kArmatureBound, t.armature);
  read_nonnegative(e, "frictionloss", kForceBound, t.frictionloss);
  if (const int n = numbers_into(e, "springlength", t.springlength, 1); n > 0) {
    if (n == 1) t.springlength[1] = t.springlength[0];
    require_within(e, "springlength", t.springlength, kPositionBound);
    if (t.springlength[0] > t.springlength[1])
      fail(e, "springlength", "the lower length must be at most the upper one");
  }
  if (const auto s = read_switch(e, "actuatorfrclimited")) t.actfrclimited = *s;
  exactly(e, "actuatorfrcrange", kForceBound, t.actfrcrange);
}

void read_tendons(Element& e, Spec& spec) {
  for (auto& child : e.children) {
    TendonSpec t = class_of(spec, child, "main").tendon;
    t.element = &child;
    t.name = claim_name(spec, "tendon", child);
    t.fixed = child.name == "fixed";
    read_tendon(child, t);
    judge(t);
    resolve_limited(spec.compiler_of(child), child, "limited", "range", t.limited, t.range);
    resolve_limited(spec.compiler_of(child), child, "actuatorfrclimited", "actuatorfrcrange",
                    t.actfrclimited, t.actfrcrange);
    for (auto& wrap : child.children) t.wraps.push_back(read_wrap(spec, wrap));
    check_path(t);
    spec.tendons.push_back(std::move(t));
  }
}

}  // namespace stiction::model

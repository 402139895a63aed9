// Marks what an element of the model requests that is not computed, where it was written: on the
// element itself or in its default class. A default that no element uses is never marked.
#include <algorithm>

#include "model/build/build.h"
#include "model/read/read.h"

namespace stiction::model {
namespace {

// Returns the numbers of the attribute where it was written; empty if it was not.
std::vector<double> written_numbers(const Written& w, std::string_view attribute) {
  Element* at = w.find(attribute);
  return at ? numbers(*at, attribute).value_or(std::vector<double>{}) : std::vector<double>{};
}
bool any_nonzero(const std::vector<double>& v, std::size_t from = 0) {
  return std::any_of(v.begin() + static_cast<std::ptrdiff_t>(std::min(from, v.size())), v.end(),
                     [](double x) { return x != 0; });
}

// Ignores an attribute; it counts as physics only if one of its numbers is not zero.
void ignore_numbers(const Written& w, std::string_view attribute, const std::string& note) {
  mark(w, attribute, Use::ignored, any_nonzero(written_numbers(w, attribute)), note);
}

// MuJoCo writes `input` into every file that it saves: for a fixed or affine gain a word without
// effect, for other laws the number of controls.
bool takes_one_input(const ActuatorSpec& a) {
  Element* e = a.written.find("input");
  if (!e || (a.gaintype != Law::constant && a.gaintype != Law::affine)) return false;
  const std::string word = text(*e, "input").value_or("");
  return word == "pos" || word == "vel" || word == "pressure";
}

bool is_mesh(const GeomSpec& g) {
  return g.type == GeomType::mesh || g.type == GeomType::hfield;
}

// Returns the geoms of pairs that have no collider.
std::vector<char> without_collider(const Model& m, const LoadReport& report) {
  std::vector<char> without(at(m.ngeom));
  for (const auto& pair : report.pairs_without_collider)
    without[at(pair.geom1)] = without[at(pair.geom2)] = 1;
  return without;
}

// Returns the geoms that take part in a candidate pair, with or without a collider.
std::vector<char> touching(const Model& m, const LoadReport& report) {
  std::vector<char> touches(at(m.ngeom));
  for (int p = 0; p < m.npair; ++p)
    touches[at(m.pair_geom1[at(p)])] = touches[at(m.pair_geom2[at(p)])] = 1;
  for (const auto& pair : report.pairs_without_collider)
    touches[at(pair.geom1)] = touches[at(pair.geom2)] = 1;
  return touches;
}

void judge_shape(GeomSpec& g, bool touches, bool lacks) {
  const bool collides = g.contype != 0 || g.conaffinity != 0, mesh = g.type == GeomType::mesh;
  const char* attribute = mesh ? "mesh" : "hfield";
  if (!touches)
    mark(*g.element, attribute, Use::ignored, false,
         collides ? "no geom can touch it" : "visual only");
  else if (lacks && (!mesh || g.mesh_volume == 0))
    mark(*g.element, attribute, Use::ignored, true,
         mesh ? "the mesh is not there: nothing touches it"
              : "its file is not there: nothing touches it");
}

void judge_geom(const Spec& spec, GeomSpec& g, bool touches, bool lacks) {
  const Written& w = g.written;
  if (is_mesh(g)) judge_shape(g, touches, lacks);
  if (g.fluid_ellipsoid && is_mesh(g) && spec.has_medium())
    mark(w, "fluidshape", Use::ignored, true,
         "no ellipsoid is fitted to a mesh: the body's box is taken");
  if (Element* e = w.find("adhesion"))
    mark(*e, "adhesion", Use::ignored, touches && any_nonzero(written_numbers(w, "adhesion")),
         "contacts only push");
}

}  // namespace

void judge(JointSpec& j) {
  const Written& w = j.written;
  if (j.springdamper[0] > 0)
    mark(w, "springdamper", Use::mapped, false, "stiffness and damping from the inertia at qpos0");
  if (any_nonzero(written_numbers(w, "springyield")))
    mark(w, "springyield", Use::ignored, j.stiffness > 0 || j.springdamper[0] > 0,
         "springs are elastic whatever their force");
}

void judge(PairSource& p) {
  const Written& w = p.written;
  const std::vector<double> friction = written_numbers(w, "friction");
  const auto differ = [&](std::size_t i) {
    return friction.size() > i + 1 && friction[i + 1] != friction[i];
  };
  if (differ(0) || (differ(3) && p.spec.condim.value_or(3) == 6))
    mark(w, "friction", Use::ignored, true,
         "friction of a Batch is the same in all directions: the first number counts");
  ignore_numbers(w, "solreffriction", "friction has the stiffness of its regularisation");
  ignore_numbers(w, "adhesion", "contacts only push");
}

void judge_damper(const Written& w, double damping, const std::array<double, 2>& poly) {
  const auto& [d1, d2] = poly;
  if (d2 < 0 || (d1 < 0 && d1 * d1 > 4 * damping * d2))
    mark(w, "damping", Use::ignored, true,
         "where its polynomial is negative, the damper has no force");
}

void judge(TendonSpec& t) {
  const Written& w = t.written;
  // the row of a tendon is a restoring spring or damper
  const auto& [c1, c2] = t.stiffnesspoly;
  if (c2 < 0 || c1 * c1 > 4 * t.stiffness * c2)
    mark(w, "stiffness", Use::ignored, true,
         "where its polynomial is negative, the spring has no force");
  judge_damper(w, t.damping, t.dampingpoly);
  if (any_nonzero(written_numbers(w, "springyield")))
    mark(w, "springyield", Use::ignored, t.stiffness > 0,
         "springs are elastic whatever their force");
}

void judge(ActuatorSpec& a) {
  const Written& w = a.written;
  Element& e = *a.element;
  const auto refuse_at = [&](const char* attribute, const std::string& why) {
    if (w.has(attribute))
      mark(w, attribute, Use::refused, true, why);
    else
      mark(e, Use::refused, true, why);
  };
  if (!a.unknown_law.empty()) {
    mark(e, Use::refused, true,
         "its class's default is a <" + a.unknown_law + ">, which is not computed");
    return;
  }
  if (!a.has_state())
    for (const char* name : {"dynprm", "actearly"})
      mark(w, name, Use::ignored, false, "the actuator has no state");
  if (!a.is_muscle()) mark(w, "lengthrange", Use::ignored, false, "for muscles only");
  if (a.unknown_state)
    refuse_at("dyntype", "of states integrator, filter, filterexact and muscle are computed");
  if (a.actdim > 1 || (a.actdim >= 0 && a.has_state() != (a.actdim == 1)))
    refuse_at("actdim", a.has_state() ? "an actuator has one activation; remove it"
                                      : "the actuator has no state; remove it");
  if (a.gaintype == Law::other)
    refuse_at("gaintype", "only a fixed, affine or muscle's gain is computed");
  if (a.biastype == Law::other)
    refuse_at("biastype", "only an affine or muscle's bias is computed; use biastype=\"affine\"");
  const char* inputs = "this input of the actuator is not computed; remove it";
  if (takes_one_input(a))
    mark(w, "input", Use::ignored, false, "says what the control is, the force is the same");
  else
    mark(w, "input", Use::refused, true, inputs);
  for (const char* name : {"velrange", "ffrange"}) mark(w, name, Use::refused, true, inputs);
  if (a.trntype == Transmission::tendon) judge_damper(w, a.damping, a.dampingpoly);
  for (const char* name : {"delay", "nsample"}) {
    if (any_nonzero(written_numbers(w, name)))
      mark(w, name, Use::refused, true, "delayed controls are not computed; remove it");
  }
}

void judge_contacts(Spec& spec, const Model& m, const LoadReport& report) {
  const std::vector<char> touches = touching(m, report), lacks = without_collider(m, report);
  std::size_t i = 0;
  for (auto& b : spec.bodies) {
    for (auto& g : b.geoms) {
      judge_geom(spec, g, touches[i] != 0, lacks[i] != 0);
      ++i;
    }
  }
}

}  // namespace stiction::model

// The mass of a body: from <inertial>, or from its geoms; with the compiler's corrections.
#include <cmath>

#include "model/build/build.h"
#include "model/mesh/inertia.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

constexpr double kMinimum = 1e-15;   // MuJoCo's smallest mass and inertia
constexpr double kTinyMass = 1e-14;  // geoms up to this mass are ignored, as in MuJoCo

bool takes_geoms(const Spec& spec, const BodySpec& body) {
  const Switch from_geoms = spec.compiler_of(body).inertiafromgeom;
  return from_geoms == Switch::yes || (from_geoms == Switch::automatic && !body.inertial);
}

MassProperties mass_of(const GeomSpec& g) {
  if (g.type == GeomType::mesh) {  // a mesh that was not read has no mass, or was refused
    const double mass = g.mass.value_or(g.density * g.mesh_volume);
    return {mass, Vec3::Zero(), (mass * g.mesh_moments).asDiagonal()};
  }
  return primitive_mass(g.type, g.size, g.mass, g.density, g.shell);
}

// `b`: the result if there is no mass.
BodyInertia from_geoms(const std::vector<const GeomSpec*>& geoms, BodyInertia b) {
  std::vector<MassProperties> parts;
  const GeomSpec* heavy = nullptr;
  for (const GeomSpec* g : geoms) {
    const MassProperties part = mass_of(*g);
    if (!(part.mass > kTinyMass)) continue;
    heavy = g;
    parts.push_back(placed(part, g->pos, g->quat));
  }
  if (parts.empty()) return b;
  if (parts.size() == 1) {
    // one geom: its own axes, unchanged
    const MassProperties part = mass_of(*heavy);
    b.mass = part.mass;
    b.moments = part.inertia.diagonal();
    b.pos = heavy->pos + heavy->quat * part.com;
    b.quat = heavy->quat;
    return b;
  }
  const MassProperties whole = sum(parts);
  const Principal p = principal_axes(whole.inertia);
  b.mass = whole.mass;
  b.pos = whole.com;
  b.moments = p.moments;
  b.quat = p.axes;
  return b;
}

// Returns the bodies that move with a joint, their own or an ancestor's.
std::vector<char> moving(const Spec& spec) {
  std::vector<char> moves(spec.bodies.size());
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) {
    const BodySpec& b = spec.bodies[i];
    moves[i] = !b.joints.empty() || moves[at(b.parent)];
  }
  return moves;
}

const Element& origin(const BodySpec& body) {
  return body.inertial ? *body.inertial->element : *body.element;
}

void correct(const Compiler& c, const BodySpec& body, BodyInertia& b) {
  b.mass = std::max(b.mass, c.boundmass);
  b.moments = b.moments.cwiseMax(c.boundinertia);
  if (!std::isfinite(b.mass) || !b.moments.allFinite()) {
    fail(origin(body), "mass or inertia is not finite; check sizes, density and mass");
  }
  if (!(b.moments.minCoeff() > 0)) return;  // a point mass; moving bodies are checked below
  const std::string problem = inertia_problem(b.moments);
  if (problem.empty()) return;
  if (!c.balanceinertia) {
    fail(origin(body), "impossible inertia of body \"" + shown(body.name) + "\": " + problem +
                           "; correct it or set balanceinertia=\"true\"");
  }
  b.moments.setConstant(b.moments.mean());
}

bool has_mass(const BodyInertia& b) {
  return b.mass > kMinimum && b.moments.minCoeff() > kMinimum;
}

// Every moving body needs mass and inertia, its own or those of bodies fixed to it.
void check_moving(const Spec& spec, const std::vector<BodyInertia>& all) {
  std::vector<char> heavy(all.size());
  for (std::size_t i = all.size(); i-- > 1;) {
    const BodySpec& b = spec.bodies[i];
    heavy[i] = static_cast<char>(heavy[i] || has_mass(all[i]));
    if (!b.joints.empty()) {
      if (!heavy[i]) {
        fail(*b.element, "this body moves but has no mass or inertia (mass " + shown(all[i].mass) +
                             "); add a geom with density, or <inertial>");
      }
    } else if (heavy[i]) {
      heavy[at(b.parent)] = 1;
    }
  }
}

}  // namespace

std::vector<const GeomSpec*> weighing_geoms(const Spec& spec, const BodySpec& body) {
  std::vector<const GeomSpec*> out;
  if (!takes_geoms(spec, body)) return out;
  const auto [first, last] = spec.compiler_of(body).inertiagrouprange;
  for (const auto& g : body.geoms) {
    if (g.group >= first && g.group <= last) out.push_back(&g);
  }
  return out;
}

std::vector<BodyInertia> body_inertias(const Spec& spec) {
  std::vector<BodyInertia> all(spec.bodies.size());
  double total = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const BodySpec& body = spec.bodies[i];
    // as in MuJoCo: without mass, the inertial frame is the body's pose
    all[i].pos = body.written_pos, all[i].quat = body.written_quat;
    if (body.inertial) {
      all[i] = {body.inertial->mass, body.inertial->pos, body.inertial->moments,
                body.inertial->quat};
    }
    all[i] = from_geoms(weighing_geoms(spec, body), all[i]);
    correct(spec.compiler_of(body), body, all[i]);
    total += all[i].mass;
  }
  check_moving(spec, all);
  if (spec.compiler.settotalmass > 0 && total > 0) {
    const double scale = spec.compiler.settotalmass / total;
    for (auto& b : all) b.mass *= scale, b.moments *= scale;
  }
  // static bodies enter no equation of motion: terrain of solid density may have any mass
  constexpr Bound kStaticMassBound{1e24, "kg", "mass"};
  constexpr Bound kStaticInertiaBound{1e36, "kg m²", "moment of inertia"};
  const std::vector<char> moves = moving(spec);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Element& e = origin(spec.bodies[i]);
    require_within(e, "", all[i].mass, moves[i] ? kMassBound : kStaticMassBound);
    require_within(e, "", {all[i].moments.data(), 3},
                   moves[i] ? kInertiaBound : kStaticInertiaBound);
  }
  return all;
}

}  // namespace stiction::model

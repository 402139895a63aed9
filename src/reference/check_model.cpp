#include "reference/check_model.h"

#include "reference/actuation/servos.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::reference {
namespace {

std::string actuator_label(const Model& m, int a) {
  const std::string& name = m.actuator_names[at(a)];
  return name.empty() ? "actuator " + std::to_string(a) : "actuator \"" + visible(name) + "\"";
}

}  // namespace

void check_model(const Model& m, const Options& o) {
  if (o.stiction == Stiction::anchored && o.contact_model == ContactModel::sap)
    throw ArgumentError(
        "Options: stiction \"anchored\" extends the lagged and similar models, not sap");
  if (o.friction_iterations > 1 && o.contact_model != ContactModel::lagged)
    throw ArgumentError("Options: friction_iterations = " + std::to_string(o.friction_iterations) +
                        " is for the lagged model, the others bound friction by its own impulse");
  for (int p = 0; p < m.npair && o.contact_model != ContactModel::lagged; ++p) {
    if (m.pair_condim[at(p)] <= 3) continue;
    const auto geom = [&](int g) {
      const std::string& name = m.geom_names[at(g)];
      return name.empty() ? std::to_string(g) : "\"" + visible(name) + "\"";
    };
    throw ArgumentError(
        "contact of geom " + geom(m.pair_geom1[at(p)]) + " and geom " + geom(m.pair_geom2[at(p)]) +
        " has condim " + std::to_string(m.pair_condim[at(p)]) +
        ": torsional and rolling friction are for the lagged model; write condim=\"3\"");
  }

  for (int g = 0; g < m.ngeom && o.contact_model != ContactModel::lagged; ++g)
    for (std::size_t k = 0; k < 6 && !m.geom_surfacevel.empty(); ++k)
      if (m.geom_surfacevel[6 * at(g) + k] != 0)
        throw ArgumentError("geom " + std::to_string(g) +
                            " has surfacevel: surfaces that move are for the lagged model");

  if (o.normal_law != NormalLaw::hunt_crossley && o.contact_model == ContactModel::sap)
    throw ArgumentError(
        "Options: normal_law is for the lagged and similar models; sap has a law of its own");
  if (o.gyroscopic == Gyroscopic::midpoint && o.scheme != Scheme::implicit_euler)
    throw ArgumentError(
        "Options: gyroscopic \"midpoint\" is for scheme \"implicit_euler\"; leave it \"auto\"");
  for (int t = 0; t < m.ntendon && o.scheme != Scheme::implicit_euler; ++t)
    if (has_spring(m, t) || has_damper(m, t) || m.tendon_armature[at(t)] != 0)
      throw ArgumentError("tendon \"" + visible(m.tendon_names[at(t)]) +
                          "\" has a spring, damping or armature, which are computed with scheme "
                          "\"implicit_euler\" only");
  for (int p = 0; p < m.npair && o.stiction == Stiction::anchored; ++p)
    if (m.pair_friction[at(p)] != m.pair_friction2[at(p)])
      throw ArgumentError("pair " + std::to_string(p) +
                          " has anisotropic friction, which stiction \"anchored\" does not hold: "
                          "give it one coefficient, or use stiction \"regularized\"");

  // actuatorfrcrange clamps a sum; the clamp applies to single rows only if one actuator acts alone
  std::vector<int> count(at(m.njnt), 0), servo(at(m.njnt), -1);
  for (int a = 0; a < m.nu; ++a) {
    const auto on_joint = [&](int j, bool through_tendon) {
      ++count[at(j)];
      if (through_tendon) ++count[at(j)];
      if (may_be_servo(m, a)) servo[at(j)] = a;
    };
    const int id = m.actuator_trnid[at(a)];
    if (m.actuator_trntype[at(a)] == Transmission::joint) {
      on_joint(id, false);
    } else if (is_on_site(m.actuator_trntype[at(a)])) {
      for (const int site : {id, m.actuator_refid[at(a)]})
        for (int b = site < 0 ? 0 : m.site_bodyid[at(site)]; b > 0; b = m.body_parentid[at(b)])
          for (int k = 0; k < m.body_jntnum[at(b)]; ++k) on_joint(m.body_jntadr[at(b)] + k, true);
    } else if (m.actuator_trntype[at(a)] == Transmission::tendon) {
      for (int w = m.tendon_adr[at(id)]; w < m.tendon_adr[at(id)] + m.tendon_num[at(id)]; ++w)
        if (m.wrap_type[at(w)] == WrapType::joint) on_joint(m.wrap_objid[at(w)], true);
    }
  }
  for (int j = 0; j < m.njnt; ++j)
    if (m.jnt_actfrclimited[at(j)] != 0 && count[at(j)] > 1 && servo[at(j)] >= 0)
      throw ArgumentError("joint \"" + visible(m.jnt_names[at(j)]) +
                          "\" has actuatorfrcrange and " + actuator_label(m, servo[at(j)]) +
                          " is a servo that does not act on it alone: give the servo a forcerange "
                          "instead");
}

}  // namespace stiction::reference

#include "model/spec/contact_material.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "math.h"
#include "model/xml/bounds.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::model {
namespace {

bool compliant(const Model& m, int g) {
  return m.geom_native[at(g)] != 0 && m.geom_stiffness[at(g)] < kRigid;
}

SolverParams geom_params(const Model& m, int g) {
  SolverParams params;
  std::copy_n(&m.geom_solref[2 * at(g)], 2, params.solref.begin());
  std::copy_n(&m.geom_solimp[5 * at(g)], 5, params.solimp.begin());
  return params;
}

// Returns the weight of the first geom in the average; one half if neither has a solmix.
double mix_share(double mix1, double mix2) {
  return mix1 + mix2 > 0 ? mix1 / (mix1 + mix2) : 0.5;
}

}  // namespace

CombinedGeoms combine_geoms(const Model& m, int g1, int g2) {
  const int priority1 = m.geom_priority[at(g1)], priority2 = m.geom_priority[at(g2)];
  const auto friction = [&m](int g, std::size_t kind) { return m.geom_friction[3 * at(g) + kind]; };
  if (priority1 != priority2) {
    const int g = priority1 > priority2 ? g1 : g2;
    return {m.geom_condim[at(g)], friction(g, 0), friction(g, 1), friction(g, 2),
            geom_params(m, g)};
  }

  const SolverParams a = geom_params(m, g1), b = geom_params(m, g2);
  const double share = mix_share(m.geom_solmix[at(g1)], m.geom_solmix[at(g2)]);
  const bool direct = a.solref[0] <= 0 || b.solref[0] <= 0;
  SolverParams mixed;
  for (std::size_t i = 0; i < 2; ++i)
    mixed.solref[i] = direct ? std::min(a.solref[i], b.solref[i])
                             : share * a.solref[i] + (1 - share) * b.solref[i];
  for (std::size_t i = 0; i < 5; ++i)
    mixed.solimp[i] = share * a.solimp[i] + (1 - share) * b.solimp[i];
  return {std::max(m.geom_condim[at(g1)], m.geom_condim[at(g2)]),
          std::max(friction(g1, 0), friction(g2, 0)), std::max(friction(g1, 1), friction(g2, 1)),
          std::max(friction(g1, 2), friction(g2, 2)), mixed};
}

bool is_native(const Model& m, int g1, int g2) {
  const auto given = [&m](int g) { return m.geom_native[at(g)] != 0; };
  return (given(g1) && given(g2)) || compliant(m, g1) || compliant(m, g2);
}

std::string set_native_pair(Model& m, int p) {
  const int g1 = m.pair_geom1[at(p)], g2 = m.pair_geom2[at(p)];
  const auto tau = [&m](int g) {
    return m.geom_native[at(g)] != 0 ? m.geom_relaxation_time[at(g)] : 0;
  };
  if (!compliant(m, g1) && !compliant(m, g2))
    return "contact of geom " + geom_label(m, g1) + " and geom " + geom_label(m, g2) +
           ": both are rigid; give one of them a finite stiffness";

  double k = 0, w = 0;
  const double k1 = m.geom_stiffness[at(g1)], k2 = m.geom_stiffness[at(g2)];
  if (!compliant(m, g1)) {
    k = k2, w = 0;  // the point is on the rigid geom 1
  } else if (!compliant(m, g2)) {
    k = k1, w = 1;
  } else {
    w = 1 / (1 + k1 / k2);  // does not overflow, whatever the stiffnesses
    k = w * k1;
  }
  const double d1 = compliant(m, g1) ? m.geom_dissipation[at(g1)] : 0;
  const double d2 = compliant(m, g2) ? m.geom_dissipation[at(g2)] : 0;
  m.pair_stiffness[at(p)] = k;
  m.pair_weight[at(p)] = w;
  m.pair_dissipation[at(p)] = w * d1 + (1 - w) * d2;
  const double e1 = compliant(m, g1) ? m.geom_restitution[at(g1)] : 0;
  const double e2 = compliant(m, g2) ? m.geom_restitution[at(g2)] : 0;
  m.pair_restitution[at(p)] = w * e1 + (1 - w) * e2;
  m.pair_relaxation_time[at(p)] = tau(g1) + tau(g2);
  return "";
}

void count_rebounds(Model& m) {
  const bool any = std::any_of(m.pair_restitution.begin(), m.pair_restitution.end(),
                               [](double e) { return e > 0; });
  m.nrebound = any ? m.nslot : 0;
}

const char* type_name(GeomType type) {
  constexpr const char* kNames[kGeomTypes] = {"plane",     "hfield",   "sphere", "capsule",
                                              "ellipsoid", "cylinder", "box",    "mesh"};
  return kNames[static_cast<int>(type)];
}

std::string geom_label(const Model& m, int g) {
  const std::string& name = m.geom_names[at(g)];
  if (!name.empty()) return "'" + visible(name) + "'";
  const int body = m.geom_bodyid[at(g)];
  return std::to_string(g) + " (" + type_name(m.geom_type[at(g)]) + " of body '" +
         (body == 0 ? "world" : visible(m.body_names[at(body)])) + "')";
}

}  // namespace stiction::model

namespace stiction {
namespace {

void require(bool ok, const char* field, double value, const char* range) {
  if (ok) return;
  std::ostringstream message;
  message << "ContactMaterial." << field << " = " << value << ": must be " << range;
  throw ArgumentError(message.str());
}

void validate(const ContactMaterial& material) {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  const auto not_negative = [](double x) { return std::isfinite(x) && x >= 0; };
  const double k = material.stiffness;
  require(positive(k) && (k <= model::kStiffnessBound.most || k >= model::kRigid), "stiffness", k,
          "in (0, 1e18] N/m, or 1e40 and more: rigid");
  require(
      not_negative(material.dissipation) && material.dissipation <= model::kDissipationBound.most,
      "dissipation", material.dissipation, "in [0, 1e6] s/m");
  if (material.friction)
    require(not_negative(*material.friction) && *material.friction <= model::kFrictionBound.most,
            "friction", *material.friction, "in [0, 1e6]");
  require(
      not_negative(material.relaxation_time) && material.relaxation_time <= model::kTimeBound.most,
      "relaxation_time", material.relaxation_time, "in [0, 1e10] s");
  require(material.restitution >= 0 && material.restitution <= 1, "restitution",
          material.restitution, "in [0, 1]");
}

}  // namespace

ModelPtr with_contact_material(const Model& model, int g, const ContactMaterial& material) {
  validate(material);
  if (g < -1 || g >= model.ngeom)
    throw ArgumentError("geom " + std::to_string(g) + ": must be -1 (all) or in [0, " +
                        std::to_string(model.ngeom) + ")");

  auto copy = std::make_shared<Model>(model);
  for (int i = g < 0 ? 0 : g; i < (g < 0 ? model.ngeom : g + 1); ++i) {
    const auto k = static_cast<std::size_t>(i);
    copy->geom_native[k] = 1;
    copy->geom_stiffness[k] = material.stiffness;
    copy->geom_dissipation[k] = material.dissipation;
    copy->geom_relaxation_time[k] = material.relaxation_time;
    copy->geom_restitution[k] = material.restitution;
    if (material.friction) copy->geom_friction[3 * k] = *material.friction;
  }

  for (int p = 0; p < copy->npair; ++p) {
    const auto k = static_cast<std::size_t>(p);
    const int g1 = copy->pair_geom1[k], g2 = copy->pair_geom2[k];
    if (g >= 0 && g1 != g && g2 != g) continue;
    // a native pair must stay native: its values from solref are not known here
    if (model::is_native(*copy, g1, g2) || model::is_native(model, g1, g2)) {
      const std::string problem = model::set_native_pair(*copy, p);
      if (!problem.empty()) throw ArgumentError(problem);
      std::erase_if(copy->mapped_pairs, [p](const MappedPair& mapped) { return mapped.pair == p; });
    }
    if (copy->pair_explicit[k] == 0 && copy->pair_condim[k] != 1)
      copy->pair_friction[k] = copy->pair_friction2[k] =
          model::combine_geoms(*copy, g1, g2).friction;
  }
  model::count_rebounds(*copy);
  return copy;
}

}  // namespace stiction

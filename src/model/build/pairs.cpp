#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <locale>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "math.h"
#include "model/spec/contact_material.h"
#include "model/spec/derive.h"
#include "model/spec/equalities.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::model {
namespace {

struct Candidate {
  int geom1, geom2;      // lower type first; equal types: lower id first
  const PairSpec* spec;  // null: found by the filters
};

Candidate ordered(const Model& m, int g1, int g2, const PairSpec* spec) {
  const auto key = [&m](int g) { return std::pair(m.geom_type[at(g)], g); };
  return key(g1) < key(g2) ? Candidate{g1, g2, spec} : Candidate{g2, g1, spec};
}

// Bodies without joints between them: they cannot touch each other.
struct WeldGroup {
  int weld;                          // the topmost body of the group
  int parent;                        // the group that it is attached to
  bool moves;                        // has dofs
  int contype = 0, conaffinity = 0;  // union over its geoms
  std::vector<int> geoms;            // those that may collide
};

std::vector<WeldGroup> weld_groups(const Model& m) {
  std::vector<int> group_of(at(m.nbody), -1);
  std::vector<WeldGroup> groups;
  for (int g = 0; g < m.ngeom; ++g) {
    const int contype = m.geom_contype[at(g)], conaffinity = m.geom_conaffinity[at(g)];
    if (contype == 0 && conaffinity == 0) continue;
    const int weld = m.body_weldid[at(m.geom_bodyid[at(g)])];
    int& group = group_of[at(weld)];
    if (group < 0) {
      group = static_cast<int>(groups.size());
      const int parent = m.body_weldid[at(m.body_parentid[at(weld)])];
      groups.push_back({weld, parent, m.body_dofnum[at(weld)] > 0, 0, 0, {}});
    }
    groups[at(group)].contype |= contype;
    groups[at(group)].conaffinity |= conaffinity;
    groups[at(group)].geoms.push_back(g);
  }
  return groups;
}

bool can_touch(const WeldGroup& a, const WeldGroup& b, bool filter_parent) {
  if (!a.moves && !b.moves) return false;
  if (filter_parent && a.weld != 0 && b.weld != 0 && (a.weld == b.parent || b.weld == a.parent))
    return false;
  return (a.contype & b.conaffinity) != 0 || (b.contype & a.conaffinity) != 0;
}

constexpr std::size_t kMaxPairs = 500'000;  // far above any robot; bounds time and memory

std::vector<Candidate> filtered(const Model& m, const ContactSettings& settings) {
  std::set<std::pair<int, int>> excluded, explicit_pairs;
  for (const auto& [b1, b2] : settings.excludes) excluded.insert(std::minmax(b1, b2));
  for (const PairSpec& pair : settings.pairs)
    explicit_pairs.insert(std::minmax(pair.geom1, pair.geom2));

  const auto wanted = [&](int g1, int g2) {
    const bool compatible = (m.geom_contype[at(g1)] & m.geom_conaffinity[at(g2)]) != 0 ||
                            (m.geom_contype[at(g2)] & m.geom_conaffinity[at(g1)]) != 0;
    if (!compatible) return false;
    const int b1 = m.geom_bodyid[at(g1)], b2 = m.geom_bodyid[at(g2)];
    if (!excluded.empty() && excluded.contains(std::minmax(b1, b2))) return false;
    return explicit_pairs.empty() || !explicit_pairs.contains(std::minmax(g1, g2));
  };

  std::vector<Candidate> found;
  const auto add = [&](int g1, int g2) {
    if (found.size() == kMaxPairs)
      throw ModelError(visible(m.file) + ": more than " + std::to_string(kMaxPairs) +
                       " candidate geom pairs: let fewer geoms collide (contype, conaffinity, "
                       "<exclude>)");
    found.push_back(ordered(m, g1, g2, nullptr));
  };
  const std::vector<WeldGroup> groups = weld_groups(m);
  for (std::size_t a = 0; a < groups.size(); ++a)
    for (std::size_t b = a + 1; b < groups.size(); ++b) {
      if (!can_touch(groups[a], groups[b], settings.filter_parent)) continue;
      for (const int g1 : groups[a].geoms)
        for (const int g2 : groups[b].geoms)
          if (wanted(g1, g2)) add(g1, g2);
    }
  return found;
}

// Appends the explicit pairs; those without relative motion only get a line in the report.
void append_explicit(const Model& m, const ContactSettings& settings, LoadReport& report,
                     std::vector<Candidate>& candidates) {
  for (const PairSpec& spec : settings.pairs) {
    const std::string names = geom_label(m, spec.geom1) + ", " + geom_label(m, spec.geom2);
    if (spec.geom1 == spec.geom2)
      throw ModelError(visible(m.file) + ": <pair> of geom " + geom_label(m, spec.geom1) +
                       " with itself: name two different geoms");
    const int weld1 = m.body_weldid[at(m.geom_bodyid[at(spec.geom1)])];
    const int weld2 = m.body_weldid[at(m.geom_bodyid[at(spec.geom2)])];
    const bool moves = m.body_dofnum[at(weld1)] > 0 || m.body_dofnum[at(weld2)] > 0;
    if (weld1 != weld2 && moves) {
      candidates.push_back(ordered(m, spec.geom1, spec.geom2, &spec));
      continue;
    }
    ReportEntry entry;
    entry.use = Use::ignored;
    entry.file = m.file;
    entry.element = "pair";
    entry.value = names;
    entry.note = "the two geoms can't move against each other: no contact force could act";
    report.entries.push_back(std::move(entry));
  }
}

// Returns the weight of the lighter of the two moving trees: the load that the pair is mapped for.
double resting_weight(const Model& m, int g1, int g2) {
  const auto tree_mass = [&m](int g) {
    int top = 0;  // highest ancestor with dofs
    for (int b = m.geom_bodyid[at(g)]; b > 0; b = m.body_parentid[at(b)])
      if (m.body_dofnum[at(b)] > 0) top = b;
    return top > 0 ? m.body_subtreemass[at(top)] : std::numeric_limits<double>::infinity();
  };
  constexpr double kEarth = 9.81;  // without gravity: the depth that the pair would have on earth
  const double g = Vec3(m.gravity[0], m.gravity[1], m.gravity[2]).norm();
  return (g > 0 ? g : kEarth) * std::min(tree_mass(g1), tree_mass(g2));
}

// Returns 20 s/m in the model's units, which are inferred from gravity: no robot works where it exceeds 50 m/s², so
// such a model measures lengths in cm or mm. The product of d and a speed equals that of the same model in metres.
double unit_dissipation(const Model& m) {
  constexpr double kEarth = 9.81, kMostGravity = 50;  // m/s²
  const double g = Vec3(m.gravity[0], m.gravity[1], m.gravity[2]).norm();
  return g > kMostGravity ? kEarth / g : 1;
}

// Sets the contact law of the pair from solref and solimp, with MuJoCo's depth at rest.
void set_mapped_pair(Model& m, const MappedPair& mapped) {
  const int p = mapped.pair;
  const int g1 = m.pair_geom1[at(p)], g2 = m.pair_geom2[at(p)];
  const double inverse_mass = m.body_invweight0[2 * at(m.geom_bodyid[at(g1)])] +
                              m.body_invweight0[2 * at(m.geom_bodyid[at(g2)])];
  constexpr double kLeastInverse = 1e-15;  // 1/kg, as in MuJoCo: for an immovable centre of mass
  MappingContext context;
  context.effective_mass = 1 / std::max(inverse_mass, kLeastInverse);
  context.cone_factor = mapped.cone_factor;
  context.weight = resting_weight(m, g1, g2);
  context.timeconst_min = m.refsafe ? 2 * m.timestep : 0;
  const MappedContact contact = map_contact({mapped.solref, mapped.solimp}, context);
  if (!(contact.stiffness > 0))
    throw ModelError(visible(m.file) + ": contact of geom " + geom_label(m, g1) + " and geom " +
                     geom_label(m, g2) +
                     ": solref gives no stiffness; its first number must not be 0");
  m.pair_stiffness[at(p)] = contact.stiffness;
  m.pair_dissipation[at(p)] = unit_dissipation(m) * contact.dissipation;
  m.pair_restitution[at(p)] = contact.restitution;
  m.pair_relaxation_time[at(p)] = m.timestep;
  m.pair_weight[at(p)] = 0.5;
}

void append_pair(Model& m, const Candidate& c, const ContactSettings& settings) {
  CombinedGeoms combined = combine_geoms(m, c.geom1, c.geom2);
  double margin = m.geom_margin[at(c.geom1)] + m.geom_margin[at(c.geom2)];
  double friction2 = combined.friction;
  if (c.spec != nullptr) {
    const SolverParams defaults;
    combined.condim = c.spec->condim.value_or(3);
    combined.friction = c.spec->friction.value_or(1);
    friction2 = c.spec->friction2.value_or(combined.friction);
    combined.torsion = c.spec->torsion.value_or(0.005);
    combined.rolling = c.spec->rolling.value_or(0.0001);
    combined.params = {c.spec->solref.value_or(defaults.solref),
                       c.spec->solimp.value_or(defaults.solimp)};
    margin = c.spec->margin.value_or(0);
  }

  const int p = m.npair++;
  const int points = contact_points(m.geom_type[at(c.geom1)], m.geom_type[at(c.geom2)]);
  m.pair_geom1.push_back(c.geom1);
  m.pair_geom2.push_back(c.geom2);
  m.pair_explicit.push_back(c.spec != nullptr ? 1 : 0);
  m.pair_condim.push_back(combined.condim);
  m.pair_friction.push_back(combined.condim == 1 ? 0 : combined.friction);
  m.pair_friction2.push_back(combined.condim == 1 ? 0 : friction2);
  m.pair_torsion.push_back(combined.condim < 4 ? 0 : combined.torsion);
  m.pair_rolling.push_back(combined.condim < 6 ? 0 : combined.rolling);
  m.pair_margin.push_back(margin);
  m.pair_slotadr.push_back(m.nslot);
  m.pair_slotnum.push_back(points);
  m.nslot += points;
  for (Reals* field : {&m.pair_stiffness, &m.pair_dissipation, &m.pair_restitution,
                       &m.pair_relaxation_time, &m.pair_weight})
    field->push_back(0);

  if (is_native(m, c.geom1, c.geom2)) {
    const std::string problem = set_native_pair(m, p);
    if (!problem.empty()) throw ModelError(visible(m.file) + ": " + problem);
    return;
  }
  const double cone =
      cone_factor(combined.condim, combined.friction, settings.elliptic, settings.impratio);
  m.mapped_pairs.push_back({p, combined.params.solref, combined.params.solimp, cone});
  set_mapped_pair(m, m.mapped_pairs.back());
}

void clear_pairs(Model& m) {
  m.npair = m.nslot = m.nanchor = m.nrebound = 0;
  m.mapped_pairs.clear();
  for (Ints* field : {&m.pair_geom1, &m.pair_geom2, &m.pair_condim, &m.pair_explicit,
                      &m.pair_slotadr, &m.pair_slotnum})
    field->clear();
  for (Reals* field : {&m.pair_friction, &m.pair_friction2, &m.pair_torsion, &m.pair_rolling,
                       &m.pair_margin, &m.pair_stiffness, &m.pair_dissipation, &m.pair_restitution,
                       &m.pair_relaxation_time, &m.pair_weight})
    field->clear();
}

// Returns false for a missing mesh or height field, for which nothing is computed.
bool has_shape(const Model& m, int g) {
  if (m.geom_type[at(g)] == GeomType::hfield) {
    const int field = m.geom_dataid[at(g)];
    return field >= 0 && m.hfield_nrow[at(field)] > 0;
  }
  if (m.geom_type[at(g)] != GeomType::mesh) return true;
  const int mesh = m.geom_dataid[at(g)];
  return mesh >= 0 && m.mesh_vertnum[at(mesh)] > 0;
}

// MuJoCo computes no contacts between these either.
bool never_collides(GeomType a, GeomType b) {
  return a <= GeomType::hfield && b <= GeomType::hfield;
}

// Returns the radius of the largest moving geom that touches by solref and solimp.
double largest_mapped(const Model& m) {
  double radius = 0;
  for (int p = 0; p < m.npair; ++p) {
    if (is_native(m, m.pair_geom1[at(p)], m.pair_geom2[at(p)])) continue;
    for (const int g : {m.pair_geom1[at(p)], m.pair_geom2[at(p)]})
      if (m.body_dofnum[at(m.body_weldid[at(m.geom_bodyid[at(g)])])] > 0)
        radius = std::max(radius, m.geom_rbound[at(g)]);
  }
  return radius;
}

// Reports the mapping, for users who rely on solref and solimp.
void report_mapping(const Model& m, LoadReport& report) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  double slowest = 1, fastest = 0;
  int count = 0, bouncing = 0;
  for (int p = 0; p < m.npair; ++p) {
    if (is_native(m, m.pair_geom1[at(p)], m.pair_geom2[at(p)])) continue;
    least = std::min(least, m.pair_stiffness[at(p)]);
    most = std::max(most, m.pair_stiffness[at(p)]);
    ++count;
    const double e = m.pair_restitution[at(p)];
    if (!(e > 0)) continue;
    slowest = std::min(slowest, e), fastest = std::max(fastest, e);
    ++bouncing;
  }
  if (count == 0) return;
  std::ostringstream note;
  note.imbue(std::locale::classic());
  note.precision(3);
  note << "stiffness of " << count << (count == 1 ? " geom pair" : " geom pairs")
       << " from solref and solimp: " << least;
  if (most > least) note << " to " << most;
  note << " N/m, at rest as deep as in MuJoCo";
  if (bouncing > 0) {
    note << "; restitution of " << bouncing << ", whose damping ratio is below 1: " << slowest;
    if (fastest > slowest) note << " to " << fastest;
  }
  // without gravity only sizes hint at the unit of length: few robots have a part of 10 m
  constexpr double kLargest = 5;
  const double radius = largest_mapped(m);
  if (Vec3(m.gravity[0], m.gravity[1], m.gravity[2]).isZero(0) && radius > kLargest)
    note << "; dissipation of 20 s per unit of length, and a geom that moves is " << 2 * radius
         << " wide: if that is cm or mm, give gravity, or dissipation=0.2 or 0.02 by "
            "with_contact_material, for contacts to leave an overlap";
  report.entries.push_back({Use::mapped, false, m.file, 0, "contact", "", "", note.str()});
}

}  // namespace

void build_pairs(Model& m, const ContactSettings& settings, LoadReport& report) {
  std::vector<Candidate> candidates = filtered(m, settings);
  append_explicit(m, settings, report, candidates);
  std::stable_sort(candidates.begin(), candidates.end(), [&m](const auto& x, const auto& y) {
    const auto key = [&m](const Candidate& c) {
      const auto [b1, b2] = std::minmax(m.geom_bodyid[at(c.geom1)], m.geom_bodyid[at(c.geom2)]);
      const auto [g1, g2] = std::minmax(c.geom1, c.geom2);
      return std::tuple<int, int, int, int>(b1, b2, g1, g2);
    };
    return key(x) < key(y);
  });

  clear_pairs(m);
  m.refsafe = settings.refsafe;
  for (const Candidate& c : candidates) {
    const GeomType type1 = m.geom_type[at(c.geom1)], type2 = m.geom_type[at(c.geom2)];
    if (contact_points(type1, type2) > 0 && has_shape(m, c.geom1) && has_shape(m, c.geom2))
      append_pair(m, c, settings);
    else if (!never_collides(type1, type2))
      report.pairs_without_collider.push_back({c.geom1, c.geom2, geom_label(m, c.geom1),
                                               geom_label(m, c.geom2), type_name(type1),
                                               type_name(type2)});
  }
  const auto turns = [](int condim) { return condim > 3; };
  m.nanchor =
      std::any_of(m.pair_condim.begin(), m.pair_condim.end(), turns) ? 2 * m.nslot : m.nslot;
  count_rebounds(m);
  report_mapping(m, report);
}

}  // namespace stiction::model

namespace stiction {

ModelPtr with_timestep(const ModelPtr& model, double timestep) {
  if (!(std::isfinite(timestep) && timestep > 0)) {
    std::ostringstream message;
    message << "timestep = " << timestep << ": must be finite and > 0 (s)";
    throw ArgumentError(message.str());
  }
  if (timestep == model->timestep) return model;
  auto copy = std::make_shared<Model>(*model);
  copy->timestep = timestep;
  for (const MappedPair& pair : copy->mapped_pairs) model::set_mapped_pair(*copy, pair);
  for (int i = 0; i < copy->neq; ++i) model::map_equality(*copy, i);
  return copy;
}

}  // namespace stiction

// The last check at loading: everything that follows from the file must be finite in single precision.
#include <cmath>
#include <limits>

#include "math.h"
#include "model/spec/contact_material.h"
#include "model/spec/derive.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

enum class Owner { body, joint, dof, geom, pair, actuator, other };

struct Field {
  const char* name;
  Reals Model::*values;
  Owner owner;
  int columns;
};

constexpr Field kFields[] = {
    {"body_pos", &Model::body_pos, Owner::body, 3},
    {"body_mass", &Model::body_mass, Owner::body, 1},
    {"body_ipos", &Model::body_ipos, Owner::body, 3},
    {"body_inertia", &Model::body_inertia, Owner::body, 3},
    {"body_subtreemass", &Model::body_subtreemass, Owner::body, 1},
    {"body_invweight0", &Model::body_invweight0, Owner::body, 2},
    {"jnt_stiffness", &Model::jnt_stiffness, Owner::joint, 1},
    {"jnt_stiffnesspoly", &Model::jnt_stiffnesspoly, Owner::joint, 2},
    {"dof_damping", &Model::dof_damping, Owner::dof, 1},
    {"dof_dampingpoly", &Model::dof_dampingpoly, Owner::dof, 2},
    {"dof_invweight0", &Model::dof_invweight0, Owner::dof, 1},
    {"geom_pos", &Model::geom_pos, Owner::geom, 3},
    {"geom_rbound", &Model::geom_rbound, Owner::geom, 1},
    {"actuator_gain", &Model::actuator_gain, Owner::actuator, 3},
    {"actuator_bias", &Model::actuator_bias, Owner::actuator, 3},
    {"actuator_ctrlrange", &Model::actuator_ctrlrange, Owner::actuator, 2},
    {"pair_friction", &Model::pair_friction, Owner::pair, 1},
    {"pair_friction2", &Model::pair_friction2, Owner::pair, 1},
    {"pair_torsion", &Model::pair_torsion, Owner::pair, 1},
    {"pair_rolling", &Model::pair_rolling, Owner::pair, 1},
    {"pair_margin", &Model::pair_margin, Owner::pair, 1},
    {"pair_stiffness", &Model::pair_stiffness, Owner::pair, 1},
    {"pair_dissipation", &Model::pair_dissipation, Owner::pair, 1},
    {"pair_relaxation_time", &Model::pair_relaxation_time, Owner::pair, 1},
    {"eq_data", &Model::eq_data, Owner::other, 1},
    {"key_qpos", &Model::key_qpos, Owner::other, 1},
    {"qpos0", &Model::qpos0, Owner::other, 1},
};

std::string label(const Model& m, Owner owner, int i) {
  const auto quoted = [i](const Names& names) {
    return std::to_string(i) + " '" + names[at(i)] + "'";
  };
  switch (owner) {
    case Owner::body: return "body " + quoted(m.body_names);
    case Owner::joint: return "joint " + quoted(m.jnt_names);
    case Owner::dof: return label(m, Owner::joint, m.dof_jntid[at(i)]);
    case Owner::geom: return "geom " + geom_label(m, i);
    case Owner::actuator: return "actuator " + quoted(m.actuator_names);
    case Owner::pair:
      return "contact of geom " + geom_label(m, m.pair_geom1[at(i)]) + " and geom " +
             geom_label(m, m.pair_geom2[at(i)]);
    case Owner::other: break;
  }
  return "entry " + std::to_string(i);
}

}  // namespace

void check_single_precision(const Model& m) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<float>::max());
  for (const Field& f : kFields) {
    const Reals& values = m.*f.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) <= kMost) continue;
      throw ModelError(m.file + ": " + f.name + " of " +
                       label(m, f.owner, static_cast<int>(i) / f.columns) + " comes out as " +
                       std::to_string(values[i]) +
                       ", beyond single precision: the masses, inertias and lengths of its tree of "
                       "bodies differ by too many orders of magnitude");
    }
  }
}

}  // namespace stiction::model

// Elements that refer to the tree by name: keyframes, materials, contacts; and derived quantities.
#include "model/build/build.h"

#include <cmath>

#include "model/build/meshes.h"
#include "model/spec/key_numbers.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

// springdamper: stiffness and damping of the oscillator formed by the joint at qpos0.
void resolve_springdampers(const Spec& spec, Model& m) {
  std::size_t id = 0;
  for (const auto& b : spec.bodies) {
    for (const auto& j : b.joints) {
      const std::size_t i = id++;
      if (!(j.springdamper[0] > 0)) continue;
      const auto adr = at(m.jnt_dofadr[i]);
      const auto n = static_cast<std::size_t>(dof_count(j.type));
      double inverse = 0;
      for (std::size_t k = 0; k < n; ++k) inverse += m.dof_invweight0[adr + k];
      const double inertia = static_cast<double>(n) / std::max(1e-15, inverse);
      const auto [time, ratio] = j.springdamper;
      if (spec.flags.spring) {
        m.jnt_stiffness[i] = inertia / (time * time * ratio * ratio);
        require_within(*j.element, "springdamper", m.jnt_stiffness[i], kStiffnessBound);
      }
      for (std::size_t k = 0; k < n && spec.flags.damper; ++k) {
        m.dof_damping[adr + k] = 2 * inertia / time;
        require_within(*j.element, "springdamper", m.dof_damping[adr + k], kDampingBound);
      }
    }
  }
}

void require_count(const Element& e, const char* attribute, const std::vector<double>& given,
                   std::size_t most) {
  if (given.size() <= most) return;
  fail(e, attribute,
       "expected at most " + std::to_string(most) + " numbers, found " +
           std::to_string(given.size()));
}

// Fills a vector that is shorter than the model's, and entries that are NaN, with the model's own values.
void fill(Element& e, const char* attribute, const Bound& bound, std::vector<double> given,
          const Reals& otherwise, Reals& to) {
  require_count(e, attribute, given, otherwise.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (std::isnan(given[i])) given[i] = otherwise[i];
  require_within(e, attribute, given, bound);
  const auto n = static_cast<std::ptrdiff_t>(given.size());
  to.insert(to.end(), given.begin(), given.end());
  to.insert(to.end(), otherwise.begin() + n, otherwise.end());
  if (!given.empty() && given.size() < otherwise.size()) {
    mark(e, attribute, Use::mapped, false,
         std::to_string(given.size()) + " of " + std::to_string(otherwise.size()) +
             " numbers: the others are those of the reference pose, or 0");
  }
}

// Normalizes the quaternion from `adr` on, as MuJoCo does; one of length zero becomes the identity.
void normalize(Element& e, const char* attribute, const std::string& whose, std::size_t adr,
               Reals& all) {
  const std::span<double> row = std::span(all).subspan(adr);
  const Quat q = row4(row, 0);
  const double n = q.norm();
  if (!(n > 1e-14)) {
    set_row4(row, 0, Quat::Identity());
    mark(e, attribute, Use::mapped, false,
         "the quaternion of " + whose + " has length zero: taken as identity, 1 0 0 0");
  } else if (std::abs(n - 1) > 1e-14) {
    set_row4(row, 0, Quat(q.coeffs() / n));
  }
}

void add_keyframes(const Spec& spec, Model& m) {
  const std::size_t numbers = spec.keys.size() * at(m.nq + m.nv + m.nu + m.na + 7 * m.nmocap);
  if (!spec.keys.empty()) check_key_numbers(*spec.keys.back().element, numbers);
  Reals mocap_pos, mocap_quat;
  for (int b = 0; b < m.nbody; ++b) {
    if (m.body_mocapid[at(b)] < 0) continue;
    mocap_pos.insert(mocap_pos.end(), &m.body_pos[at(3 * b)], &m.body_pos[at(3 * b)] + 3);
    mocap_quat.insert(mocap_quat.end(), &m.body_quat[at(4 * b)], &m.body_quat[at(4 * b)] + 4);
  }
  for (const auto& k : spec.keys) {
    m.key_names.push_back(k.name);
    m.key_time.push_back(k.time);
    const std::size_t start = m.key_qpos.size();
    fill(*k.element, "qpos", kPositionBound, k.qpos, m.qpos0, m.key_qpos);
    fill(*k.element, "qvel", kVelocityBound, k.qvel, Reals(at(m.nv)), m.key_qvel);
    fill(*k.element, "ctrl", kControlBound, k.ctrl, Reals(at(m.nu)), m.key_ctrl);
    fill(*k.element, "act", kControlBound, k.act, Reals(at(m.na)), m.key_act);
    fill(*k.element, "mpos", kLengthBound, k.mpos, mocap_pos, m.key_mpos);
    const std::size_t turned = m.key_mquat.size();
    fill(*k.element, "mquat", kLengthBound, k.mquat, mocap_quat, m.key_mquat);
    for (int i = 0; i < m.nmocap; ++i)
      normalize(*k.element, "mquat", "mocap body " + std::to_string(i), turned + at(4 * i),
                m.key_mquat);
    ++m.nkey;
    for (int j = 0; j < m.njnt; ++j) {
      const auto i = at(j);
      if (m.jnt_type[i] != JointType::free && m.jnt_type[i] != JointType::ball) continue;
      const int turn = m.jnt_qposadr[i] + (m.jnt_type[i] == JointType::free ? 3 : 0);
      normalize(*k.element, "qpos", "joint " + std::to_string(j), start + at(turn), m.key_qpos);
    }
  }
}

void add_materials(const Spec& spec, Model& m) {
  const Index geoms = index_of(m.geom_names);
  const auto set = [&](std::size_t g, const MaterialSpec& s) {
    m.geom_native[g] = 1;
    m.geom_stiffness[g] = s.stiffness;
    m.geom_dissipation[g] = s.dissipation;
    m.geom_restitution[g] = s.restitution;
  };
  for (const auto& s : spec.materials) {
    if (!s.geom.empty()) continue;
    for (std::size_t g = 0; g < m.geom_native.size(); ++g) set(g, s);
  }
  for (const auto& s : spec.materials) {
    if (!s.geom.empty()) set(static_cast<std::size_t>(geoms.at(s.geom)), s);
  }
}

void add_contacts(const Spec& spec, Model& m, LoadReport& report) {
  if (!spec.flags.contact) return;
  const Index geoms = index_of(m.geom_names), bodies = index_of(m.body_names);
  ContactSettings settings = spec.contact;
  for (const auto& [a, b] : spec.excludes)
    settings.excludes.push_back({bodies.at(a), bodies.at(b)});
  for (const auto& p : spec.pairs) {
    PairSpec s = p.spec;
    s.geom1 = geoms.at(p.geom1), s.geom2 = geoms.at(p.geom2);
    settings.pairs.push_back(s);
  }
  build_pairs(m, settings, report);
}

}  // namespace

Index index_of(const Names& names) {
  Index index;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) index.emplace(names[i], static_cast<int>(i));
  }
  return index;
}

namespace {

// Returns which mesh has no shape, and why.
std::string lost(const Spec& spec, const AssetFiles& files, const std::string& mesh) {
  const std::string name = "mesh \"" + shown(mesh) + "\", ";
  for (std::size_t i = 0; i < spec.meshes.size(); ++i) {
    const MeshSpec& m = spec.meshes[i];
    const Element& e = *spec.mesh_sources[i].element;
    if (m.name == mesh && !m.file.empty() && !files.there(e, m.file))
      return name + "whose file is not there: " + files.looked(e, m.file);
  }
  return name + "which only MuJoCo can build";
}

}  // namespace

void mark_unsupported(Spec& spec, const AssetFiles& files) {
  std::vector<char> moves(spec.bodies.size());
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) {
    const BodySpec& b = spec.bodies[i];
    moves[i] = !b.joints.empty() || moves[at(b.parent)];
    for (const GeomSpec* g : weighing_geoms(spec, b)) {
      if (g->type != GeomType::mesh || g->mesh_volume > 0 || g->density == 0 || g->mass == 0)
        continue;
      const bool counts = moves[i] || spec.compiler.settotalmass > 0;
      mark(*g->element, counts ? Use::refused : Use::ignored, counts,
           counts ? "the mass of its body follows from " + lost(spec, files, g->mesh) +
                        "; add <inertial>, or mass=\"0\" on the geom"
                  : std::string("mass of a mesh that can't move"));
    }
  }
}

void build_rest(const Spec& spec, Model& m, LoadReport& report) {
  build_actuators(spec, m);
  add_materials(spec, m);
  derive(m);
  measure_tendons(m);
  resolve_springdampers(spec, m);
  resolve_actuators(spec, m);
  add_keyframes(spec, m);
  build_sensors(spec, m);
  build_equalities(spec, m);
  add_contacts(spec, m, report);
  check_single_precision(m);
}

}  // namespace stiction::model

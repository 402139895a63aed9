// What refers to the tree by name: actuators, keyframes, contacts; and the derived quantities.
#include "model/build.h"

#include <cmath>
#include <map>

#include "model/bounds.h"

namespace stiction::model {
namespace {

using Index = std::map<std::string, int, std::less<>>;

Index index_of(const Names& names) {
  Index index;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) index.emplace(names[i], static_cast<int>(i));
  }
  return index;
}

// inheritrange: the control range is the joint's, scaled about its middle.
Range inherited(const Spec& spec, const Model& m, const ActuatorSpec& a, int id) {
  Range r{};
  if (a.trntype == Transmission::joint) {
    r = {m.jnt_range[at(2 * id)], m.jnt_range[at(2 * id + 1)]};
  } else if (a.trntype == Transmission::tendon) {
    for (const auto& t : spec.tendons) {
      if (t.name == a.target) r = t.range;
    }
  }
  if (!(r[0] < r[1])) {
    fail(*a.element, "inheritrange",
         "its target \"" + shown(a.target) + "\" has no range; add one, or give ctrlrange");
  }
  const double middle = 0.5 * (r[0] + r[1]), half = 0.5 * (r[1] - r[0]) * a.inheritrange;
  return {middle - half, middle + half};
}

// Activation and its dynamics, curves of a muscle. Without actuation nothing moves an activation.
void add_state(const Spec& spec, Model& m, const ActuatorSpec& a, int id) {
  const bool on = spec.flags.actuation;
  Range range = a.actrange;
  bool limited = a.has_state() && a.actlimited == Switch::yes;
  if (a.inherits_actrange()) {
    range = inherited(spec, m, a, id);
    limited = a.actlimited != Switch::no;
  }
  m.actuator_actadr.push_back(a.has_state() ? m.na++ : -1);
  m.actuator_dyntype.push_back(on ? a.dyntype : ActuatorDynamics::none);
  m.actuator_dynprm.insert(m.actuator_dynprm.end(), a.dynprm.begin(), a.dynprm.end());
  m.actuator_actlimited.push_back(on && limited);
  m.actuator_actearly.push_back(a.has_state() && a.actearly);
  m.actuator_actrange.insert(m.actuator_actrange.end(), range.begin(), range.end());
  m.actuator_gainmuscle.push_back(on && a.gaintype == Law::muscle);
  m.actuator_biasmuscle.push_back(on && a.biastype == Law::muscle);
  m.actuator_lengthrange.insert(m.actuator_lengthrange.end(), a.lengthrange.begin(),
                                a.lengthrange.end());
  for (const auto& [law, numbers] :
       {std::pair(a.gaintype, &a.gain), std::pair(a.biastype, &a.bias)})
    for (const double x : *numbers) m.actuator_muscle.push_back(law == Law::muscle ? x : 0);
}

void add_actuators(const Spec& spec, Model& m) {
  const Index joints = index_of(m.jnt_names), tendons = index_of(m.tendon_names),
              sites = index_of(m.site_names), bodies = index_of(m.body_names);
  for (const auto& a : spec.actuators) {
    const bool on_joint =
        a.trntype == Transmission::joint || a.trntype == Transmission::jointinparent;
    const int id = (on_joint                            ? joints
                    : a.trntype == Transmission::tendon ? tendons
                    : a.trntype == Transmission::body   ? bodies
                                                        : sites)
                       .at(a.target);
    // a hinge or slide has no frame
    const bool turns = on_joint && dof_count(m.jnt_type[at(id)]) > 1;
    Range range = a.ctrlrange;
    bool limited = a.ctrllimited == Switch::yes;
    if (a.inherits_ctrlrange()) {
      if (a.has_state() && a.dyntype != ActuatorDynamics::filterexact)
        fail(*a.element, "inheritrange", "is for the targets of <position> and <intvelocity>");
      range = inherited(spec, m, a, id);
      limited = a.ctrllimited != Switch::no;
    }
    m.actuator_names.push_back(a.name);
    m.actuator_trntype.push_back(on_joint && !turns ? Transmission::joint : a.trntype);
    m.actuator_trnid.push_back(id);
    m.actuator_refid.push_back(a.reference.empty() ? -1 : sites.at(a.reference));
    m.actuator_cranklength.push_back(a.trntype == Transmission::slidercrank ? a.cranklength : 0);
    m.actuator_gear.insert(m.actuator_gear.end(), a.gear.begin(), a.gear.end());
    const bool on = spec.flags.actuation;
    for (std::size_t k = 0; k < 3; ++k)
      m.actuator_gain.push_back(
          on && (k == 0 ? a.gaintype != Law::muscle : a.gaintype == Law::affine) ? a.gain[k] : 0);
    for (std::size_t k = 0; k < 3; ++k)
      m.actuator_bias.push_back(on && a.biastype == Law::affine ? a.bias[k] : 0);
    m.actuator_ctrllimited.push_back(limited && spec.flags.clampctrl);
    m.actuator_forcelimited.push_back(a.forcelimited == Switch::yes);
    m.actuator_ctrlrange.insert(m.actuator_ctrlrange.end(), range.begin(), range.end());
    m.actuator_forcerange.insert(m.actuator_forcerange.end(), a.forcerange.begin(),
                                 a.forcerange.end());
    add_state(spec, m, a, id);
    ++m.nu;
  }
}

// A positive bias[2] of a position servo is a damping ratio; it needs the inertia at qpos0.
void resolve_dampratios(const Spec& spec, Model& m) {
  if (!spec.flags.actuation) return;
  for (int i = 0; i < m.nu; ++i) {
    const ActuatorSpec& a = spec.actuators[at(i)];
    double& damping = m.actuator_bias[at(3 * i + 2)];
    if (a.is_position_servo() && damping > 0) {
      const double kp = m.actuator_gain[at(3 * i)];
      if (kp < 0) {
        fail(*a.element, "dampratio",
             "needs kp >= 0, but kp is " + shown(kp) + ": a negative spring does not oscillate");
      }
      damping = -dampratio_to_kv(m, i, m.actuator_gain[at(3 * i)], damping);
    }
  }
}

// springdamper: stiffness and damping of the oscillator that the joint makes at qpos0.
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

// A vector shorter than the model's is completed with the model's own, and so is what is NaN in it.
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

// The quaternion from `adr` on becomes one of length 1, as in MuJoCo; one of length zero the identity.
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

// Without actuators nothing compensates the gravity that they would.
void rest_actuators(const Spec& spec, Model& m) {
  if (m.nu > 0 && spec.flags.actuation) return;
  std::size_t id = 0;
  for (const auto& b : spec.bodies)
    for (const auto& j : b.joints) {
      const std::size_t i = id++;
      if (!j.actgravcomp) continue;
      mark(j.written, "actuatorgravcomp", Use::mapped, false,
           "no actuator is active, so gravity is not compensated here: actuatorfrcrange 0 0");
      m.jnt_actfrclimited[i] = 1;
      m.jnt_actfrcrange[2 * i] = m.jnt_actfrcrange[2 * i + 1] = 0;
    }
}

// Feedback that pulls back for some control.
bool has_feedback(const Model& m, int a) {
  const double *gain = &m.actuator_gain[at(3 * a)], *bias = &m.actuator_bias[at(3 * a)];
  if (m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0) return true;
  return bias[1] < 0 || bias[2] < 0 || gain[1] != 0 || gain[2] != 0;
}

// actuatorfrcrange bounds the sum of the actuator forces on a joint. A servo's force is part of the
// step's convex problem, as a law of its own: where it is not alone, the bound of the sum can't be
// split among the laws.
void refuse_shared_bounds(const Spec& spec, const Model& m) {
  std::vector<int> actuators(at(m.njnt));
  std::vector<const ActuatorSpec*> servo(at(m.njnt), nullptr);
  for (int a = 0; a < m.nu; ++a) {
    const auto act = at(a);
    const bool feedback = has_feedback(m, a);
    const auto acts_on = [&](int j, int times) {
      actuators[at(j)] += times;
      if (feedback) servo[at(j)] = &spec.actuators[act];
    };
    const int id = m.actuator_trnid[act];
    if (m.actuator_trntype[act] == Transmission::joint) {
      acts_on(id, 1);
      continue;
    }
    // the force is shared by several joints
    if (m.actuator_trntype[act] == Transmission::tendon)
      for (const int j : tendon_joints(m, id)) acts_on(j, 2);
    if (is_on_site(m.actuator_trntype[act]))
      for (const int site : {id, m.actuator_refid[act]})
        for (int b = site < 0 ? 0 : m.site_bodyid[at(site)]; b > 0; b = m.body_parentid[at(b)])
          for (int k = 0; k < m.body_jntnum[at(b)]; ++k) acts_on(m.body_jntadr[at(b)] + k, 2);
  }
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_actfrclimited[at(j)] == 0 || actuators[at(j)] < 2 || !servo[at(j)]) continue;
    fail(*servo[at(j)]->element,
         "is a servo that shares joint \"" + m.jnt_names[at(j)] +
             "\" with other actuators or joints, and the joint's actuatorfrcrange bounds their "
             "sum, which is not computed: give the actuators a forcerange instead");
  }
}

// The same of the actuators on one tendon.
void refuse_shared_tendons(const Spec& spec, const Model& m) {
  for (int t = 0; t < m.ntendon; ++t) {
    int actuators = 0;
    const ActuatorSpec* servo = nullptr;
    for (int a = 0; a < m.nu; ++a) {
      if (m.actuator_trntype[at(a)] != Transmission::tendon || m.actuator_trnid[at(a)] != t)
        continue;
      ++actuators;
      if (has_feedback(m, a)) servo = &spec.actuators[at(a)];
    }
    if (m.tendon_actfrclimited[at(t)] != 0 && actuators > 1 && servo)
      fail(*servo->element, "is a servo that shares tendon \"" + shown(m.tendon_names[at(t)]) +
                                "\" with other actuators, and the tendon's actuatorfrcrange bounds "
                                "their sum, which is not computed: give the actuators a forcerange "
                                "instead");
  }
}

// Feedback as the joints see it: kp (gear coef)², kv (gear coef)².
void bound_feedback(const Spec& spec, const Model& m) {
  for (int a = 0; a < m.nu; ++a) {
    double ratio = 0;
    for (int k = 0; k < 6; ++k) ratio = std::max(ratio, std::abs(m.actuator_gear[at(6 * a + k)]));
    if (m.actuator_trntype[at(a)] == Transmission::tendon) {
      const int t = m.actuator_trnid[at(a)];
      double coef = 0;
      for (int w = m.tendon_adr[at(t)]; w < m.tendon_adr[at(t)] + m.tendon_num[at(t)]; ++w)
        coef = std::max(coef, std::abs(m.wrap_coef[at(w)]));
      ratio *= coef;
    }
    const Element& e = *spec.actuators[at(a)].element;
    for (int k = 0; k < 3; ++k) {
      require_within(e, "gear", m.actuator_gain[at(3 * a + k)] * ratio * ratio, kStiffnessBound);
      require_within(e, "gear", m.actuator_bias[at(3 * a + k)] * ratio * ratio, kStiffnessBound);
    }
  }
}

}  // namespace

void mark_unsupported(Spec& spec) {
  std::vector<char> moves(spec.bodies.size());
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) {
    const BodySpec& b = spec.bodies[i];
    moves[i] = !b.joints.empty() || moves[at(b.parent)];
    for (const GeomSpec* g : weighing_geoms(spec, b)) {
      if (g->type != GeomType::mesh || g->mesh_volume > 0 || g->density == 0 || g->mass == 0)
        continue;
      const bool counts = moves[i] || spec.compiler.settotalmass > 0;
      mark(*g->element, counts ? Use::refused : Use::ignored, counts,
           counts
               ? "the mass of its body follows from a mesh that is not there; add <inertial>, or "
                 "mass=\"0\" on the geom"
               : "mass of a mesh that can't move");
    }
  }
}

void check_key_numbers(const Element& key, std::size_t numbers) {
  constexpr std::size_t kMost = 50'000'000;
  if (numbers > kMost)
    fail(key, std::to_string(numbers) + " numbers in the keyframes up to this one; the limit is " +
                  std::to_string(kMost) + ": write fewer keyframes");
}

void build_rest(const Spec& spec, Model& m, LoadReport& report) {
  add_actuators(spec, m);
  rest_actuators(spec, m);
  refuse_shared_bounds(spec, m);
  refuse_shared_tendons(spec, m);
  add_materials(spec, m);
  derive(m);
  measure_tendons(m);
  resolve_springdampers(spec, m);
  resolve_dampratios(spec, m);
  resolve_muscles(spec, m);
  bound_feedback(spec, m);
  add_keyframes(spec, m);
  build_sensors(spec, m);
  build_equalities(spec, m);
  add_contacts(spec, m, report);
  check_single_precision(m);
}

}  // namespace stiction::model

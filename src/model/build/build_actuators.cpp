// Actuators: transmissions, laws and states, and what they add to their joints and tendons.
#include <cmath>

#include "model/build/build.h"
#include "model/xml/bounds.h"

namespace stiction::model {
namespace {

// inheritrange: the control range is that of the joint, scaled about its middle.
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

// Adds the activation and its dynamics, and the curves of a muscle. With actuation disabled activations are constant.
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

// Without actuators there is no gravity compensation by actuators.
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

// Returns whether the feedback is restoring for some control.
bool has_feedback(const Model& m, int a) {
  const double *gain = &m.actuator_gain[at(3 * a)], *bias = &m.actuator_bias[at(3 * a)];
  if (m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0) return true;
  return bias[1] < 0 || bias[2] < 0 || gain[1] != 0 || gain[2] != 0;
}

// actuatorfrcrange bounds the sum of the actuator forces on a joint. The force of a servo is part of the
// step's convex problem, with its own law: unless the servo is alone, the bound of the sum cannot be
// distributed over the laws.
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
    // the force acts on several joints
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

// The same for the actuators on one tendon.
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

// Returns armature or damping of an actuator, as added to its joint or tendon.
double reflected(const ActuatorSpec& a, const char* attribute, double of_actuator,
                 const Bound& bound) {
  const double gear = a.gear[0], x = gear * gear * of_actuator;
  require_within(*a.element, attribute, x, bound);
  return x;
}

bool acts_on_tendon(const ActuatorSpec& a, const char* attribute) {
  if (a.trntype == Transmission::tendon) return true;
  if (a.trntype != Transmission::joint && a.trntype != Transmission::jointinparent)
    fail(*a.element, attribute, "is of actuators on joints and tendons; write it on the joint");
  return false;
}

void add_rotors(const Spec& spec, Model& m) {
  for (int i = 0; i < m.nu; ++i) {
    const ActuatorSpec& a = spec.actuators[at(i)];
    if (a.armature == 0) continue;
    const double armature = reflected(a, "armature", a.armature, kArmatureBound);
    const auto id = at(m.actuator_trnid[at(i)]);
    if (acts_on_tendon(a, "armature")) {
      for (const WrapSpec& w : spec.tendons[id].wraps)
        if (w.type == WrapType::sphere || w.type == WrapType::cylinder)
          fail(*a.element, "armature", "is not defined for a tendon around a geom");
      m.tendon_armature[id] += armature;
      continue;
    }
    for (int k = 0; k < dof_count(m.jnt_type[id]); ++k)
      m.dof_armature[at(m.jnt_dofadr[id] + k)] += armature;
  }
}

void add_dampers(const Spec& spec, Model& m) {
  for (int i = 0; i < m.nu; ++i) {
    const ActuatorSpec& a = spec.actuators[at(i)];
    if (a.damping == 0 && a.dampingpoly == std::array<double, 2>{}) continue;
    const bool on_tendon = acts_on_tendon(a, "damping");
    if (!spec.flags.damper) continue;
    const auto id = at(m.actuator_trnid[at(i)]);
    const std::size_t first = on_tendon ? id : at(m.jnt_dofadr[id]),
                      count = on_tendon ? 1 : at(dof_count(m.jnt_type[id]));
    Reals &damping = on_tendon ? m.tendon_damping : m.dof_damping,
          &poly = on_tendon ? m.tendon_dampingpoly : m.dof_dampingpoly;
    for (std::size_t k = first; k < first + count; ++k) {
      damping[k] += reflected(a, "damping", a.damping, kDampingBound);
      for (std::size_t power = 0; power < 2; ++power)
        poly[2 * k + power] += reflected(a, "damping", a.dampingpoly[power], kDampingBound);
    }
  }
}

// A positive bias[2] of a position servo is a damping ratio; converting it needs the inertia at qpos0.
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

// Bounds the feedback as the joints see it: kp (gear coef)², kv (gear coef)².
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

void build_actuators(const Spec& spec, Model& m) {
  add_actuators(spec, m);
  rest_actuators(spec, m);
  refuse_shared_bounds(spec, m);
  refuse_shared_tendons(spec, m);
  add_rotors(spec, m);
}

void resolve_actuators(const Spec& spec, Model& m) {
  add_dampers(spec, m);
  resolve_dampratios(spec, m);
  resolve_muscles(spec, m);
  bound_feedback(spec, m);
}

}  // namespace stiction::model

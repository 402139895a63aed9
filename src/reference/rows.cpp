// Joint and actuator rows of the convex problem, and the explicit part of actuation.
#include <algorithm>
#include <limits>

#include "reference/step.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNoLimit =
    1e6;  // rad: the distance of a ball joint to its lower limit, which it has not

// Feedback that pulls back is implicit; the rest of the actuator's force is explicit.
ServoGains servo_gains(const Actuation& act) {
  return {std::max<Real>(0, -act.law[1]), std::max<Real>(0, -act.law[2])};
}
bool is_servo(const Actuation& act) {
  return act.law[1] < 0 || act.law[2] < 0;
}
// For some control.
bool may_be_servo(const Model& m, int a) {
  const Vec3 gain = row3(m.actuator_gain, a), bias = row3(m.actuator_bias, a);
  return bias[1] < 0 || bias[2] < 0 || gain[1] != 0 || gain[2] != 0 ||
         m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0;
}

// Bounds of the actuator's own force: forcerange, and actuatorfrcrange of a joint or tendon it drives
// alone, less the gravity that the joint's actuators compensate; that of a tendon bounds the force before the gear.
std::pair<Real, Real> force_bounds(const Model& m, int a, const VecX& lifted) {
  Real lower = -kInf, upper = kInf;
  if (m.actuator_forcelimited[at(a)] != 0) {
    lower = m.actuator_forcerange[at(2 * a)];
    upper = m.actuator_forcerange[at(2 * a + 1)];
  }
  const int j = m.actuator_trnid[at(a)];
  if (m.actuator_trntype[at(a)] == Transmission::tendon && m.tendon_actfrclimited[at(j)] != 0) {
    const Real lo = m.tendon_actfrcrange[at(2 * j)], hi = m.tendon_actfrcrange[at(2 * j + 1)];
    return {std::clamp(lower, lo, hi), std::clamp(upper, lo, hi)};
  }
  const double gear = m.actuator_gear[at(6 * a)];
  if (m.actuator_trntype[at(a)] == Transmission::joint && m.jnt_actfrclimited[at(j)] != 0 &&
      gear != 0) {
    const Real g = lifted[m.jnt_dofadr[at(j)]];
    Real lo = (m.jnt_actfrcrange[at(2 * j)] - g) / gear;
    Real hi = (m.jnt_actfrcrange[at(2 * j + 1)] - g) / gear;
    if (lo > hi) std::swap(lo, hi);
    lower = std::clamp(lower, lo, hi);
    upper = std::clamp(upper, lo, hi);
  }
  return {lower, upper};
}

std::string actuator_label(const Model& m, int a) {
  const std::string& name = m.actuator_names[at(a)];
  return name.empty() ? "actuator " + std::to_string(a) : "actuator \"" + visible(name) + "\"";
}

}  // namespace

std::vector<std::pair<int, ServoLaw>> servo_laws(const Model& m, double dt, const StepInputs& in,
                                                 const DelassusScale& delassus,
                                                 const Kinematics& kin,
                                                 const std::vector<Tendon>& tendons) {
  std::vector<std::pair<int, ServoLaw>> laws;
  const std::vector<Actuation> all = actuation(m, kin, tendons, in.qpos, in.qvel, in.ctrl, in.act);
  const VecX lifted = actuator_gravity(m, kin);
  for (int a = 0; a < m.nu; ++a) {
    const Actuation& act = all[at(a)];
    if (!is_servo(act) || act.moment.isZero(0)) continue;
    const ServoGains nominal = servo_gains(act);
    const ServoGains gains = near_rigid_gains(nominal, dt, delassus(act.moment.transpose()));

    // ũ(v) = −Kp (l0 + δt v − l_d) − Kd (v − v_d); softened gains keep the set points
    const Real soft = (gains.kp + gains.kd) / (nominal.kp + nominal.kd);
    const Real explicit_part =
        std::max<Real>(0, act.law[1]) * act.length + std::max<Real>(0, act.law[2]) * act.velocity;
    const auto [lower, upper] = force_bounds(m, a, lifted);
    const Real force0 = soft * act.law[0] + explicit_part - gains.kp * act.length;
    laws.push_back({a, ServoLaw{dt, force0, dt * gains.kp + gains.kd, lower, upper}});
  }
  return laws;
}

VecX explicit_actuation(const Model& m, const Kinematics& kin, const std::vector<Tendon>& tendons,
                        std::span<const Real> qpos, std::span<const Real> qvel,
                        std::span<const Real> ctrl, std::span<const double> act) {
  const std::vector<Actuation> all = actuation(m, kin, tendons, qpos, qvel, ctrl, act);
  VecX f = VecX::Zero(m.nv), force = VecX::Zero(m.nu);
  for (int a = 0; a < m.nu; ++a)
    if (!is_servo(all[at(a)])) force[a] = actuator_force(m, a, all[at(a)]);
  clamp_tendon_actuation(m, force);
  for (int a = 0; a < m.nu; ++a) f += force[a] * all[at(a)].moment;
  // compensated gravity acts on the bodies; what the range takes of it is taken here, and by the bounds of a servo
  const VecX lifted = actuator_gravity(m, kin);
  VecX clamped = f + lifted;
  clamp_joint_actuation(m, clamped);
  for (int i = 0; i < m.nv; ++i) {
    const int j = m.dof_jntid[at(i)];
    bool servo = false;
    for (int a = 0; a < m.nu; ++a)
      servo |= is_servo(all[at(a)]) && m.actuator_trntype[at(a)] == Transmission::joint &&
               m.actuator_trnid[at(a)] == j;
    if (m.jnt_actfrclimited[at(j)] != 0 && !servo) f[i] = clamped[i] - lifted[i];
  }
  return f;
}

std::vector<RowConstraint> force_rows(const Model& m, double dt, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons) {
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  std::vector<RowConstraint> rows =
      tendon_forces(m, dt, tendons, tendon_bias(m, kin, motion(m, kin, in.qvel)), v0);
  const std::vector<Actuation> actuators =
      actuation(m, kin, tendons, in.qpos, in.qvel, in.ctrl, in.act);
  for (const auto& [a, law] : servo_laws(m, dt, in, delassus, kin, tendons))
    rows.push_back({actuators[at(a)].moment, law});
  return rows;
}

VecX push_of(const std::vector<RowConstraint>& forces, const MatX& A, const VecX& v_star,
             const VecX& v0) {
  VecX push = A * (v_star - v0);
  for (const RowConstraint& row : forces) push += evaluate(row.law, row.J.dot(v0)).impulse * row.J;
  return push;
}

// g = q − lower − margin with J = +1, g = upper − margin − q with J = −1
std::vector<RowConstraint> joint_limits(const Model& m, const Options& o, double dt, int j,
                                        const StepInputs& in, const VecX& push,
                                        const DelassusScale& delassus) {
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  const JointType type = m.jnt_type[at(j)];
  if (m.jnt_limited[at(j)] == 0 || type == JointType::free) return {};
  // of a ball the angle |log q|, along the axis of log q
  const int i = m.jnt_dofadr[at(j)];
  const std::span<const Real> pose = in.qpos.subspan(at(m.jnt_qposadr[at(j)]));
  VecX e = VecX::Unit(m.nv, i);
  Real q = pose[0];
  if (type == JointType::ball) {
    const Vec3 turn = log_quat(Quat(row4(pose, 0)));
    q = turn.norm();
    if (!(q > 1e-8)) return {};
    e.segment<3>(i) = turn / q;
  }
  const Real w = delassus(e.transpose());
  const double low = m.jnt_range[at(2 * j)], high = m.jnt_range[at(2 * j + 1)];
  const double margin = m.jnt_margin[at(j)];
  const Real lower = type == JointType::ball ? Real(kNoLimit) : Real(q - low - margin);
  const Real upper = high - margin - q;
  JointLimits limits = {limit_law(dt, w, lower), limit_law(dt, w, upper)};
  if (limit_law(o) == Limits::solref) {
    const double T = recovery_time(dt, {m.jnt_solref[at(2 * j)], m.jnt_solref[at(2 * j + 1)]});
    const double depth = kLimitDepth * (type == JointType::slide ? high - low : 1);
    limits = solref_limits(dt, w, T, depth, lower, upper, e.dot(v0) + delassus(e, push));
  }
  if (type == JointType::ball) return {{-e, limits.upper}};
  return {{e, limits.lower}, {-e, limits.upper}};
}

std::vector<RowConstraint> joint_rows(const Model& m, const Options& o, double dt,
                                      const FreeMotion& free, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons) {
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  std::vector<RowConstraint> rows = force_rows(m, dt, in, delassus, kin, tendons);
  const VecX push = push_of(rows, free.A, free.v_star, v0);

  for (int j = 0; j < m.njnt; ++j)
    for (RowConstraint& row : joint_limits(m, o, dt, j, in, push, delassus))
      rows.push_back(std::move(row));
  for (int t = 0; t < m.ntendon; ++t)
    for (RowConstraint& row : tendon_limits(m, o, dt, t, tendons[at(t)], v0, push, delassus))
      rows.push_back(std::move(row));

  // dry friction of the joints
  for (int i = 0; i < m.nv; ++i) {
    if (m.dof_frictionloss[at(i)] == 0) continue;
    const VecX e = VecX::Unit(m.nv, i);
    const Real R = o.regularization * delassus(e.transpose());
    rows.push_back({e,
                    DryFrictionLaw{R, dt * m.dof_frictionloss[at(i)],
                                   friction_shift(o, dt, in.friction_anchor, i)},
                    i});
  }
  for (RowConstraint& row : tendon_friction(m, o, dt, in.friction_anchor, tendons, delassus))
    rows.push_back(std::move(row));
  return rows;
}

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

  // actuatorfrcrange clamps a sum; it splits into single rows only where one actuator acts alone
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

}  // namespace stiction::reference::inline STICTION_REAL

#include "reference/actuation/servos.h"

#include <algorithm>
#include <limits>

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Restoring feedback is implicit; the rest of the actuator's force is explicit.
ServoGains servo_gains(const Actuation& act) {
  return {std::max<Real>(0, -act.law[1]), std::max<Real>(0, -act.law[2])};
}
bool is_servo(const Actuation& act) {
  return act.law[1] < 0 || act.law[2] < 0;
}

// Bounds of the actuator's own force: forcerange, and actuatorfrcrange of a joint or tendon that it alone drives, minus
// the gravity compensation by the joint's actuators; the range of a tendon bounds the force before the gear.
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
  // gravity compensation acts on the bodies; what the joint's range cuts off is subtracted here, or by a servo's bounds
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

}  // namespace stiction::reference::inline STICTION_REAL

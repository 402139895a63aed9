#include "reference/constraint/rows.h"

#include <algorithm>

#include "reference/actuation/servos.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kNoLimit =
    1e6;  // rad: distance of a ball joint from a lower limit, which does not exist

}  // namespace

std::vector<RowConstraint> force_rows(const Model& m, double dt, const StepInputs& in,
                                      const DelassusScale& delassus, const Kinematics& kin,
                                      const std::vector<Tendon>& tendons) {
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv);
  std::vector<RowConstraint> rows =
      tendon_forces(m, dt, tendons, tendon_bias(m, kin, motion(m, kin, in.qvel, in.mocap_vel)), v0);
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
  // for a ball joint: the angle |log q|, along the axis of log q
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
    const Recovery back = recovery(dt, {m.jnt_solref[at(2 * j)], m.jnt_solref[at(2 * j + 1)]});
    const double depth = kLimitDepth * (type == JointType::slide ? high - low : 1);
    const Real v = e.dot(v0);
    limits = solref_limits(dt, w, back, depth, lower, upper, v, v + delassus(e, push));
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

}  // namespace stiction::reference::inline STICTION_REAL

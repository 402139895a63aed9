// A step in maximal coordinates, as Dojo has it: every moving body has six velocities (angular, then linear of
// the centre of mass, world axes), joints are bilateral rows and limits unilateral ones. The bodies'
// velocities are taken less their Coriolis change, so that joint rows are E v = 0 and contact rows J v at
// the start pose, as in the reference engine; inertia, bias and joints are written anew.
#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>

#include "lab/src/scene.h"
#include "lab/src/stages.h"
#include "reference/actuation/forces.h"
#include "reference/actuation/servos.h"
#include "reference/tree/dynamics.h"
#include "reference/tree/springs.h"
#include "stiction/error.h"

namespace stiction::lab {
namespace {

using namespace reference;
using Mat6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;

// Columns of the bodies that move, six each.
class Bodies {
 public:
  explicit Bodies(const Model& m) : first_(at(m.nbody), -1) {
    for (int b = 1; b < m.nbody; ++b)
      if (m.body_dofnum[at(m.body_weldid[at(b)])] > 0) first_[at(b)] = size_, size_ += 6;
  }
  int size() const { return size_; }
  int of(int b) const { return first_[at(b)]; }  // -1: fixed

  // Adds sign times the motion of body b at the point p: angular velocity, velocity of the point.
  void add_motion(const Kinematics& kin, int b, const Vec3& p, double sign, MatX& rows) const {
    if (of(b) < 0) return;
    rows.block<3, 3>(0, of(b)) += sign * Mat3::Identity();
    rows.block<3, 3>(3, of(b)) -= sign * skew(p - kin.xipos[at(b)]);
    rows.block<3, 3>(3, of(b) + 3) += sign * Mat3::Identity();
  }

 private:
  std::vector<int> first_;
  int size_ = 0;
};

// What the joints of a body allow against its parent, seen at `p`: a column per dof.
Mat6X joint_motion(const Model& m, const Kinematics& kin, int b, const Vec3& p) {
  const int n = m.body_dofnum[at(b)], first = m.body_dofadr[at(b)];
  Mat6X S(6, n);
  for (int k = 0; k < n; ++k) {
    const Vec3& axis = kin.dof_axis[at(first + k)];
    if (kin.dof_rotates[at(first + k)])
      S.col(k) << axis, axis.cross(p - kin.dof_anchor[at(first + k)]);
    else
      S.col(k) << Vec3::Zero(), axis;
  }
  return S;
}

// Rows of joint rates and of what the joints forbid.
struct Joints {
  MatX rates;  // (nv,6 bodies)
  MatX held;   // (held,6 bodies)
};
Joints joints(const Model& m, const Kinematics& kin, const Bodies& bodies) {
  Joints j{MatX::Zero(m.nv, bodies.size()), MatX(0, bodies.size())};
  for (int b = 1; b < m.nbody; ++b) {
    if (bodies.of(b) < 0) continue;
    const Vec3 p = kin.xpos[at(b)];
    MatX relative = MatX::Zero(6, bodies.size());
    bodies.add_motion(kin, b, p, 1, relative);
    bodies.add_motion(kin, m.body_parentid[at(b)], p, -1, relative);
    const int n = m.body_dofnum[at(b)];
    Eigen::Index held = 6;
    MatX Q = MatX::Identity(6, 6);
    if (n > 0) {
      const Eigen::ColPivHouseholderQR<MatX> qr(joint_motion(m, kin, b, p));
      if (qr.rank() < n)
        throw ArgumentError("maximal coordinates: joints of a body that move it in the same way");
      j.rates.middleRows(m.body_dofadr[at(b)], n) = qr.solve(relative);
      Q = qr.householderQ() * Q;
      held = 6 - n;
    }
    MatX rows(j.held.rows() + held, bodies.size());
    rows << j.held, Q.rightCols(held).transpose() * relative;
    j.held = rows;
  }
  return j;
}

}  // namespace

ConicProblem Scene::maximal(const State& state, const Actions& actions, double near) const {
  const Model& m = *model_;
  const double dt = timestep();
  Start s;
  begin(m, options_, state, actions, s);
  for (int i = 0; i < m.nv; ++i)
    if (m.dof_frictionloss[at(i)] != 0)
      throw ArgumentError("maximal coordinates: dry friction of joints is not part of them");
  for (int j = 0; j < m.njnt; ++j)
    if (m.jnt_limited[at(j)] != 0 && m.jnt_type[at(j)] == JointType::ball)
      throw ArgumentError("maximal coordinates: limits of ball joints are not part of them");
  for (int t = 0; t < m.ntendon; ++t)
    if (m.tendon_limited[at(t)] != 0 || has_spring(m, t) || has_damper(m, t) ||
        m.tendon_armature[at(t)] != 0 || m.tendon_frictionloss[at(t)] != 0)
      throw ArgumentError("maximal coordinates: tendons only transmit actuators there");
  const DelassusScale delassus(m, s.kin, s.free.A);
  add_points(m, options_, dt, near, s);
  const Bodies bodies(m);
  const Joints joint = joints(m, s.kin, bodies);
  const VecX v0 = state.qvel;

  // M and momentum: bodies
  const Vec3 gravity(m.gravity[0], m.gravity[1], m.gravity[2]);
  const std::vector<Motion> motions = motion(m, s.kin, s.in.qvel, {});
  ConicProblem p;
  p.M = MatX::Zero(bodies.size(), bodies.size());
  VecX momentum = VecX::Zero(bodies.size());
  for (int b = 1; b < m.nbody; ++b) {
    const int k = bodies.of(b);
    if (k < 0) continue;
    const Motion& v = motions[at(b)];
    const Vec3 r = s.kin.xipos[at(b)] - s.kin.xpos[at(b)];
    const Mat3 I = world_inertia(m, s.kin, b);
    const double mass = m.body_mass[at(b)];
    const Vec3 coriolis = v.acceleration + v.alpha.cross(r) + v.omega.cross(v.omega.cross(r));
    const Vec3 velocity = v.velocity + v.omega.cross(r);
    const Vec3 force =
        mass * (1 - m.body_gravcomp[at(b)]) * gravity + row3(s.in.xfrc_applied, 2 * b);
    const Vec3 torque = row3(s.in.xfrc_applied, 2 * b + 1) - v.omega.cross(I * v.omega);
    p.M.block<3, 3>(k, k) = I;
    p.M.block<3, 3>(k + 3, k + 3) = mass * Mat3::Identity();
    momentum.segment<3>(k) = I * (v.omega - dt * v.alpha) + dt * torque;
    momentum.segment<3>(k + 3) = mass * (velocity - dt * coriolis) + dt * force;
  }
  // armature, damping and springs of the joints, as in A = M + δt D + δt² K
  const Eigen::Map<const VecX> armature(m.dof_armature.data(), m.nv);
  const VecX damping = damper_coefficients(m, v0);
  const Eigen::Map<const VecX> applied(s.in.qfrc_applied.data(), m.nv);
  const VecX stiffness = spring_coefficients(m, s.in.qpos);
  const std::vector<Tendon> strings = tendons(m, s.kin, s.in.qpos);
  MatX on_rates = MatX((armature + dt * damping + dt * dt * stiffness).asDiagonal());
  VecX on_joints =
      armature.cwiseProduct(v0) +
      dt * (spring_force(m, s.in.qpos) +
            explicit_actuation(m, s.kin, strings, s.in.qpos, s.in.qvel, s.in.ctrl, s.in.act) +
            applied);
  // servos inside their range
  for (const auto& [actuator, law] : servo_laws(m, dt, s.in, delassus, s.kin, strings)) {
    const VecX J =
        actuation(m, s.kin, strings, s.in.qpos, s.in.qvel, s.in.ctrl, s.in.act)[at(actuator)]
            .moment;
    on_rates += dt * law.kappa * J * J.transpose();
    on_joints += dt * law.force0 * J;
  }
  p.M += joint.rates.transpose() * on_rates * joint.rates;
  momentum += joint.rates.transpose() * on_joints;
  p.v_star = p.M.llt().solve(momentum);
  p.E = joint.held;
  p.e = VecX::Zero(p.E.rows());

  // limits: q̇ >= −(q − lower)/δt, q̇ <= (upper − q)/δt
  std::vector<std::pair<VecX, double>> limits;
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_limited[at(j)] == 0) continue;
    const double q = state.qpos[m.jnt_qposadr[at(j)]];
    const VecX rate = joint.rates.row(m.jnt_dofadr[at(j)]);
    limits.emplace_back(rate, (q - m.jnt_range[at(2 * j)]) / dt);
    limits.emplace_back(-rate, (m.jnt_range[at(2 * j + 1)] - q) / dt);
  }
  p.L = MatX(limits.size(), bodies.size());
  p.h = VecX(limits.size());
  for (std::size_t k = 0; k < limits.size(); ++k)
    p.L.row(static_cast<int>(k)) = limits[k].first, p.h[static_cast<int>(k)] = limits[k].second;

  // contacts
  const int n = static_cast<int>(s.points.size());
  p.J = MatX(3 * n, bodies.size());
  p.b = VecX::Zero(3 * n);
  p.mu = VecX(n);
  for (int i = 0; i < n; ++i) {
    const ContactPoint& c = s.points[at(i)];
    const Vec3& at_point = c.pos;
    MatX relative = MatX::Zero(6, bodies.size());
    bodies.add_motion(s.kin, m.geom_bodyid[at(c.geom2)], at_point, 1, relative);
    bodies.add_motion(s.kin, m.geom_bodyid[at(c.geom1)], at_point, -1, relative);
    p.J.middleRows(3 * i, 3) = c.frame.transpose() * relative.bottomRows<3>();
    p.b[3 * i + 2] = rigid_bias(c.gap, dt, recover_);
    p.mu[i] = c.friction[0];
  }
  return p;
}

VecX Scene::minimal_velocity(const State& state, const VecX& v) const {
  const Model& m = *model_;
  Start s;
  begin(m, options_, state, {}, s);
  const Bodies bodies(m);
  if (v.size() != bodies.size())
    throw ArgumentError("minimal_velocity: six numbers per moving body");
  return joints(m, s.kin, bodies).rates * v;
}

}  // namespace stiction::lab
